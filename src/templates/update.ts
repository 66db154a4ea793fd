/** Changes a template. Fields that the request does not name stay, and the result is checked as a whole. */

import type { App } from '../app.ts';
import { hasValues } from '../db/has-values.ts';
import type { TemplateRow } from '../db/marketing-tables.ts';
import { checkTemplate, type TemplateChange } from './schemas.ts';
import { getTemplate, replaceTemplate } from './store.ts';

/**
 * Changes a template. The check runs here and not in the write, because searching two mebibytes for placeholders
 * would block the only writer. A concurrent change makes the update start again.
 *
 * @throws AppError not_found, validation_error
 */
export async function updateTemplate(
  app: Pick<App, 'db' | 'clock'>,
  { tenantId, id }: { tenantId: TemplateRow['tenantId']; id: string },
  change: TemplateChange,
): Promise<TemplateRow> {
  for (;;) {
    const before = await getTemplate(app.db.read, tenantId, id);
    const { name = before.name, subject = before.subject, html = before.html, text = before.text } = change;
    if (hasValues(before, { name, subject, html, text })) return before;
    const changed: TemplateRow = { ...before, name, subject, html, text };
    checkTemplate(changed, change);
    // The time increases even when the clock does not, because it also identifies the version of the row.
    const after = { ...changed, updatedAt: Math.max(app.clock.now(), before.updatedAt + 1) };
    if (await app.db.commit(replaceTemplate, { after, updatedBefore: before.updatedAt })) return after;
  }
}
