/** Templates: all SQL, and the only writer of their table. Live and test keys share them. */

import type { TemplateRow } from '../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../db/page.ts';
import { type Param, statement } from '../db/statement.ts';
import { limitReached, notFound } from '../system/errors.ts';
import type { TemplateSummary } from './schemas.ts';

/** Of one tenant (api.md 1.10). */
export const MAX_TEMPLATES = 10_000;

/** @throws AppError validation_error when the tenant has as many as it may */
export const insertTemplate = defineWrite('templates.insert', async (tx, template: TemplateRow) => {
  const { count } = await tx
    .selectFrom('templates')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('tenantId', '=', template.tenantId)
    .executeTakeFirstOrThrow();
  if (count >= MAX_TEMPLATES) {
    throw limitReached('templates already', count);
  }
  await tx.insertInto('templates').values(template).execute();
});

const templateById = statement((db, param: Param<Pick<TemplateRow, 'tenantId' | 'id'>>) =>
  db
    .selectFrom('templates')
    .selectAll()
    .where('tenantId', '=', param('tenantId'))
    .where('id', '=', param('id')),
);

/** Undefined also for another tenant's. */
export function findTemplate(
  tx: Tx,
  tenantId: TemplateRow['tenantId'],
  id: string,
): Promise<TemplateRow | undefined> {
  return templateById.first(tx, { tenantId, id: id as TemplateRow['id'] });
}

/** @throws AppError not_found, also for another tenant's */
export async function getTemplate(
  tx: Tx,
  tenantId: TemplateRow['tenantId'],
  id: string,
): Promise<TemplateRow> {
  const template = await findTemplate(tx, tenantId, id);
  if (!template) throw notFound('Template');
  return template;
}

/** `name`: of exactly this one. */
export type TemplateList = PageRequest & { name?: string | undefined };

/** Newest first, without their bodies: a page of them may weigh 200 MB. */
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

/** False when the template is no longer as it was last changed at `updatedBefore`, or no longer there. */
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

/** Mail that was made of it holds its own text. @throws AppError not_found */
export const deleteTemplate = defineWrite(
  'templates.delete',
  async (tx, { tenantId, id }: Pick<TemplateRow, 'tenantId'> & { id: string }) => {
    const template = await getTemplate(tx, tenantId, id);
    await tx.deleteFrom('templates').where('id', '=', template.id).execute();
  },
);
