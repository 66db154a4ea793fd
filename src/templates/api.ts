/** `/v1/templates` (specification 4.4). */

import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import { hasValues } from '../db/has-values.ts';
import type { TemplateRow } from '../db/marketing-tables.ts';
import { resourceRoutes } from '../http/json/resource.ts';
import { newId } from '../system/ids.ts';
import { type Caller, callerOf } from '../tenants/authenticate.ts';
import {
  checkTemplate,
  MAX_SOURCE_BYTES,
  type NewTemplate,
  newTemplateSchema,
  showTemplate,
  showTemplateSummary,
  type TemplateChange,
  templateChangeSchema,
  templateFilter,
  templateSchema,
  templateSummarySchema,
} from './schemas.ts';
import { deleteTemplate, getTemplate, insertTemplate, listTemplates, replaceTemplate } from './store.ts';
import { NOBODY, versionOf } from './versions-store.ts';

/** Registers the routes of the templates resource. */
export function registerTemplatesApi(server: FastifyInstance, app: Pick<App, 'db' | 'clock'>): void {
  const templates = resourceRoutes<TemplateRow>(server, {
    name: 'template',
    tag: 'Templates',
    path: '/templates',
    prefix: 'tpl',
    schema: templateSchema,
    show: showTemplate,
  });
  templates.create({ body: newTemplateSchema }, async (request) => {
    const template = newTemplate(callerOf(request).tenantId, request.body, app.clock.now());
    checkTemplate(template, request.body);
    await app.db.commit(insertTemplate, { template, version: versionOf(template, callerOf(request)) });
    return template;
  });
  const item = { schema: templateSummarySchema, show: showTemplateSummary };
  templates.list({ item, query: templateFilter }, (request, page) =>
    listTemplates(app.db.read, callerOf(request).tenantId, { ...page, name: request.query.name }),
  );
  templates.get({}, (request) => getTemplate(app.db.read, callerOf(request).tenantId, request.params.id));
  const description =
    'Fields that are left out stay as they are. Mail that was accepted before does not change. A change of the content makes a new version. A key ' +
    'that requires approval cannot change the content that mail is planned with which needs none.';
  // A template consists of HTML and text.
  const responseBytes = 2 * MAX_SOURCE_BYTES;
  templates.update({ body: templateChangeSchema, description, responseBytes }, (request) =>
    updateTemplate(app, { ...callerOf(request), id: request.params.id }, request.body),
  );
  templates.delete(
    { description: 'Mail that was accepted before is still sent with the content of the template.' },
    (request) => {
      const { tenantId, approval } = callerOf(request);
      return app.db.commit(deleteTemplate, { tenantId, approval, id: request.params.id });
    },
  );
}

function newTemplate(tenantId: TemplateRow['tenantId'], body: NewTemplate, now: number): TemplateRow {
  const { name, subject, html, text = null } = body;
  return { id: newId('tpl', now), tenantId, name, subject, createdAt: now, updatedAt: now, html, text };
}

/** The template that somebody changes. */
type Edited = Pick<Caller, 'tenantId' | 'keyId' | 'personId' | 'approval'> & { id: string };

/**
 * Changes a template. The check runs here and not in the write, because searching two mebibytes for placeholders
 * would block the only writer. A concurrent change makes the update start again.
 *
 * @throws AppError not_found, validation_error, restricted_api_key
 */
export async function updateTemplate(
  app: Pick<App, 'db' | 'clock'>,
  { tenantId, id, approval, ...author }: Edited,
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
    const isRenamed = hasValues(before, { subject, html, text });
    const versions = isRenamed
      ? undefined
      : { former: versionOf(before, NOBODY), made: versionOf(after, author) };
    if (await app.db.commit(replaceTemplate, { after, versions, approval, updatedBefore: before.updatedAt }))
      return after;
  }
}
