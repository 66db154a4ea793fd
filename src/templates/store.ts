/** Stores templates. All SQL of this table is here, and nothing else writes it. Live and test keys share templates. */

import type { TemplateRow } from '../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../db/page.ts';
import { countRows, deleteRows, findRow, insertRow } from '../db/rows.ts';
import { limitReached, orNotFound } from '../system/errors.ts';
import type { TemplateSummary } from './schemas.ts';

/** Maximum number of templates per tenant. */
export const MAX_TEMPLATES = 10_000;

/**
 * Stores a new template.
 * @throws AppError validation_error when the tenant has the maximum number of templates
 */
export const insertTemplate = defineWrite('templates.insert', async (tx, template: TemplateRow) => {
  const count = await countRows(tx, 'templates', { tenantId: template.tenantId });
  if (count >= MAX_TEMPLATES) {
    throw limitReached('templates', count);
  }
  await insertRow(tx, 'templates', template);
});

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

/** Replaces a template. Returns false when it was changed after `updatedBefore`, or deleted. */
export const replaceTemplate = defineWrite(
  'templates.replace',
  async (tx, { after, updatedBefore }: { after: TemplateRow; updatedBefore: number }): Promise<boolean> => {
    const { id, tenantId, createdAt: _, ...columns } = after;
    const replaced = await tx
      .updateTable('templates')
      .set(columns)
      .where('tenantId', '=', tenantId)
      .where('id', '=', id)
      .where('updatedAt', '=', updatedBefore)
      .returning('id')
      .executeTakeFirst();
    return replaced !== undefined;
  },
);

/**
 * Deletes a template. Mail made from it has its own copy of the text.
 * @throws AppError not_found
 */
export const deleteTemplate = defineWrite(
  'templates.delete',
  async (tx, { tenantId, id }: Pick<TemplateRow, 'tenantId'> & { id: string }) => {
    const template = await getTemplate(tx, tenantId, id);
    await deleteRows(tx, 'templates', { id: template.id });
  },
);
