/** Emails and their lists as answers of the API (specification 2.1). */
import { type TSchema, Type } from 'typebox';
import { approvalOrNull } from '../approvals/schemas.ts';
import { showApprovalState } from '../approvals/show.ts';
import type { ApprovalRow } from '../db/approval-tables.ts';
import type { EmailRow } from '../db/email-tables.ts';
import type { EventRow, MessageRow, RecipientRow } from '../db/tables.ts';
import { pageSchema } from '../http/json/page.ts';
import { CALENDAR_METHODS } from '../mail/message/calendar.ts';
import { DISPOSITIONS, type Disposition } from '../mail/message/file-part.ts';
import type { Texts } from '../queue/contents/read.ts';
import { recipientStatus } from '../queue/status.ts';
import { type QueueWaits, WAITING_REASONS, type Waiting, waitingOf } from '../queue/waiting.ts';
import { isoTime } from '../system/clock.ts';
import { HOLD_REASONS, RECIPIENT_STATUSES, type RecipientStatus, STATUSES } from './schemas.ts';

const EXAMPLE_ID = 'em_01khq3z5vgxw1r8t6n2m4c9b7d';

const timestamp = (description: string) => Type.String({ description: `${description} ISO 8601, UTC.` });
const nullable = <Schema extends TSchema>(schema: Schema, description: string) =>
  Type.Union([schema, Type.Null()], { description });
/** A record schema that keeps any names. The serializer drops names with line breaks from a `Type.Record`. */
const stringRecord = (description: string) =>
  Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: { type: 'string' },
    description,
  });

const summary = {
  id: Type.String({ description: 'Id of the email; starts with `em_`.' }),
  from: Type.String({ description: 'Sender, as the request named it.' }),
  to: Type.Array(Type.String(), { description: 'Recipients, as the request named them.' }),
  subject: Type.String({ description: 'Subject as it is sent, with its variables filled in.' }),
  status: Type.Enum([...STATUSES], { description: 'Status that follows from the states of all recipients.' }),
  createdAt: timestamp('Time at which the email was accepted.'),
};

export const EXAMPLE_SUMMARY = {
  id: EXAMPLE_ID,
  from: 'Acme <orders@sandbox.localhost>',
  to: ['delivered+ada@simulator.localhost'],
  subject: 'Your order is on its way',
  status: 'delivered',
  createdAt: '2026-03-01T09:00:00.000Z',
};

export const emailPageSchema = pageSchema(
  Type.Object(summary, { title: 'EmailSummary', examples: [EXAMPLE_SUMMARY] }),
);

const attachmentSchema = Type.Object({
  filename: Type.String(),
  contentType: Type.String(),
  contentId: nullable(Type.String(), 'Content id of an inline image, which the HTML refers to as `cid:…`.'),
  disposition: Type.Enum([...DISPOSITIONS], { description: 'How a mail program shows the file.' }),
  size: Type.Integer({ description: 'Size in bytes.' }),
});

const recipientSchema = Type.Object({
  email: Type.String({ description: 'Address without a name.' }),
  type: Type.Enum(['to', 'cc', 'bcc']),
  status: Type.Enum([...RECIPIENT_STATUSES], {
    description:
      '`held`: delivery is not attempted until an operator releases it or a person approves it; `holdReason` and `diagnostic` say why.',
  }),
  attempts: Type.Integer({ description: 'Number of delivery attempts.' }),
  lastEventAt: timestamp('Time of the latest event of the recipient.'),
  smtpCode: nullable(Type.Integer(), 'Reply code of the receiving server, such as 250.'),
  enhancedCode: nullable(Type.String(), 'Enhanced status code of the reply (RFC 3463), such as 5.1.1.'),
  diagnostic: nullable(
    Type.String(),
    'Text of the reply, or a description of the failure when there was no reply.',
  ),
  holdReason: nullable(
    Type.Enum([...HOLD_REASONS]),
    'Why the recipient is held, such as `approval`; null when it is not, or when an early version has held it, which kept no reasons.',
  ),
  class: nullable(
    Type.String(),
    'What the last refusal means, such as `bad-mailbox`; null after a delivery and before the first attempt.',
  ),
  advice: nullable(Type.String(), 'What you can do about the last refusal, in a sentence.'),
  nextAttemptAt: nullable(
    Type.String(),
    'Time of the next attempt; null when none is due: the recipient is final, held, or being sent to.',
  ),
  waiting: nullable(
    Type.Object({
      reason: Type.Enum([...WAITING_REASONS]),
      until: nullable(Type.String(), 'When it ends, ISO 8601, UTC; null while nobody knows.'),
    }),
    'What keeps a recipient whose time has come: `rest` (the receiving servers, or this mail there, get a pause after refusals), `rate` (their limit in a minute is reached), `warm_up` (the limit of the day of a sending address), or `hold`. Null when nothing does.',
  ),
  mx: nullable(Type.String(), 'Name of the receiving server.'),
  tls: nullable(Type.String(), 'Version of TLS, such as TLSv1.3; null for a connection in plain text.'),
});

