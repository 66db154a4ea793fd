/** Request schemas of the emails API (specification 4.1). show.ts has the schemas of its answers. */
import { type Static, type TSchema, Type } from 'typebox';
import type { EmailRow } from '../db/email-tables.ts';
import type { EmailStatus, HoldReason } from '../db/tables.ts';
import { pageQuery } from '../http/json/page.ts';
import { CALENDAR_METHODS } from '../mail/message/calendar.ts';
import { DISPOSITIONS } from '../mail/message/file-part.ts';
import type { VariableValue } from '../templates/render.ts';
import { MAX_SUBJECT_CHARACTERS } from '../templates/render.ts';
import { MAX_VARIABLES } from '../templates/schemas.ts';

export type EmailType = EmailRow['type'];

/** Limits of a send request (specification 8). */
const MAX_TO = 50;
const MAX_ATTACHMENTS = 10;
export const MAX_ATTACHMENT_BYTES = 25 * 1024 * 1024;
const MAX_TAGS = 10;
export const MAX_BATCH_EMAILS = 100;
/** Maximum number of addresses in each of `cc` and `bcc`. */
const MAX_COPIES = 50;
/** Maximum size of `html`, and of `text`. */
export const MAX_BODY_BYTES = 2 * 1024 * 1024;
/** Maximum size of the body of a batch. */
export const MAX_BATCH_BODY_BYTES = 50 * 1024 * 1024;
/** Maximum number of the caller's own header fields. */
const MAX_HEADERS = 50;
/**
 * Maximum length of a URL that browsers and proxies commonly support (RFC 9110 section 4.1 recommends at least 8000 octets).
 */
