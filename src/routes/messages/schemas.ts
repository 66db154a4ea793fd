/** Response shapes of received messages. */
import { type Static, Type } from 'typebox';
import type { ReceivedMessageRow, ReceivedTaskRow } from '../../db/inbound-tables.ts';
import { isoTime } from '../../system/clock.ts';
import { isoTimeOrNull, responseFields } from '../../webhooks/schemas.ts';
import type { MessageFields } from '../post/body.ts';
import type { ReceivedSummary } from './store.ts';

export const receivedFilter = {
  address: Type.Optional(Type.String({ description: 'Only messages to this recipient of the envelope.' })),
  routeId: Type.Optional(Type.String({ description: 'Only messages for this route.' })),
  from: Type.Optional(Type.String({ description: 'Only messages of this author, by address or domain.' })),
  messageId: Type.Optional(
    Type.String({
      description:
        'Only messages with this value of the Message-ID header field, with or without its angle brackets.',
    }),
  ),
};

const textOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

const emailId = textOrNull('Your email that the message answers; null when it answers none.');

export const receivedSummarySchema = Type.Object(
  {
    id: Type.String(),
    from: Type.String({ description: 'Address of the author, or else the sender of the envelope.' }),
    to: Type.Array(Type.String(), { description: 'Recipients of the envelope that have a route.' }),
    subject: Type.String(),
    size: Type.Integer({ description: 'Size of the message in bytes.' }),
    flagged: Type.Boolean({ description: 'True when the message is probably spam.' }),
    emailId,
    createdAt: Type.String(),
  },
  {
    title: 'InboundMessageSummary',
    examples: [
      {
        id: 'in_01khq3z5vgxw1r8t6n2m4c9b7d',
        from: 'ada@example.org',
        to: ['support@shop.example'],
        subject: 'Re: Your order',
        size: 4096,
        flagged: false,
        emailId: 'em_01khq3z4a2n7d5x8k3r6w1t9hb',
        createdAt: '2026-03-01T09:00:00.000Z',
      },
    ],
  },
);

/** Returns a message as the list shows it. */
export function showSummary(row: ReceivedSummary): Static<typeof receivedSummarySchema> {
  return {
    id: row.id,
    from: row.headerFrom ?? row.sender,
    to: JSON.parse(row.recipients) as string[],
    subject: row.subject ?? '',
    size: row.sizeBytes,
    flagged: row.flagged === 1,
    emailId: row.emailId,
    createdAt: isoTime(row.createdAt),
  };
}

const deliverySchema = Type.Object(
  {
    id: Type.String({ description: 'The `X-Service-Delivery` of its posts.' }),
    routeId: Type.String(),
    status: Type.Enum(['pending', 'delivered', 'failed']),
    attempts: Type.Integer({
      description: 'Number of posts so far, a running one included. A replay begins at 0.',
    }),
    ...responseFields,
    responseBody: textOrNull('Beginning of the last response, at most 4 KB, read as UTF-8.'),
    nextAttemptAt: textOrNull('Time of the next post; null when there is none, and while a post is running.'),
    createdAt: Type.String(),
  },
  { title: 'InboundDelivery' },
);

export const attachmentSchema = Type.Object({
  id: Type.String({ description: 'Number of the attachment in the message, from 1.' }),
  filename: Type.String(),
  contentType: Type.String(),
  size: Type.Integer({ description: 'Size in bytes.' }),
  contentId: textOrNull('Content-ID without angle brackets, by which the HTML names it.'),
  disposition: Type.Enum(['attachment', 'inline']),
});

