/** A file of an email, which a browser stores and does not show. */

import { path } from '../../../http/json/calls.ts';
import { orNotFound } from '../../../system/errors.ts';
import { definePage } from '../../page.ts';
import type { Email } from './recipients.tsx';

export const emailFilePage = definePage({
  area: 'tenant',
  path: '/emails/:id/files/:number',
  async show({ api, params: { id = '', number = '' } }) {
    const { attachments } = await api.get<Email>(path`/emails/${id}`);
    const index = Number(number) - 1;
    const { filename } = orNotFound(attachments[index], 'Attachment');
    const { bytes, mediaType } = await api.stream(attachmentPath(id, index));
    return { file: { name: filename || `file-${number}`, mediaType, bytes } };
  },
});

/** Returns the path of the operation that returns an attachment, by its place in the list of the email, from 0. */
export function attachmentPath(id: string, index: number): string {
  return path`/emails/${id}/attachments/${String(index + 1)}`;
}
