/**
 * The HTML of an email as a page of its own, for the frame on the page of the email, with the images that are files of the email. Its headers
 * let it run and load nothing.
 */

import { path } from '../../../http/json/calls.ts';
import { notFound } from '../../../system/errors.ts';
import { withCidImages } from '../../cid-images.ts';
import { definePage } from '../../page.ts';
import { attachmentPath } from './file.ts';
import type { Email } from './recipients.tsx';

export const emailPreviewPage = definePage({
  area: 'tenant',
  path: '/emails/:id/preview',
  async show({ api, params: { id = '' } }) {
    const { html, attachments } = await api.get<Email>(path`/emails/${id}`);
    if (html === null) throw notFound('Email');
    const files = attachments.map((file, index) => ({ ...file, path: attachmentPath(id, index) }));
    return { frame: await withCidImages(api, html, files) };
  },
});
