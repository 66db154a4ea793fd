/** Shows emails as Resend's API does. */
import type { EmailStatus } from '../../../db/tables.ts';
import type { EventType } from '../../../events/store.ts';

type EmailSummary = {
  id: string;
  from: string;
  to: readonly string[];
  subject: string;
  status: EmailStatus;
  createdAt: string;
};

export type Email = EmailSummary & {
  cc: readonly string[];
  bcc: readonly string[];
  replyTo: readonly string[];
  html: string | null;
  text: string | null;
  tags: Readonly<Record<string, string>>;
  scheduledAt: string | null;
  topicId: string | null;
  messageId: string;
  events: readonly { type: string }[];
};

/** Returns an item of a list. It has the fields that our lists have; `GET /emails/:id` has all. */
export function showSummary({ id, from, to, subject, status, createdAt }: EmailSummary) {
  return { id, from, to, subject, created_at: createdAt, last_event: status };
}

export function showEmail(email: Email) {
  return {
    object: 'email',
    id: email.id,
    message_id: email.messageId,
    from: email.from,
    to: email.to,
    cc: email.cc,
    bcc: email.bcc,
    reply_to: email.replyTo,
    subject: email.subject,
    html: email.html,
    text: email.text,
    tags: Object.entries(email.tags).map(([name, value]) => ({ name, value })),
    topic_id: email.topicId,
    scheduled_at: email.scheduledAt,
    created_at: email.createdAt,
    last_event: lastEventOf(email),
  };
}

/** Our events that Resend has no word for, and the word that comes next to it. */
const OTHER_WORDS: ReadonlyMap<string, string> = new Map([['email.held' satisfies EventType, 'queued']]);

/** Returns the last event. Retention may have deleted the events; then the status says the same. */
function lastEventOf({ events, status, scheduledAt }: Email): string {
  const last = events.at(-1)?.type ?? `email.${status}`;
  if (last === ('email.queued' satisfies EventType) && scheduledAt !== null) return 'scheduled';
  return OTHER_WORDS.get(last) ?? last.replace('email.', '');
}
