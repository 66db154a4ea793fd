/** The calls about mail that was received. Resend calls it emails; it is what arrived for our routes. */
import { DAY_MS, isoTime } from '../../../system/clock.ts';
import { notFound } from '../../../system/errors.ts';
import type { Access, Call, Given } from '../call.ts';
import { askPage, showPage } from '../lists.ts';
import { askEmail } from './attachments.ts';

type Summary = { id: string; from: string; to: readonly string[]; subject: string; createdAt: string };

type Attachment = {
  id: string;
  filename: string;
  contentType: string;
  size: number;
  contentId: string | null;
  disposition: string;
};

type Message = Summary & {
  cc: readonly string[];
  replyTo: readonly string[];
  text: string;
  html: string;
  attachments: readonly Attachment[];
  rawHeaders: readonly { name: string; value: string }[];
  envelope: { to: readonly string[] };
};

/** Returns an item of a list. It has the fields that our lists have. */
function showSummary({ id, from, to, subject, createdAt }: Summary) {
  return { id, from, to, subject, received_for: to, created_at: createdAt };
}

/** Links to received files are valid for a day (routes/post/links.ts). */
function linkTo({ id, file }: { id: string; file: number }, { now }: Given, { links }: Access) {
  return { download_url: links.received(id, file), expires_at: isoTime(now + DAY_MS) };
}

function showAttachment({ id, filename, size, contentType, contentId, disposition }: Attachment) {
  return {
    id,
    filename,
    size,
    content_type: contentType,
    content_id: contentId,
    content_disposition: disposition,
  };
}

function showMessage(message: Message, given: Given, access: Access) {
  const headers = message.rawHeaders.map(({ name, value }) => [name.toLowerCase(), value] as const);
  const byName = Object.fromEntries(headers) as Readonly<Record<string, string>>;
  return {
    object: 'email',
    ...showSummary(message),
    cc: message.cc,
    bcc: [],
    reply_to: message.replyTo,
    received_for: message.envelope.to,
    html: message.html === '' ? null : message.html,
    text: message.text === '' ? null : message.text,
    headers: byName,
    message_id: byName['message-id'] ?? '',
    raw: linkTo({ id: message.id, file: 0 }, given, access),
    attachments: message.attachments.map(showAttachment),
  };
}

export const receivingCalls: readonly Call[] = [
  {
    at: 'GET /emails/receiving',
    operation: 'listInboundMessages',
    ask: askPage,
    answer: showPage(showSummary),
  },
  { at: 'GET /emails/receiving/:id', operation: 'getInboundMessage', answer: showMessage },
  {
    at: 'GET /emails/receiving/:id/attachments',
    operation: 'getInboundMessage',
    answer: ({ id, attachments }: Message, given, access) => ({
      object: 'list',
      has_more: false,
      data: attachments.map((file) => ({
        ...showAttachment(file),
        ...linkTo({ id, file: Number(file.id) }, given, access),
      })),
    }),
  },
  {
    at: 'GET /emails/receiving/:id/attachments/:number',
    operation: 'getInboundMessage',
    ask: askEmail,
    answer({ id, attachments }: Message, given, access) {
      const file = attachments.find((one) => one.id === given.params['number']);
      if (!file) throw notFound('Attachment');
      return {
        object: 'attachment',
        ...showAttachment(file),
        ...linkTo({ id, file: Number(file.id) }, given, access),
      };
    },
  },
];