const emailFields = {
  ...summary,
  type: Type.Enum(['transactional', 'broadcast']),
  lastEventAt: timestamp('Of the latest delivery event.'),
  mode: Type.Enum(['live', 'test'], {
    description: 'Mode of the API key that sent the email. Test mail is not delivered.',
  }),
  cc: Type.Array(Type.String()),
  bcc: Type.Array(Type.String()),
  replyTo: Type.Array(Type.String()),
  html: nullable(
    Type.String(),
    'As sent, variables filled in; null once the content was deleted, or when it is damaged.',
  ),
  text: nullable(
    Type.String(),
    'As sent; made from the HTML when none was given. Null once the content was deleted, or when it is damaged.',
  ),
  amp: nullable(
    Type.String(),
    'AMP for email as sent; null when there is none, or once the content was deleted.',
  ),
  calendar: nullable(
    Type.Object({ method: Type.Enum([...CALENDAR_METHODS]), content: Type.String() }),
    'Invitation as sent; null when there is none, or once the content was deleted.',
  ),
  contentDeletedAt: nullable(
    Type.String(),
    'When `html`, `text` and the attachments were deleted; null while they are kept.',
  ),
  headers: stringRecord('Your own header fields.'),
  attachments: Type.Array(attachmentSchema),
  tags: stringRecord('Your own labels.'),
  scheduledAt: nullable(
    Type.String(),
    'Time for which delivery was scheduled; null when the email was sent at once.',
  ),
  templateId: nullable(Type.String(), 'Template that the email was made from.'),
  topicId: nullable(Type.String(), 'Topic that the email belongs to.'),
  broadcastId: nullable(Type.String(), 'Broadcast that the email is part of.'),
  apiKeyId: nullable(Type.String(), 'API key that sent it; null for people, broadcasts and early versions.'),
  missingVariables: Type.Array(Type.String(), {
    description: 'Placeholders that had neither a value nor a fallback and were rendered as empty text.',
  }),
  messageId: Type.String({ description: 'Value of the Message-ID header field.' }),
  approval: approvalOrNull,
  recipients: Type.Array(recipientSchema, { description: 'Recipients of the email, each address once.' }),
  recipientCounts: Type.Object(
    Object.fromEntries(RECIPIENT_STATUSES.map((status) => [status, Type.Integer()])),
    { description: 'Number of recipients in each state.' },
  ),
  events: Type.Array(
    Type.Object({
      id: Type.String(),
      type: Type.String(),
      createdAt: Type.String(),
      to: Type.String({ description: 'Recipient that the event is about.' }),
    }),
    { description: 'Events of the email, oldest first.' },
  ),
};

const EXAMPLE_COUNTS = {
  queued: 0,
  sent: 0,
  deferred: 0,
  held: 0,
  delivered: 1,
  bounced: 0,
  complained: 0,
  suppressed: 0,
  canceled: 0,
} satisfies Record<RecipientStatus, number>;

const EXAMPLE_EMAIL = {
  ...EXAMPLE_SUMMARY,
  type: 'transactional',
  lastEventAt: '2026-03-01T09:00:02.000Z',
  mode: 'live',
  cc: [],
  bcc: [],
  replyTo: [],
  html: '<p>It will be with you tomorrow.</p>',
  text: 'It will be with you tomorrow.',
  amp: null,
  calendar: null,
  contentDeletedAt: null,
  headers: {},
  attachments: [],
  tags: { kind: 'shipping' },
  scheduledAt: null,
  templateId: null,
  topicId: null,
  broadcastId: null,
  apiKeyId: 'key_01khq3z5vgxw1r8t6n2m4c9b7d',
  missingVariables: [],
  messageId: `<${EXAMPLE_ID}@acme.example>`,
  approval: null,
  recipients: [
    {
      email: 'delivered+ada@simulator.localhost',
      type: 'to',
      status: 'delivered',
      attempts: 1,
      lastEventAt: '2026-03-01T09:00:02.000Z',
      smtpCode: 250,
      enhancedCode: '2.0.0',
      diagnostic: '2.0.0 Ok: queued',
      holdReason: null,
      class: null,
      advice: null,
      nextAttemptAt: null,
      waiting: null,
      mx: 'mx.customer.example',
      tls: 'TLSv1.3',
    },
  ],
  recipientCounts: EXAMPLE_COUNTS,
  events: [
    {
      id: 'evt_01khq3z7tgq5w8e2r4t6y8n0m1',
      type: 'email.delivered',
      createdAt: '2026-03-01T09:00:02.000Z',
      to: 'delivered+ada@simulator.localhost',
    },
  ],
};

export const emailSchema = Type.Object(emailFields, { title: 'Email', examples: [EXAMPLE_EMAIL] });

