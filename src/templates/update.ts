/** Changes a template: what is not named stays, and what it becomes is checked as a whole. */
import type { App } from '../app.ts';
import type { TemplateRow } from '../db/marketing-tables.ts';
import { checkTemplate, type TemplateChange } from './schemas.ts';
import { getTemplate, replaceTemplate } from './store.ts';

/**
 * The check is made here and not in the write: placeholders of two mebibytes are nothing for the one writer to look
 * for. A change by somebody else in between makes it begin again.
 *
 * @throws AppError not_found, validation_error
 */
export async function updateTemplate(
  app: Pick<App, 'db' | 'clock'>,
  tenantId: TemplateRow['tenantId'],
  id: string,
  change: TemplateChange,
): Promise<TemplateRow> {
  for (;;) {
    const before = await getTemplate(app.db.read, tenantId, id);
    const { name = before.name, subject = before.subject, html = before.html, text = before.text } = change;
    const changed: TemplateRow = { ...before, name, subject, html, text };
    if (isSame(before, changed)) return before;
    checkTemplate(changed, change);
    // Later than before even when the clock is not: the time also tells one state of the row from the next.
    const after = { ...changed, updatedAt: Math.max(app.clock.now(), before.updatedAt + 1) };
    if (await app.db.commit(replaceTemplate, { after, updatedBefore: before.updatedAt })) return after;
  }
}

function isSame(one: TemplateRow, other: TemplateRow): boolean {
  return (['name', 'subject', 'html', 'text'] as const).every((field) => one[field] === other[field]);
}