export const receivedSchema = Type.Object(
  {
    id: Type.String(),
    from: Type.String({ description: 'The author as `Name <address>`.' }),
    to: Type.Array(Type.String()),
    cc: Type.Array(Type.String()),
    replyTo: Type.Array(Type.String()),
    subject: Type.String(),
    text: Type.String({ description: 'Empty when the message has no text.' }),
    html: Type.String({ description: 'Empty when the message has no HTML.' }),
    replyText: Type.String({ description: 'The text without the message that it quotes.' }),
    attachments: Type.Array(attachmentSchema),
    messageId: textOrNull('Message-ID with its angle brackets.'),
    inReplyTo: textOrNull('Message-ID of the answered message.'),
    date: textOrNull('Date of the header.'),
    rawHeaders: Type.Array(Type.Object({ name: Type.String(), value: Type.String() }), {
      description: 'All header fields in their order, those that were added here first.',
    }),
    envelope: Type.Object({
      from: Type.String({ description: 'Sender of the envelope; empty for bounces.' }),
      to: Type.Array(Type.String()),
      remoteIp: Type.String(),
      helo: textOrNull('Name that the sending server gave.'),
    }),
    auth: Type.Object(
      {
        spf: Type.String(),
        dkim: Type.String(),
        dmarc: Type.String(),
        dkimDomains: Type.Array(Type.String(), { description: 'Domains with a valid signature.' }),
      },
      { description: 'Results of authentication (RFC 8601).' },
    ),
    spam: Type.Object({
      score: Type.Union([Type.Number(), Type.Null()], {
        description: 'How much the message looks like spam; null when it was not judged.',
      }),
      flagged: Type.Boolean({ description: 'True when the message is probably spam.' }),
      reasons: Type.Array(Type.Object({ name: Type.String(), points: Type.Number() }), {
        description: 'What the score consists of.',
      }),
    }),
    truncated: Type.Boolean({
      description: 'True when the message could not be parsed, or its text is cut.',
    }),
    autoSubmitted: Type.Boolean({ description: 'True when a program sent the message by itself.' }),
    emailId,
    size: Type.Integer({ description: 'Size of the message in bytes.' }),
    contentDeletedAt: textOrNull('Time at which the content was deleted; only the summary is left then.'),
    deliveries: Type.Array(deliverySchema, { description: 'The posts to routes, one for each route.' }),
    createdAt: Type.String(),
  },
  {
    title: 'InboundMessage',
    examples: [
      {
        id: 'in_01khq3z5vgxw1r8t6n2m4c9b7d',
        from: 'Ada Lovelace <ada@example.org>',
        to: ['support@shop.example'],
        cc: [],
        replyTo: [],
        subject: 'Re: Your order',
        text: 'When does it arrive?',
        html: '',
        replyText: 'When does it arrive?',
        attachments: [],
        messageId: '<1@example.org>',
        inReplyTo: '<em_01khq3z4a2n7d5x8k3r6w1t9hb@shop.example>',
        date: '2026-03-01T09:00:00.000Z',
        rawHeaders: [{ name: 'Subject', value: 'Re: Your order' }],
        envelope: {
          from: 'ada@example.org',
          to: ['support@shop.example'],
          remoteIp: '192.0.2.1',
          helo: 'mail.example.org',
        },
        auth: { spf: 'pass', dkim: 'pass', dmarc: 'pass', dkimDomains: ['example.org'] },
        spam: { score: 1.5, flagged: false, reasons: [{ name: 'missing_date', points: 1.5 }] },
        truncated: false,
        autoSubmitted: false,
        emailId: 'em_01khq3z4a2n7d5x8k3r6w1t9hb',
        size: 4096,
        contentDeletedAt: null,
        deliveries: [
          {
            id: 'tsk_01khq3z5vgxw1r8t6n2m4c9b7d',
            routeId: 'rt_01khq3z5vgxw1r8t6n2m4c9b7d',
            status: 'delivered',
            attempts: 1,
            responseStatus: 200,
            responseTimeMs: 84,
            error: null,
            responseBody: 'thanks',
            nextAttemptAt: null,
            createdAt: '2026-03-01T09:00:00.000Z',
          },
        ],
        createdAt: '2026-03-01T09:00:00.000Z',
      },
    ],
  },
);

/** Returns a message as the API shows it. */
export function showReceived(
  message: ReceivedMessageRow,
  fields: MessageFields,
  posts: readonly ReceivedTaskRow[],
): Static<typeof receivedSchema> {
  const { headers: _, rawUrl: __, receivedAt, ...shown } = fields;
  return {
    ...shown,
    size: message.sizeBytes,
    contentDeletedAt: isoTimeOrNull(message.contentDeletedAt),
    deliveries: posts.map(showDelivery),
    createdAt: receivedAt,
  };
}

function showDelivery(post: ReceivedTaskRow): Static<typeof deliverySchema> {
  return {
    id: post.id,
    routeId: post.targetId,
    status: post.state === 'done' ? 'delivered' : post.state,
    attempts: post.attempts,
    responseStatus: post.responseStatus,
    responseTimeMs: post.responseTimeMs,
    error: post.error,
    responseBody: post.responseBody,
    nextAttemptAt: post.runId === null ? isoTimeOrNull(post.dueAt) : null,
    createdAt: isoTime(post.createdAt),
  };
}
