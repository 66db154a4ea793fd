/** The HTML of an email as a page of its own, for the frame on the page of the email. Its headers let it run and load nothing. */
import { notFound } from '../../../system/errors.ts';
import { path } from '../../calls.ts';
import { definePage } from '../../page.ts';
import type { Email } from './recipients.tsx';

export const emailPreviewPage = definePage({
  area: 'tenant',
  path: '/emails/:id/preview',
  async show({ api, params: { id = '' } }) {
    const { html } = await api.get<Email>(path`/emails/${id}`);
    if (html === null) throw notFound('Email');
    return { frame: html };
  },
});
