/** Shapes of the emails API (specification 2.1 and 4.1, api.md 1.2 and 1.3). */
import { type Static, Type } from 'typebox';
import type { EmailRow, EventRow, MessageRow, RecipientRow } from '../db/tables.ts';
import { pageQuery, pageSchema } from '../http/page.ts';
import { recipientStatus } from '../queue/status.ts';
import { isoTime } from '../system/clock.ts';

/** Specification 8. */
const MOST_TO = 50;
/** api.md 1.2. */
const MOST_COPIES = 50;
const MOST_SUBJECT_CHARACTERS = 998;
export const MOST_BODY_BYTES = 2 * 1024 * 1024;

const recipients = (most: number, description: string) =>
  Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems: most })], { description });

export const sendSchema = Type.Object({
  from: Type.String({ description: 'Sender, `a@b` or `Name <a@b>`, at a verified domain.' }),
  to: recipients(MOST_TO, 'Up to 50 addresses.'),
  cc: Type.Optional(recipients(MOST_COPIES, 'Up to 50 addresses.')),
  bcc: Type.Optional(recipients(MOST_COPIES, 'Up to 50 addresses.')),
  replyTo: Type.Optional(recipients(MOST_COPIES, 'Where answers go.')),
  subject: Type.String({ minLength: 1, maxLength: MOST_SUBJECT_CHARACTERS }),
  html: Type.Optional(Type.String({ description: 'Required when text is absent.' })),
  text: Type.Optional(Type.String()),
  type: Type.Enum(['transactional', 'broadcast']),
});
export type SendBody = Static<typeof sendSchema>;

export const idempotencyHeader = Type.Object({
  'idempotency-key': Type.Optional(Type.String({ description: '1 to 256 characters; for 24 hours.' })),
});

export const sentSchema = Type.Object({ id: Type.String(), status: Type.Literal('queued') });

const STATUSES = ['queued', 'sent', 'delivered', 'bounced', 'complained', 'canceled'] as const;

const summary = {
  id: Type.String(),
  from: Type.String(),
  to: Type.Array(Type.String()),
  subject: Type.String(),
  status: Type.Enum([...STATUSES]),
  createdAt: Type.String(),
};

const nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);

export const emailSchema = Type.Object({
  ...summary,
  type: Type.String(),
  lastEventAt: Type.String(),
  mode: Type.String(),
  cc: Type.Array(Type.String()),
  bcc: Type.Array(Type.String()),
  replyTo: Type.Array(Type.String()),
  html: nullable(Type.String()),
  text: nullable(Type.String()),
  messageId: Type.String(),
  recipients: Type.Array(
    Type.Object({
      email: Type.String(),
      type: Type.String(),
      status: Type.String(),
      attempts: Type.Integer(),
      lastEventAt: Type.String(),
      smtpCode: nullable(Type.Integer()),
      enhancedCode: nullable(Type.String()),
      diagnostic: nullable(Type.String()),
      mx: nullable(Type.String()),
      tls: nullable(Type.String()),
    }),
  ),
  events: Type.Array(
    Type.Object({ id: Type.String(), type: Type.String(), createdAt: Type.String(), to: Type.String() }),
  ),
});

export const emailListQuery = Type.Object({
  ...pageQuery,
  status: Type.Optional(Type.Enum([...STATUSES])),
  from: Type.Optional(Type.String({ description: 'A sender address, or a domain.' })),
  to: Type.Optional(Type.String({ description: 'A recipient address.' })),
});
export type EmailListQuery = Static<typeof emailListQuery>;

export const emailPageSchema = pageSchema(Type.Object(summary));

export type EmailWithStatus = EmailRow & Pick<MessageRow, 'status' | 'lastEventAt'>;

export function showSummary(
  row: Pick<EmailWithStatus, 'id' | 'fromHeader' | 'toList' | 'subject' | 'status' | 'createdAt'>,
) {
  return {
    id: row.id,
    from: row.fromHeader,
    to: readList(row.toList),
    subject: row.subject,
    status: row.status,
    createdAt: isoTime(row.createdAt),
  };
}

export function showEmail(
  row: EmailWithStatus,
  recipientRows: readonly RecipientRow[],
  events: readonly EventRow[],
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
    messageId: `<${row.rfcMessageId}>`,
    recipients: recipientRows.map(showRecipient),
    events: events.map((event) => ({
      id: event.id,
      type: event.type,
      createdAt: isoTime(event.createdAt),
      to: (JSON.parse(event.data) as { to: string }).to,
    })),
  };
}

function showRecipient(row: RecipientRow) {
  const { attempts, smtpCode, enhancedCode, diagnostic, mx, tls } = row;
  return {
    email: row.address,
    type: row.field,
    status: recipientStatus(row),
    attempts,
    lastEventAt: isoTime(row.lastEventAt),
    smtpCode,
    enhancedCode,
    diagnostic,
    mx,
    tls,
  };
}

function readList(json: string): string[] {
  return JSON.parse(json) as string[];
}
