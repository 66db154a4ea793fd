/** The calls about templates. Each names a template by its id or by its name, which serves as Resend's alias. */
import { path } from '../../../http/json/calls.ts';
import type { Access, Call, Given } from '../call.ts';
import { fieldsOf } from '../fields.ts';
import { askPage, type Page, showPage } from '../lists.ts';
import { requireFreeAlias, requireTemplateId } from './alias.ts';
import {
  changeFrom,
  changesFallbacks,
  copyOf,
  newTemplateFrom,
  type ShownTemplate,
  showTemplate,
  showTemplateItem,
} from './fields.ts';

const named = ({ id }: { id: string }) => ({ object: 'template', id });

export const templateCalls: readonly Call[] = [
  {
    at: 'POST /templates',
    operation: 'createTemplate',
    ask: async ({ body }, access) => {
      const fields = fieldsOf(body);
      await requireFreeAlias(access, fields['alias']);
      return { body: newTemplateFrom(fields) };
    },
    answer: named,
  },
  { at: 'GET /templates', operation: 'listTemplates', ask: askPage, answer: showPage(showTemplateItem) },
  {
    at: 'GET /templates/:id',
    operation: 'getTemplate',
    run: async (given, calls, access) => {
      const template = await getTemplate(given, access);
      const versions = path`/templates/${template.id}/versions`;
      const { data } = await calls.get<Page<{ id: string }>>(versions, { limit: 1 });
      return showTemplate(template, data[0]?.id ?? template.id);
    },
  },
  { at: 'PATCH /templates/:id', operation: 'updateTemplate', ask: askChange, answer: named },
  {
    at: 'DELETE /templates/:id',
    operation: 'deleteTemplate',
    run: async (given, calls, access) => {
      const id = await templateIdOf(given, access);
      await calls.delete(path`/templates/${id}`);
      return { ...named({ id }), deleted: true };
    },
  },
  {
    // Every change is published at once, so that there is nothing more to do.
    at: 'POST /templates/:id/publish',
    operation: 'updateTemplate',
    run: async (given, _calls, access) => named(await getTemplate(given, access)),
  },
  {
    at: 'POST /templates/:id/duplicate',
    operation: 'createTemplate',
    run: async (given, calls, access) =>
      named(await calls.post<ShownTemplate>('/templates', copyOf(await getTemplate(given, access)))),
  },
];

async function askChange(given: Given, access: Access) {
  const fields = fieldsOf(given.body);
  const id = await templateIdOf(given, access);
  await requireFreeAlias(access, fields['alias'], id);
  const before = changesFallbacks(fields) ? await getTemplate(given, access) : undefined;
  return { params: { id }, body: changeFrom(fields, before) };
}

async function getTemplate(given: Given, access: Access): Promise<ShownTemplate> {
  return access.calls().get(path`/templates/${await templateIdOf(given, access)}`);
}

function templateIdOf({ params: { id = '' } }: Given, access: Access): Promise<string> {
  return requireTemplateId(access, id);
}
