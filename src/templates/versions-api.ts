/** `/v1/templates/{templateId}/versions`: the contents that a template has had. */
import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import type { TemplateVersionRow } from '../db/marketing-tables.ts';
import { type Ask, paramsOf, resourceRoutes } from '../http/json/resource.ts';
import { orNotFound } from '../system/errors.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { updateTemplate } from './api.ts';
import { MAX_SOURCE_BYTES, showTemplate, templateSchema } from './schemas.ts';
import { requireTemplate } from './store.ts';
import {
  showVersion,
  showVersionSummary,
  templateVersionSchema,
  templateVersionSummarySchema,
} from './version-schemas.ts';
import { findVersion, listVersions, type TemplateVersion } from './versions-store.ts';

const TAG = 'Templates';
const PATH = '/templates/:templateId/versions';

/** Registers the routes of the versions of templates. */
export function registerTemplateVersionsApi(server: FastifyInstance, app: Pick<App, 'db' | 'clock'>): void {
  const versions = resourceRoutes<TemplateVersion>(server, {
    name: 'template version',
    tag: TAG,
    path: PATH,
    prefix: 'tpv',
    schema: templateVersionSchema,
    show: showVersion,
  });
  const item = { schema: templateVersionSummarySchema, show: showVersionSummary };
  const description =
    'Returns a page of the contents that a template has had, the newest first. The first one is the current content. A template from before ' +
    'versions were kept has none until its content is changed.';
  versions.list<Record<never, never>, TemplateVersionRow>({ item, description }, async (request, page) => {
    const { tenantId } = callerOf(request);
    const templateId = await requireTemplate(app.db.read, tenantId, request.params.templateId);
    return listVersions(app.db.read, tenantId, { ...page, templateId });
  });
  versions.get({}, (request) => getVersion(app, request));
  registerRestore(server, app);
}

function registerRestore(server: FastifyInstance, app: Pick<App, 'db' | 'clock'>): void {
  const path = `${PATH}/:id/restore`;
  const schema = {
    operationId: 'restoreTemplateVersion',
    summary: 'Restore a template version',
    description:
      'Changes subject, HTML and text of the template to those of the version, and returns the template. It is a change like any other: it makes ' +
      'a new version, and mail that was accepted before does not change.',
    tags: [TAG],
    ...paramsOf(path),
    response: { 200: templateSchema },
  };
  const config = { refuses: ['validation_error'], responseBytes: 2 * MAX_SOURCE_BYTES } as const;
  server.post(path, { config, schema }, async (request) => {
    const { subject, html, text, templateId } = await getVersion(app, request as Ask);
    const template = { ...callerOf(request), id: templateId };
    return showTemplate(await updateTemplate(app, template, { subject, html, text }));
  });
}

/** @throws AppError not_found, also for a version of another template */
async function getVersion({ db }: Pick<App, 'db'>, request: Ask): Promise<TemplateVersion> {
  const found = await findVersion(db.read, callerOf(request).tenantId, request.params);
  return orNotFound(found, 'Template version');
}
