/**
 * `POST /v1/templates/preview`: shows what an email made from a template would contain. It stands here, because the same functions render it
 * that render an email: an editor shows exactly what readers get.
 */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../app.ts';
import {
  checkTemplate,
  findTemplateVariables,
  templateFields,
  variablesSchema,
} from '../templates/schemas.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { holdTextFor } from './hold-text.ts';
import { renderContent } from './render.ts';
import { readContent } from './request/content.ts';
import { variableValues } from './schemas.ts';

const previewRequestSchema = Type.Object(
  {
    subject: templateFields.subject,
    html: templateFields.html,
    text: Type.Optional(templateFields.text),
    variables: variableValues('Up to 50 values for the placeholders; strings have at most 10 KiB.'),
  },
  {
    examples: [
      {
        subject: 'Welcome, {{firstName|friend}}',
        html: '<p>Your account at {{company}} is ready.</p>',
        variables: { company: 'Shop' },
      },
    ],
  },
);

export const previewSchema = Type.Object(
  {
    subject: Type.String(),
    html: Type.String(),
    text: Type.Union([Type.String(), Type.Null()], {
      description: 'Generated from the HTML when the template has none. Null when the HTML has no words.',
    }),
    variables: variablesSchema,
    missingVariables: Type.Array(Type.String(), {
      description: 'Variables that had neither a value nor a fallback, and are shown as nothing.',
    }),
  },
  {
    title: 'TemplatePreview',
    examples: [
      {
        subject: 'Welcome, friend',
        html: '<p>Your account at Shop is ready.</p>',
        text: 'Your account at Shop is ready.',
        variables: [{ name: 'firstName', fallback: 'friend' }, { name: 'company' }],
        missingVariables: [],
      },
    ],
  },
);

/** Registers the route. Editors call it while somebody types, so it stores nothing and a key that only reads may use it. */
export function registerTemplatePreview(server: FastifyInstance, app: Pick<App, 'db' | 'htmlText'>): void {
  const schema = {
    operationId: 'previewTemplate',
    summary: 'Preview a template',
    description:
      'Renders a content as an email with these variables would have it. Nothing is stored. A content that no template may have is refused as ' +
      'it is when a template is saved.',
    tags: ['Templates'],
    body: previewRequestSchema,
    response: { 200: previewSchema },
  };
  const config = { needs: 'read', worksOnLowDisk: true } as const;
  server.post('/templates/preview', { config, schema }, async (request) => {
    const {
      text = null,
      variables: values = {},
      ...rest
    } = request.body as Static<typeof previewRequestSchema>;
    const template = { ...rest, text };
    checkTemplate(template, template);
    const content = await renderContent(app, callerOf(request).tenantId, {
      request: readContent({ ...rest, ...(text !== null && { text }), variables: values }),
      holdText: holdTextFor(request),
      readerVariables: undefined,
    });
    const { subject, html = '', missingVariables } = content;
    const variables = findTemplateVariables(template);
    return { subject, html, text: content.text ?? null, variables, missingVariables };
  });
}
