/**
 * Events in the shape of Resend's webhooks, for endpoints whose programs were written for them. An event that Resend has no word for keeps
 * its name and its data.
 */
import type { EventRow } from '../db/tables.ts';
import type { EventType } from '../events/store.ts';
import { isoTime } from '../system/clock.ts';

type Data = Readonly<Record<string, unknown>>;

/** Returns the body of a post: `{ type, created_at, data }`. `data` of the event is the recorded JSON. */
export function resendPayload(
  { type, createdAt, data }: Pick<EventRow, 'type' | 'createdAt' | 'data'>,
  extra: { test?: true } = {},
): string {
  const shape = SHAPES[type as EventType];
  const shown = shape ? shape(JSON.parse(data) as Data) : (JSON.parse(data) as Data);
  return JSON.stringify({ type: resendType(type), created_at: isoTime(createdAt), data: shown, ...extra });
}

/** Resend's names of events that have others here. */
const TYPES: Readonly<Partial<Record<EventType, string>>> = {
  'domain.verified': 'domain.updated',
  'domain.failed': 'domain.updated',
  'contact.unsubscribed': 'contact.updated',
};

/** Returns Resend's name of an event. */
export function resendType(type: string): string {
  return TYPES[type as EventType] ?? type;
}

function email(data: Data) {
  const { broadcastId, templateId } = data;
  return {
    ...(broadcastId !== null && { broadcast_id: broadcastId }),
    created_at: data['createdAt'],
    email_id: data['emailId'],
    message_id: data['messageId'],
    from: data['from'],
    to: [data['to']],
    subject: data['subject'],
    ...(templateId !== null && { template_id: templateId }),
    tags: data['tags'],
  };
}

/** Types of bounces, by ours. */
const BOUNCES: Readonly<Record<string, string>> = {
  permanent: 'Permanent',
  transient: 'Transient',
  undetermined: 'Undetermined',
};

function bounced(data: Data) {
  const { type, subType, diagnostic, advice } = data['bounce'] as Record<string, string | null>;
  const message = diagnostic === null ? advice : `${diagnostic} ${advice}`;
  return { ...email(data), bounce: { message, subType, type: BOUNCES[type ?? ''] ?? type } };
}

/** Retention forgets the readers of events after a time. Programs expect text. */
function readerOf({ ip, userAgent, timestamp }: Data) {
  return { ipAddress: ip ?? '', userAgent: userAgent ?? '', timestamp };
}

function opened(data: Data) {
  return { ...email(data), open: readerOf(data['open'] as Data) };
}

function clicked(data: Data) {
  const click = data['click'] as Data;
  return { ...email(data), click: { link: click['link'], ...readerOf(click) } };
}

function suppressed(data: Data) {
  const message = 'The address is on the suppression list, so nothing was sent';
  return { ...email(data), suppressed: { message, type: 'OnAccountSuppressionList' } };
}

/** The files of a message are not part of the event: `emails.receiving.get` lists them. */
function received(data: Data) {
  const { id, createdAt, from, recipients, messageId, subject } = data;
  return {
    email_id: id,
    created_at: createdAt,
    from,
    to: recipients,
    cc: [],
    bcc: [],
    received_for: recipients,
    message_id: messageId ?? '',
    subject: subject ?? '',
    attachments: [],
  };
}

function contact(data: Data) {
  return {
    id: data['id'],
    audience_id: data['audienceId'],
    segment_ids: [],
    created_at: data['createdAt'],
    updated_at: data['updatedAt'],
    email: data['email'],
    first_name: data['firstName'],
    last_name: data['lastName'],
    unsubscribed: data['unsubscribed'],
  };
}

/** Reasons of suppressions that Resend has words for. It takes all others for the sender's own. */
const ORIGINS = ['bounce', 'complaint'];

function suppression(data: Data) {
  const reason = data['reason'] as string;
  return {
    id: data['id'],
    email: data['email'],
    origin: ORIGINS.includes(reason) ? reason : 'manual',
    source_id: data['sourceEmailId'],
    created_at: data['createdAt'],
  };
}

function domain({ domainId, name, status }: Data) {
  return { id: domainId, name, status };
}

const SHAPES: Readonly<Partial<Record<EventType, (data: Data) => object>>> = {
  'email.queued': email,
  'email.sent': email,
  'email.delivered': email,
  'email.bounced': bounced,
  'email.complained': email,
  'email.opened': opened,
  'email.clicked': clicked,
  'email.delivery_delayed': email,
  'email.suppressed': suppressed,
  'email.canceled': email,
  'email.held': email,
  'email.received': received,
  'contact.created': contact,
  'contact.updated': contact,
  'contact.deleted': contact,
  'contact.unsubscribed': contact,
  'suppression.added': suppression,
  'suppression.removed': suppression,
  'domain.verified': domain,
  'domain.failed': domain,
};
