/** `/v1/templates` (specification 4.4): create, list, retrieve. */
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { App } from '../app.ts';
import type { TemplateRow } from '../db/tables.ts';
import { listEnvelope, type PageQuery, pageQuery, pageRequest, pageSchema } from '../http/page.ts';
import { problemSchema } from '../http/problem.ts';
import { newId } from '../system/ids.ts';
import { callerOf } from '../tenants/authenticate.ts';
import {
  checkTemplate,
  type NewTemplate,
  newTemplateSchema,
  showTemplate,
  showTemplateSummary,
  templateSchema,
  templateSummarySchema,
} from './schemas.ts';
import { getTemplate, insertTemplate, listTemplates } from './store.ts';

type TemplateApp = Pick<App, 'db' | 'clock'>;

const tags = ['Templates'];

export function registerTemplatesApi(server: FastifyInstance, app: TemplateApp): void {
  server.post<{ Body: NewTemplate }>(
    '/templates',
    {
      config: { needs: 'write' },
      schema: {
        summary: 'Create a template',
        tags,
        body: newTemplateSchema,
        response: { 201: templateSchema, '4xx': problemSchema },
      },
    },
    async (request, reply) => {
      checkTemplate(request.body);
      const template = newTemplate(callerOf(request).tenantId, request.body, app.clock.now());
      await app.db.commit(insertTemplate, template);
      return reply.code(201).send(showTemplate(template));
    },
  );
  server.get<{ Querystring: PageQuery }>(
    '/templates',
    {
      config: { needs: 'read' },
      schema: {
        summary: 'List templates',
        tags,
        querystring: Type.Object(pageQuery),
        response: { 200: pageSchema(templateSummarySchema), '4xx': problemSchema },
      },
    },
    async (request) => {
      const page = pageRequest(request.query, 'tpl');
      const templates = await listTemplates(app.db.read, callerOf(request).tenantId, page);
      return listEnvelope(request.query, templates, showTemplateSummary);
    },
  );
  server.get<{ Params: { id: string } }>(
    '/templates/:id',
    {
      config: { needs: 'read' },
      schema: {
        summary: 'Retrieve a template',
        tags,
        params: Type.Object({ id: Type.String() }),
        response: { 200: templateSchema, '4xx': problemSchema },
      },
    },
    async (request) =>
      showTemplate(await getTemplate(app.db.read, callerOf(request).tenantId, request.params.id)),
  );
}

function newTemplate(tenantId: TemplateRow['tenantId'], body: NewTemplate, now: number): TemplateRow {
  const { name, subject, html, text = null } = body;
  return { id: newId('tpl', now), tenantId, name, subject, createdAt: now, updatedAt: now, html, text };
}