export type EmailWithStatus = EmailRow & Pick<MessageRow, 'status' | 'lastEventAt'>;

export type EmailSummary = Pick<
  EmailWithStatus,
  'id' | 'fromHeader' | 'toList' | 'subject' | 'status' | 'createdAt'
>;

/** Returns an email as the list shows it. */
export function showSummary(row: EmailSummary) {
  return {
    id: row.id,
    from: row.fromHeader,
    to: readList(row.toList),
    subject: row.subject,
    status: row.status,
    createdAt: isoTime(row.createdAt),
  };
}

/** Returns an email as `GET /v1/emails/:id` shows it. */
export function showEmail(
  row: EmailWithStatus & Pick<Texts, 'amp' | 'calendar'>,
  {
    recipients,
    waits,
    events,
    approval,
    now,
  }: {
    recipients: readonly RecipientRow[];
    /** The reasons for which the due mail of the recipients' queues waits. */
    waits: QueueWaits;
    events: readonly EventRow[];
    /** Undefined for an email that has never asked for approval. */
    approval: ApprovalRow | undefined;
    now: number;
  },
) {
  return {
    ...showSummary(row),
    type: row.type,
    lastEventAt: isoTime(row.lastEventAt),
    mode: row.mode,
    cc: readList(row.ccList),
    bcc: readList(row.bccList),
    replyTo: readList(row.replyToList),
    html: row.html,
    text: row.text,
    amp: row.amp ?? null,
    calendar: row.calendar ?? null,
    contentDeletedAt: row.contentDeletedAt === null ? null : isoTime(row.contentDeletedAt),
    headers: readRecord(row.headers),
    attachments: showAttachments(row.attachments),
    tags: readRecord(row.tags),
    scheduledAt: row.scheduledAt === null ? null : isoTime(row.scheduledAt),
    templateId: row.templateId,
    topicId: row.topicId,
    broadcastId: row.broadcastId,
    apiKeyId: row.apiKeyId,
    missingVariables: readList(row.missingVariables),
    messageId: `<${row.rfcMessageId}>`,
    approval: approval ? showApprovalState(approval) : null,
    recipients: recipients.map((recipient) => showRecipient(recipient, { waits, now })),
    recipientCounts: countRecipients(recipients),
    events: events.map((event) => ({
      id: event.id,
      type: event.type,
      createdAt: isoTime(event.createdAt),
      to: (JSON.parse(event.data) as { to: string }).to,
    })),
  };
}

/** An element of the JSON array `emails.attachments`. */
export type StoredAttachment = {
  filename: string;
  contentType: string;
  contentId: string | null;
  /** Absent in emails of earlier versions. */
  disposition?: Disposition;
  sizeBytes: number;
};

function showAttachments(json: string) {
  const attachments = JSON.parse(json) as StoredAttachment[];
  return attachments.map(({ sizeBytes, ...attachment }) => ({
    disposition: attachment.contentId === null ? ('attachment' as const) : ('inline' as const),
    ...attachment,
    size: sizeBytes,
  }));
}

function showRecipient(row: RecipientRow, situation: { waits: QueueWaits; now: number }) {
  const { attempts, smtpCode, enhancedCode, diagnostic, holdReason, advice, mx, tls } = row;
  return {
    email: row.address,
    type: row.field,
    status: recipientStatus(row),
    attempts,
    lastEventAt: isoTime(row.lastEventAt),
    smtpCode,
    enhancedCode,
    diagnostic,
    holdReason,
    class: row.class,
    advice,
    nextAttemptAt: nextAttemptOf(row),
    waiting: showWaiting(waitingOf(row, situation)),
    mx,
    tls,
  };
}

function showWaiting(waiting: Waiting | null) {
  if (waiting === null) return null;
  return { reason: waiting.reason, until: waiting.until === null ? null : isoTime(waiting.until) };
}

/** In flight, `dueAt` is the end of the lease and no time of an attempt. */
function nextAttemptOf({ state, dueAt }: RecipientRow): string | null {
  const isWaiting = state === 'ready' || state === 'deferred';
  return isWaiting && dueAt !== null ? isoTime(dueAt) : null;
}

function countRecipients(recipients: readonly RecipientRow[]): Record<RecipientStatus, number> {
  const statuses = recipients.map(recipientStatus);
  const count = (wanted: RecipientStatus) => statuses.filter((status) => status === wanted).length;
  return {
    queued: count('queued'),
    sent: count('sent'),
    deferred: count('deferred'),
    held: count('held'),
    delivered: count('delivered'),
    bounced: count('bounced'),
    complained: count('complained'),
    suppressed: count('suppressed'),
    canceled: count('canceled'),
  };
}

function readList(json: string): string[] {
  return JSON.parse(json) as string[];
}

function readRecord(json: string): Record<string, string> {
  return JSON.parse(json) as Record<string, string>;
}
