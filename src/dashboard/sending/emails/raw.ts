/** The message of an email as a server receives it, as a file. */
import { path } from '../../../http/json/calls.ts';
import { definePage } from '../../page.ts';

export const emailRawPage = definePage({
  area: 'tenant',
  path: '/emails/:id/raw',
  async show({ api, params: { id = '' } }) {
    const { bytes, mediaType } = await api.stream(path`/emails/${id}/raw`);
    return { file: { name: `${id}.eml`, mediaType, bytes } };
  },
});
