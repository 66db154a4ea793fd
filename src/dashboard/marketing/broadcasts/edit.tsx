/** The change of a draft or of a scheduled broadcast. */
import type { ShownBroadcast } from '../../../broadcasts/schemas.ts';
import { Heading } from '../../frame/elements.tsx';
import { definePage } from '../../page.ts';
import { COMPOSER_LOGS, COMPOSER_UPLOAD, composerForm, readComposer } from './composer.tsx';
import { broadcastPath, getBroadcast } from './facts.tsx';

export const editBroadcastPage = definePage({
  area: 'tenant',
  path: '/broadcasts/:broadcastId/edit',
  needs: 'write',
  upload: COMPOSER_UPLOAD,
  async show(context) {
    const { texts, at } = context;
    const broadcast = await getBroadcast(context);
    return {
      title: broadcast.subject,
      body: (
        <>
          <Heading title={broadcast.subject}>
            <a href={at(`/broadcasts/${broadcast.id}`)}>{texts.broadcasts.back}</a>
          </Heading>
          {await composerForm(context, 'save', broadcast)}
        </>
      ),
    };
  },
  actions: {
    save: {
      logs: COMPOSER_LOGS,
      async run(context, form) {
        const change = await readComposer(context, form);
        const { id } = await context.api.patch<ShownBroadcast>(broadcastPath(context), change);
        return { to: context.at(`/broadcasts/${id}`), said: 'saved' };
      },
    },
  },
});
