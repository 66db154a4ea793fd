/** Creates a template. */
import { Heading } from '../../frame/elements.tsx';
import { definePage } from '../../page.ts';
import { EDITOR_UPLOAD, Editor, PREVIEWS, SAVE, type Template, templateIn } from './editor.tsx';

export const newTemplatePage = definePage({
  area: 'tenant',
  path: '/templates/new',
  needs: 'write',
  upload: EDITOR_UPLOAD,
  async show(context) {
    const { templates } = context.texts;
    return {
      title: templates.create,
      body: (
        <>
          <Heading title={templates.create} />
          <Editor context={context} template={{ name: '', ...templates.example, variables: [] }} />
        </>
      ),
    };
  },
  actions: {
    ...PREVIEWS,
    [SAVE]: {
      logs: ['name'],
      async run({ api, at }, form) {
        const { id } = await api.post<Template>('/templates', templateIn(form));
        return { to: at(`/templates/${id}`), said: 'created' };
      },
    },
  },
});
