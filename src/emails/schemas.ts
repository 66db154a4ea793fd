/**
 * Request schemas of the emails API (specification 4.1, api.md 1.2 and 1.10). show.ts has the schemas of its answers.
 */
import { type Static, type TSchema, Type } from 'typebox';
import type { EmailRow, EmailStatus } from '../db/tables.ts';
import { pageQuery } from '../http/page.ts';
import type { VariableValue } from '../templates/render.ts';
import { MAX_SUBJECT_CHARACTERS, MAX_VARIABLES } from '../templates/schemas.ts';
import { MAX_URL_CHARACTERS } from './request/remote-url.ts';

export type EmailType = EmailRow['type'];

/** Limits of a send request (specification 8). */
const MAX_TO = 50;
const MAX_ATTACHMENTS = 10;
export const MAX_ATTACHMENT_BYTES = 25 * 1024 * 1024;
const MAX_TAGS = 10;
const MAX_BATCH_EMAILS = 100;
/** Limits of api.md 1.2. */
const MAX_COPIES = 50;
export const MAX_BODY_BYTES = 2 * 1024 * 1024;
/** Limits of a batch and of headers (decisions.md, values). */
export const MAX_BATCH_BODY_BYTES = 50 * 1024 * 1024;
const MAX_HEADERS = 50;
/** Maximum length of a file name in a request. It may contain a path, and is cut to 255 bytes. Our own limit. */
const MAX_FILENAME_CHARACTERS = 4_096;

/** An empty list counts as an omitted field, except for `to`. */
const addresses = (limits: { minItems?: number; maxItems: number }, description: string) =>
  Type.Union([Type.String(), Type.Array(Type.String(), limits)], { description });

/** A record schema that accepts any names. `Type.Record` would skip the check of names with line breaks. */
const record = <Value>(value: TSchema, options: { maxProperties: number; description: string }) =>
  Type.Unsafe<Record<string, Value>>({ type: 'object', additionalProperties: value, ...options });

const attachmentFields = {
  filename: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: MAX_FILENAME_CHARACTERS,
      description: 'Shown to the reader. May be left out when `path` ends in one.',
    }),
  ),
  content: Type.Optional(Type.String({ description: 'The bytes in base64 (RFC 4648 4).' })),
  path: Type.Optional(
    Type.String({
      maxLength: MAX_URL_CHARACTERS,
      description:
        'https URL from which the bytes are fetched once, when the email is accepted. The server must send them uncompressed: a response with `Content-Encoding` is refused. One of `content` and `path` is required.',
    }),
  ),
  url: Type.Optional(Type.String({ maxLength: MAX_URL_CHARACTERS, description: 'The same as `path`.' })),
  contentType: Type.Optional(
    Type.String({
      description: 'Media type. Default: by the end of `filename`, else application/octet-stream.',
    }),
  ),
  contentId: Type.Optional(
    Type.String({ description: 'Makes it inline: the HTML shows it as `<img src="cid:…">`.' }),
  ),
};
export const ATTACHMENT_FIELDS = Object.keys(attachmentFields) as readonly (keyof typeof attachmentFields)[];

const attachmentSchema = Type.Object(attachmentFields);
export type AttachmentBody = Static<typeof attachmentSchema>;

const SEND_EXAMPLE = {
  from: 'Acme <orders@sandbox.localhost>',
  to: ['delivered+ada@simulator.localhost'],
  subject: 'Your order is on its way',
  html: '<p>It will be with you tomorrow.</p>',
  type: 'transactional',
  tags: { kind: 'shipping' },
};

