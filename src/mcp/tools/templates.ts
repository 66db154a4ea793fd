/** Tools for stored templates. */
import type { Static } from 'typebox';
import { path } from '../../http/json/calls.ts';
import type { templateSchema, templateSummarySchema } from '../../templates/schemas.ts';
import { idArgument, optional, pageArguments, valueArgument, variablesArgument } from '../arguments.ts';
import { saysPage } from '../says-page.ts';
import { defineTool, input } from '../tool.ts';

type Page = { data: Static<typeof templateSummarySchema>[]; nextCursor: string | null };

export const listTemplates = defineTool({
  name: 'list_templates',
  title: 'List templates',
  description:
    'Lists stored templates, the newest first. `preview_template` shows one of them, with its variables.',
  effect: 'reads',
  input: input({ name: optional(valueArgument('Name of the template.')), ...pageArguments }),
  async run({ api }, { limit = 10, ...query }) {
    const page = await api.get<Page>('/templates', { limit, ...query });
    return { says: saysPage('templates', page), foreign: page.data };
  },
});

export const previewTemplate = defineTool({
  name: 'preview_template',
  title: 'Preview a template',
  description:
    'Shows a template as an email with the given variables, the variables that it has, and those that are missing. Use it before you send with `templateId`.',
  effect: 'reads',
  input: input({ templateId: idArgument('tpl', 'Template.'), variables: variablesArgument }),
  async run({ api }, { templateId, variables = {} }) {
    const { id, name, subject, html, text } = await api.get<Static<typeof templateSchema>>(
      path`/templates/${templateId}`,
    );
    const preview = await api.post<{ missingVariables: string[] }>('/templates/preview', {
      subject,
      html,
      text,
      variables,
    });
    const { missingVariables: missing } = preview;
    const says = missing.length === 0 ? 'No variable is missing.' : `Missing variables: ${missing.length}.`;
    return { says, foreign: { id, name, ...preview } };
  },
});
