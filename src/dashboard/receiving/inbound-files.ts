/** What a received message consists of: its HTML for the frame of its page, its files, and the message as it arrived. */
import { path } from '../calls.ts';
import { definePage, type TenantContext } from '../page.ts';
import { type Message, messageOf } from './inbound-message.tsx';

/** Media types of images that HTML may show: those without scripts. */
const SHOWN_IMAGES = ['image/gif', 'image/jpeg', 'image/png', 'image/webp'];
/** Maximum size of all images of a message that its HTML shows, in bytes. Each becomes text of the page. */
const MAX_IMAGE_BYTES = 2 * 1024 * 1024;

/** The HTML, with the images that are files of the message. Nothing else is loaded, because the policy of the answer forbids it. */
export const inboundHtmlPage = definePage({
  area: 'tenant',
  path: '/inbound/:id/html',
  async show(context) {
    const message = await context.api.get<Message>(messageOf(context));
    return { frame: await withImages(context, message) };
  },
});

async function withImages(context: TenantContext, { html, attachments }: Message): Promise<string> {
  let left = MAX_IMAGE_BYTES;
  let shown = html;
  for (const { id, contentId, contentType, size } of attachments) {
    const source = `cid:${contentId}`;
    if (contentId === null || !SHOWN_IMAGES.includes(contentType) || size > left || !shown.includes(source))
      continue;
    left -= size;
    const { bytes } = await context.api.download(fileOf(context, id));
    shown = shown.replaceAll(source, `data:${contentType};base64,${bytes.toString('base64')}`);
  }
  return shown;
}

/** A file, which a browser stores and does not show: it comes from a stranger. */
export const inboundFilePage = definePage({
  area: 'tenant',
  path: '/inbound/:id/files/:number',
  async show(context) {
    const number = context.params['number'] ?? '';
    const { attachments } = await context.api.get<Message>(messageOf(context));
    const { bytes, mediaType } = await context.api.download(fileOf(context, number));
    const name = attachments.find(({ id }) => id === number)?.filename || `file-${number}`;
    return { file: { name, mediaType, bytes } };
  },
});

/** The message as it arrived. */
export const inboundRawPage = definePage({
  area: 'tenant',
  path: '/inbound/:id/raw',
  async show(context) {
    const { bytes, mediaType } = await context.api.download(`${messageOf(context)}/raw`);
    return { file: { name: `${context.params['id']}.eml`, mediaType, bytes } };
  },
});

function fileOf(context: TenantContext, number: string): string {
  return messageOf(context) + path`/attachments/${number}`;
}