const MAX_URL_CHARACTERS = 2_048;
/** Maximum length of a file name in a request. It may contain a path, and is cut to 255 bytes. */
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
      description: 'Name of the file, shown to the recipient. Optional when `path` ends in a file name.',
    }),
  ),
  content: Type.Optional(Type.String({ description: 'Content of the file in base64 (RFC 4648 section 4).' })),
  path: Type.Optional(
    Type.String({
      maxLength: MAX_URL_CHARACTERS,
      description:
        'https URL from which the file is fetched once, when the email is accepted. The server must send them uncompressed: a response with `Content-Encoding` is refused. One of `content` and `path` is required.',
    }),
  ),
  url: Type.Optional(Type.String({ maxLength: MAX_URL_CHARACTERS, description: 'Another name of `path`.' })),
  contentType: Type.Optional(
    Type.String({
      description:
        'Media type. The default follows from the extension of `filename`, or is application/octet-stream.',
    }),
  ),
  contentId: Type.Optional(
    Type.String({
      description: 'Content id of an inline image: the HTML refers to it as `<img src="cid:…">`.',
    }),
  ),
  disposition: Type.Optional(
    Type.Enum([...DISPOSITIONS], {
      description:
        'How a mail program shows the file. The default is inline for a file with a `contentId` in an email with HTML, else attachment.',
    }),
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

/** Returns the schema of the values for placeholders. */
export function variableValues(description: string) {
  const value = Type.Unsafe<VariableValue>({ type: ['string', 'number', 'boolean', 'null'] });
  return Type.Optional(record<VariableValue>(value, { maxProperties: MAX_VARIABLES, description }));
}

const sendFields = {
  from: Type.String({ description: 'Sender, `a@b` or `Name <a@b>`, at a verified domain.' }),
  to: addresses({ minItems: 1, maxItems: MAX_TO }, 'Up to 50 addresses.'),
  cc: Type.Optional(addresses({ maxItems: MAX_COPIES }, 'Up to 50 addresses.')),
  bcc: Type.Optional(
    addresses({ maxItems: MAX_COPIES }, 'Up to 50 addresses, which the other recipients do not see.'),
  ),
  replyTo: Type.Optional(addresses({ maxItems: MAX_COPIES }, 'Addresses that receive replies.')),
  subject: Type.String({
    minLength: 1,
    maxLength: MAX_SUBJECT_CHARACTERS,
    description: 'One line. Replaces the subject of the template.',
  }),
  html: Type.Optional(
    Type.String({ description: 'Required when `text` and `templateId` are absent. At most 2 MiB.' }),
  ),
  text: Type.Optional(
    Type.String({
      description: 'Generated from the HTML when absent. Replaces the text of the template. At most 2 MiB.',
    }),
  ),
  amp: Type.Optional(
    Type.String({
      description:
        'AMP for email, which some mail programs show instead of the HTML: a document with `<html ⚡4email>`. It needs `html` or `templateId`, and has at ' +
        'most 200,000 bytes. Its placeholders are rendered like those of `html`, and its links are never tracked.',
    }),
  ),
  calendar: Type.Optional(
    Type.Object(
      {
        method: Type.Enum([...CALENDAR_METHODS], {
          description: 'Method of RFC 5546, the METHOD of `content`.',
        }),
        content: Type.String({
          minLength: 1,
          description:
            'The calendar object (RFC 5545), BEGIN:VCALENDAR to END:VCALENDAR, at most 256 KiB. It has no placeholders.',
        }),
      },
      {
        description:
          'An invitation, which mail programs show with buttons to answer. It is also attached as invite.ics.',
      },
    ),
  ),
  type: Type.Enum(['transactional', 'broadcast']),
  headers: Type.Optional(
    record<string>(Type.String(), {
      maxProperties: MAX_HEADERS,
      description:
        'Your own header fields: up to 50, 16 KiB in total. Text that is not ASCII is encoded, and long values are folded. Reserved names are refused. ' +
        'With `TLS-Required: No` (RFC 8689), policies about TLS of the recipients’ domains do not hold the email up.',
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
      description:
        'Your own labels, by which emails can be found: up to 10 pairs of strings of 1 to 256 characters.',
    }),
  ),
  scheduledAt: Type.Optional(
    Type.String({
      description:
        'ISO 8601 with an offset, at most a year ahead. An email with a time in the past is sent now.',
    }),
  ),
  templateId: Type.Optional(
    Type.String({
      description: 'Id of a stored template, which is used instead of `html` and is always rendered.',
    }),
  ),
  variables: variableValues(
    'Up to 50 values for the placeholders of the template; strings have at most 10 KiB. Without a template, ' +
      'they fill in `subject`, `html` and `text`, which stay as they are when `variables` is absent.',
  ),
  topicId: Type.Optional(
    Type.String({
      description:
        'Required when `type` is broadcast. Recipients who have unsubscribed or opted out of the topic are suppressed, and so ' +
        'are those without a choice when the topic is off by default.',
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
      description: 'Up to 100 emails, each with the fields of POST /v1/emails.',
    }),
  },
  { examples: [{ emails: [SEND_EXAMPLE, SECOND_EXAMPLE] }] },
);

export const rescheduleSchema = Type.Object(
  {
    scheduledAt: Type.String({
      description:
        'ISO 8601 with an offset, at most a year ahead. An email with a time in the past is sent now.',
    }),
  },
  { examples: [{ scheduledAt: '2026-03-02T09:00:00+01:00' }] },
);
export type RescheduleBody = Static<typeof rescheduleSchema>;

export const idempotencyHeader = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      description:
        'Key of 1 to 256 characters. For 24 hours, a repeated request with the same key gets the response of the first.',
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

/** Public states of a recipient. */
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

/** Reasons why recipients are held. */
export const HOLD_REASONS = [
  'interrupted',
  'damaged',
  'operator',
  'approval',
] as const satisfies readonly HoldReason[];

export const emailListQuery = Type.Object({
  ...pageQuery,
  status: Type.Optional(Type.Enum([...STATUSES], { description: 'Status of the email as a whole.' })),
  from: Type.Optional(Type.String({ description: 'Address or domain of the sender.' })),
  to: Type.Optional(Type.String({ description: 'Address of a recipient, in any field.' })),
  tag: Type.Optional(Type.String({ description: 'Tag in the form `key:value`.' })),
  messageId: Type.Optional(
    Type.String({ description: 'Value of the Message-ID header field, with or without its angle brackets.' }),
  ),
  recipientStatus: Type.Optional(
    Type.Enum([...RECIPIENT_STATUSES], { description: 'State of at least one recipient.' }),
  ),
  apiKeyId: Type.Optional(
    Type.String({ description: 'Id of the API key that has sent the email, also of a revoked one.' }),
  ),
});
export type EmailListQuery = Static<typeof emailListQuery>;
