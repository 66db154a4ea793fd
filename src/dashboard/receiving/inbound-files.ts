/** What a received message consists of: its HTML for the frame of its page, its files, and the message as it arrived. */
import { path } from '../../http/json/calls.ts';
import { withCidImages } from '../cid-images.ts';
import { definePage, type TenantContext } from '../page.ts';
import { type Message, messageOf } from './inbound-message.tsx';

/** The HTML, with the images that are files of the message. */
export const inboundHtmlPage = definePage({
  area: 'tenant',
  path: '/inbound/:id/html',
  async show(context) {
    const { html, attachments } = await context.api.get<Message>(messageOf(context));
    const files = attachments.map((file) => ({ ...file, path: fileOf(context, file.id) }));
    return { frame: await withCidImages(context.api, html, files) };
  },
});

/** A file, which a browser stores and does not show: it comes from a stranger. */
export const inboundFilePage = definePage({
  area: 'tenant',
  path: '/inbound/:id/files/:number',
  async show(context) {
    const number = context.params['number'] ?? '';
    const { attachments } = await context.api.get<Message>(messageOf(context));
    const { bytes, mediaType } = await context.api.stream(fileOf(context, number));
    const name = attachments.find(({ id }) => id === number)?.filename || `file-${number}`;
    return { file: { name, mediaType, bytes } };
  },
});

/** The message as it arrived. */
export const inboundRawPage = definePage({
  area: 'tenant',
  path: '/inbound/:id/raw',
  async show(context) {
    const { bytes, mediaType } = await context.api.stream(`${messageOf(context)}/raw`);
    return { file: { name: `${context.params['id']}.eml`, mediaType, bytes } };
  },
});

function fileOf(context: TenantContext, number: string): string {
  return messageOf(context) + path`/attachments/${number}`;
}
