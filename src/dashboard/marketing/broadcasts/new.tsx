/** A new broadcast, which becomes a draft. */
import type { ShownBroadcast } from '../../../broadcasts/schemas.ts';
import { Heading } from '../../frame/elements.tsx';
import { definePage } from '../../page.ts';
import { COMPOSER_LOGS, COMPOSER_UPLOAD, composerForm, readComposer } from './composer.tsx';

export const newBroadcastPage = definePage({
  area: 'tenant',
  path: '/broadcasts/new',
  needs: 'write',
  upload: COMPOSER_UPLOAD,
  async show(context) {
    const { broadcasts } = context.texts;
    return {
      title: broadcasts.create,
      body: (
        <>
          <Heading title={broadcasts.create} />
          {await composerForm(context, 'create')}
        </>
      ),
    };
  },
  actions: {
    create: {
      logs: COMPOSER_LOGS,
      async run(context, form) {
        const { api, at } = context;
        const { id } = await api.post<ShownBroadcast>('/broadcasts', await readComposer(context, form));
        return { to: at(`/broadcasts/${id}`), said: 'created' };
      },
    },
  },
});