const sendFields = {
  from: Type.String({ description: 'Sender, `a@b` or `Name <a@b>`, at a verified domain.' }),
  to: addresses({ minItems: 1, maxItems: MAX_TO }, 'Up to 50 addresses.'),
  cc: Type.Optional(addresses({ maxItems: MAX_COPIES }, 'Up to 50 addresses.')),
  bcc: Type.Optional(addresses({ maxItems: MAX_COPIES }, 'Up to 50 addresses, which the others do not see.')),
  replyTo: Type.Optional(addresses({ maxItems: MAX_COPIES }, 'Where answers go.')),
  subject: Type.String({
    minLength: 1,
    maxLength: MAX_SUBJECT_CHARACTERS,
    description: 'One line. Wins over that of the template.',
  }),
  html: Type.Optional(
    Type.String({ description: 'Required when `text` and `templateId` are absent. At most 2 MiB.' }),
  ),
  text: Type.Optional(
    Type.String({
      description: 'Made from the HTML when omitted. Wins over that of the template. At most 2 MiB.',
    }),
  ),
  type: Type.Enum(['transactional', 'broadcast']),
  headers: Type.Optional(
    record<string>(Type.String(), {
      maxProperties: MAX_HEADERS,
      description: 'Your own header fields: up to 50, 16 KiB in total. Reserved names are rejected.',
    }),
  ),
  attachments: Type.Optional(
    Type.Array(attachmentSchema, {
      maxItems: MAX_ATTACHMENTS,
      description: 'Up to 10 files, 25 MiB in total.',
    }),
  ),
  tags: Type.Optional(
    record<string>(Type.String(), {
      maxProperties: MAX_TAGS,
      description: 'Up to 10 pairs of strings of 1 to 256 characters, to find emails by.',
    }),
  ),
  scheduledAt: Type.Optional(
    Type.String({
      description: 'ISO 8601 with an offset, at most a year ahead. A time that has passed is now.',
    }),
  ),
  templateId: Type.Optional(
    Type.String({ description: 'A stored template, instead of `html`. Always rendered.' }),
  ),
  variables: Type.Optional(
    record<VariableValue>(Type.Unsafe<VariableValue>({ type: ['string', 'number', 'boolean', 'null'] }), {
      maxProperties: MAX_VARIABLES,
      description:
        'Up to 50 values, strings of at most 10 KiB, for the placeholders of the template. Given without a template, ' +
        'they also fill in `subject`, `html` and `text`; without `variables` those stay as they are.',
    }),
  ),
  topicId: Type.Optional(
    Type.String({
      description:
        'Required when `type` is broadcast: then recipients who have opted out of the topic, have unsubscribed, or have ' +
        'chosen nothing of a topic that is off by default, are left out as suppressed.',
    }),
  ),
};
export const sendSchema = Type.Object(sendFields, { examples: [SEND_EXAMPLE] });
export type SendBody = Static<typeof sendSchema>;

const SECOND_EXAMPLE = { ...SEND_EXAMPLE, to: ['delivered+bob@simulator.localhost'] };

export const batchSchema = Type.Object(
  {
    emails: Type.Array(sendSchema, {
      minItems: 1,
      maxItems: MAX_BATCH_EMAILS,
      description: 'Up to 100 emails, each as POST /v1/emails takes it.',
    }),
  },
  { examples: [{ emails: [SEND_EXAMPLE, SECOND_EXAMPLE] }] },
);

export const rescheduleSchema = Type.Object(
  {
    scheduledAt: Type.String({
      description: 'ISO 8601 with an offset, at most a year ahead. A time that has passed is now.',
    }),
  },
  { examples: [{ scheduledAt: '2026-03-02T09:00:00+01:00' }] },
);
export type RescheduleBody = Static<typeof rescheduleSchema>;

export const idempotencyHeader = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      description:
        '1 to 256 characters. For 24 hours, a repeat with the same key is answered as the first was.',
    }),
  ),
});

export const STATUSES = [
  'queued',
  'sent',
  'delivered',
  'bounced',
  'complained',
  'canceled',
] as const satisfies readonly EmailStatus[];

/** Public states of a recipient (api.md 1.3). */
export const RECIPIENT_STATUSES = [
  'queued',
  'sent',
  'deferred',
  'held',
  'delivered',
  'bounced',
  'complained',
  'suppressed',
  'canceled',
] as const;
export type RecipientStatus = (typeof RECIPIENT_STATUSES)[number];

export const emailListQuery = Type.Object({
  ...pageQuery,
  status: Type.Optional(Type.Enum([...STATUSES], { description: 'Of the email as a whole.' })),
  from: Type.Optional(Type.String({ description: 'A sender address, or a domain.' })),
  to: Type.Optional(Type.String({ description: 'A recipient address, in any field.' })),
  tag: Type.Optional(Type.String({ description: 'A tag, `key:value`.' })),
  recipientStatus: Type.Optional(
    Type.Enum([...RECIPIENT_STATUSES], { description: 'At least one recipient stands so.' }),
  ),
});
export type EmailListQuery = Static<typeof emailListQuery>;
