/** The calls about templates. Each names a template by its id or by its name, which serves as Resend's alias. */
import { type Calls, path } from '../../../http/json/calls.ts';
import { AppError, notFound } from '../../../system/errors.ts';
import { isId } from '../../../system/ids.ts';
import type { Access, Call, Given } from '../call.ts';
import { type Fields, fieldsOf } from '../fields.ts';
import { askPage, type Page, showPage } from '../lists.ts';
import {
  changeFrom,
  changesFallbacks,
  copyOf,
  newTemplateFrom,
  type ShownTemplate,
  type ShownTemplateSummary,
  showTemplate,
  showTemplateItem,
} from './fields.ts';

const named = ({ id }: { id: string }) => ({ object: 'template', id });

export const templateCalls: readonly Call[] = [
  {
    at: 'POST /templates',
    operation: 'createTemplate',
    ask: async ({ body }, { calls }) => {
      const fields = fieldsOf(body);
      await requireFreeAlias(fields, calls, undefined);
      return { body: newTemplateFrom(fields) };
    },
    answer: named,
  },
  { at: 'GET /templates', operation: 'listTemplates', ask: askPage, answer: showPage(showTemplateItem) },
  {
    at: 'GET /templates/:id',
    operation: 'getTemplate',
    run: async (given, calls) => {
      const template = await getTemplate(given, calls);
      const versions = path`/templates/${template.id}/versions`;
      const { data } = await calls.get<Page<{ id: string }>>(versions, { limit: 1 });
      return showTemplate(template, data[0]?.id ?? template.id);
    },
  },
  { at: 'PATCH /templates/:id', operation: 'updateTemplate', ask: askChange, answer: named },
  {
    at: 'DELETE /templates/:id',
    operation: 'deleteTemplate',
    run: async (given, calls) => {
      const id = await templateIdOf(given, calls);
      await calls.delete(path`/templates/${id}`);
      return { ...named({ id }), deleted: true };
    },
  },
  {
    // Every change is published at once, so that there is nothing more to do.
    at: 'POST /templates/:id/publish',
    operation: 'updateTemplate',
    run: async (given, calls) => named(await getTemplate(given, calls)),
  },
  {
    at: 'POST /templates/:id/duplicate',
    operation: 'createTemplate',
    run: async (given, calls) =>
      named(await calls.post<ShownTemplate>('/templates', copyOf(await getTemplate(given, calls)))),
  },
];

async function askChange(given: Given, { calls }: Access) {
  const fields = fieldsOf(given.body);
  const id = await templateIdOf(given, calls());
  await requireFreeAlias(fields, calls, id);
  const before = changesFallbacks(fields)
    ? await calls().get<ShownTemplate>(path`/templates/${id}`)
    : undefined;
  return { params: { id }, body: changeFrom(fields, before) };
}

/**
 * Checks that no other template has the alias as its name yet. Names of ours may repeat, and an alias names one template.
 * @throws AppError already_exists
 */
async function requireFreeAlias(
  { alias }: Fields,
  calls: Access['calls'],
  ownId: string | undefined,
): Promise<void> {
  if (typeof alias !== 'string') return;
  const holder = (await listByName(alias, calls())).data.find(({ id }) => id !== ownId);
  if (holder)
    throw new AppError('already_exists', 'A template has this alias already', { details: { id: holder.id } });
}

async function getTemplate(given: Given, calls: Calls): Promise<ShownTemplate> {
  return calls.get(path`/templates/${await templateIdOf(given, calls)}`);
}

function templateIdOf({ params: { id = '' } }: Given, calls: Calls): Promise<string> {
  return findTemplateId(id, calls);
}

/**
 * Returns the id of the template that has an id or an alias.
 * @throws AppError not_found, invalid_state when several templates have the name
 */
async function findTemplateId(idOrAlias: string, calls: Calls): Promise<string> {
  if (isId('tpl', idOrAlias)) return idOrAlias;
  const [template, other] = idOrAlias === '' ? [] : (await listByName(idOrAlias, calls)).data;
  if (!template) throw notFound('Template');
  if (other)
    throw new AppError(
      'invalid_state',
      'Several templates have this name, so that it is no alias; use an id',
    );
  return template.id;
}

function listByName(name: string, calls: Calls): Promise<Page<ShownTemplateSummary>> {
  return calls.get('/templates', { name, limit: 2 });
}
