/** Stores templates. All SQL of this table is here, and nothing else writes it. Live and test keys share templates. */

import type { TemplateRow, TemplateVersionRow } from '../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../db/page.ts';
import { countRows, deleteRows, findColumns, findRow, insertRow, updateRows } from '../db/rows.ts';
import { limitReached, orNotFound } from '../system/errors.ts';
import { type Changer, requireTemplateUnplanned } from '../tenants/planned-mail-store.ts';
import type { TemplateSummary } from './schemas.ts';
import { recordFirstVersion, recordVersion, type VersionChange } from './versions-store.ts';

/** Maximum number of templates per tenant. */
export const MAX_TEMPLATES = 10_000;

/**
 * Stores a new template with its first version.
 * @throws AppError validation_error when the tenant has the maximum number of templates
 */
export const insertTemplate = defineWrite(
  'templates.insert',
  async (tx, { template, version }: { template: TemplateRow; version: TemplateVersionRow }) => {
    const count = await countRows(tx, 'templates', { tenantId: template.tenantId });
    if (count >= MAX_TEMPLATES) {
      throw limitReached('templates', count);
    }
    await insertRow(tx, 'templates', template);
    await recordFirstVersion(tx, version);
  },
);

/** Returns a template, or undefined when the tenant has no such template. */
export function findTemplate(
  tx: Tx,
  tenantId: TemplateRow['tenantId'],
  id: string,
): Promise<TemplateRow | undefined> {
  return findRow(tx, 'templates', { tenantId, id: id as TemplateRow['id'] });
}

/**
 * Returns a template.
 * @throws AppError not_found, also for the template of another tenant
 */
export async function getTemplate(
  tx: Tx,
  tenantId: TemplateRow['tenantId'],
  id: string,
): Promise<TemplateRow> {
  return orNotFound(await findTemplate(tx, tenantId, id), 'Template');
}

/**
 * Checks that the tenant has a template.
 * @throws AppError not_found
 */
export async function requireTemplate(
  tx: Tx,
  tenantId: TemplateRow['tenantId'],
  id: string,
): Promise<TemplateRow['id']> {
  const where = { tenantId, id: id as TemplateRow['id'] };
  return orNotFound(await findColumns(tx, 'templates', { select: ['id'], where }), 'Template').id;
}

/** `name` selects templates with exactly this name. */
type TemplateList = PageRequest & { name?: string | undefined };

/** Returns a page of templates, newest first. They have no bodies, because a page with bodies may have 200 MB. */
export function listTemplates(
  tx: Tx,
  tenantId: TemplateRow['tenantId'],
  { name, ...page }: TemplateList,
): Promise<Page<TemplateSummary>> {
  const all = tx
    .selectFrom('templates')
    .select(['id', 'tenantId', 'name', 'subject', 'createdAt', 'updatedAt'])
    .where('tenantId', '=', tenantId);
  const wanted = name === undefined ? all : all.where('name', '=', name);
  return readPage(page, (slice) => inSlice(wanted, 'id', slice).execute());
}

type Replacement = Pick<Changer, 'approval'> & {
  after: TemplateRow;
  updatedBefore: number;
  /** The contents before and after; undefined when the name alone changes. */
  versions?: VersionChange | undefined;
};

/**
 * Replaces a template. Returns false when it was changed after `updatedBefore`, or deleted.
 * @throws AppError restricted_api_key for another content that the caller may not set
 */
export const replaceTemplate = defineWrite(
  'templates.replace',
  async (tx, { after, updatedBefore, versions, approval }: Replacement): Promise<boolean> => {
    const { id, tenantId, createdAt: _, ...columns } = after;
    const before = await findRow(tx, 'templates', { id, tenantId, updatedAt: updatedBefore });
    if (!before) return false;
    if (versions) await requireTemplateUnplanned(tx, { tenantId, approval }, id);
    await updateRows(tx, 'templates', { set: columns, where: { id, tenantId } });
    if (versions) await recordVersion(tx, before, versions);
    return true;
  },
);

/**
 * Deletes a template with its versions. Mail made from it has its own copy of the text.
 * @throws AppError not_found, restricted_api_key
 */
export const deleteTemplate = defineWrite(
  'templates.delete',
  async (tx, { id, ...changer }: Changer & { id: string }) => {
    const template = await getTemplate(tx, changer.tenantId, id);
    await requireTemplateUnplanned(tx, changer, template.id);
    await deleteRows(tx, 'templates', { id: template.id });
  },
);
