/** The page of a template: the editor, its variables, a test, a copy, and its end. */
import { path } from '../../../http/json/calls.ts';
import { Foreign, Heading } from '../../frame/elements.tsx';
import { ActionButton, Disclosure, Form } from '../../frame/forms.tsx';
import { Table } from '../../frame/lists.tsx';
import { definePage, type TenantContext } from '../../page.ts';
import {
  EDITOR_UPLOAD,
  Editor,
  OF_THE_DAEMON,
  PREVIEWS,
  SAVE,
  showPreview,
  type Template,
  templateIn,
} from './editor.tsx';
import { sendTest, TestForm } from './test-mail.tsx';

/** Maximum length of a name (templates/schemas.ts). */
const MAX_NAME_CHARACTERS = 200;

export const templatePage = definePage({
  area: 'tenant',
  path: '/templates/:id',
  upload: EDITOR_UPLOAD,
  async show(context) {
    const template = await getTemplate(context);
    const { templates } = context.texts;
    const saved = `${context.path}/preview`;
    return {
      title: template.name,
      body: (
        <>
          <Heading title={template.name}>
            <a href={`${context.path}/versions`}>{templates.versions}</a>
            {context.can('write') && (
              <ActionButton context={context} action="duplicate" submit={templates.duplicate} />
            )}
          </Heading>
          {context.can('write') ? (
            <Editor context={context} template={template} savedPreview={saved} />
          ) : (
            <iframe class="preview" title={templates.preview} sandbox="" src={saved} />
          )}
          <Variables context={context} template={template} />
          {context.can('write') && (await TestForm({ context, template }))}
          {context.can('write') && <Deletion context={context} />}
        </>
      ),
    };
  },
  actions: {
    ...PREVIEWS,
    [SAVE]: {
      logs: ['name'],
      async run(context, form) {
        await context.api.patch(pathOf(context), templateIn(form));
        return { to: context.path, said: 'saved' };
      },
    },
    duplicate: {
      async run(context) {
        const { subject, html, text, name } = await getTemplate(context);
        const copy = context.texts.templates.copyOf(name).slice(0, MAX_NAME_CHARACTERS);
        const { id } = await context.api.post<Template>('/templates', { name: copy, subject, html, text });
        return { to: context.at(`/templates/${id}`), said: 'created' };
      },
    },
    test: {
      async run(context, form) {
        return sendTest(context, await getTemplate(context), form);
      },
    },
    delete: {
      async run(context) {
        await context.api.delete(pathOf(context));
        return { to: context.at('/templates'), said: 'deleted' };
      },
    },
  },
});

/** The HTML of the saved template, whose variables have their fallbacks. */
export const templatePreviewPage = definePage({
  area: 'tenant',
  path: '/templates/:id/preview',
  async show(context) {
    const { subject, html, text } = await getTemplate(context);
    return showPreview(context, { subject, html, text }, { values: '', part: 'html' });
  },
});

function pathOf({ params }: TenantContext): string {
  return path`/templates/${params['id'] ?? ''}`;
}

function getTemplate(context: TenantContext): Promise<Template> {
  return context.api.get<Template>(pathOf(context));
}

function Variables({ context, template }: { context: TenantContext; template: Template }) {
  const { templates } = context.texts;
  return (
    <>
      <h2>{templates.variables}</h2>
      <Table
        context={context}
        caption={templates.variables}
        rows={template.variables}
        keyOf={({ name }) => name}
        empty={templates.noVariables}
        columns={[
          { label: templates.name, cell: ({ name }) => <code>{name}</code> },
          {
            label: templates.fallback,
            cell: ({ name, fallback }) =>
              fallback === undefined ? (
                <span class="muted">
                  {OF_THE_DAEMON.includes(name) ? templates.ofTheDaemon : context.texts.frame.none}
                </span>
              ) : (
                <Foreign text={fallback} />
              ),
          },
        ]}
      />
    </>
  );
}

function Deletion({ context }: { context: TenantContext }) {
  const { templates } = context.texts;
  return (
    <>
      <h2>{templates.delete}</h2>
      <Disclosure label={templates.delete} isOpen={context.failed?.action === 'delete'}>
        <p>{templates.deleteText}</p>
        <Form context={context} action="delete" submit={templates.deleteNow} isDangerous>
          {null}
        </Form>
      </Disclosure>
    </>
  );
}
