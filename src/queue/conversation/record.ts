/**
 * Records what is said in the sessions of a claim, for those who want to know why its mail was not delivered. The entries are the events of
 * the SMTP client as they are: they become text only when the claim was not delivered (lines.ts), or while somebody watches (trace.ts).
 */
import type { SmtpEvent, SmtpObserver } from '../../mail/smtp/client/events.ts';
import type { Clock } from '../../system/clock.ts';

export type Entry = {
  /** Time in milliseconds of the monotonic clock. */
  at: number;
  event: SmtpEvent;
};

/** The entries of the sessions that a claim was sent in, oldest first. It is plain data, and grows while the claim is sent. */
export type Conversation = Entry[];

/**
 * Maximum number of entries of a conversation. A transaction with 50 recipients whose server takes one command at a time has 110; a server
 * that offers many addresses, each of which fails in several ways, has more.
 */
const MAX_ENTRIES = 200;
/** Number of entries from the beginning that stay when there are more. */
const FIRST_ENTRIES = 60;

/** Maximum length of a reply that is recorded, in characters over all its lines: each claim in flight has its entries in memory. */
const MAX_REPLY_CHARACTERS = 2_048;

/** The part of a claim that is recorded. */
export type Recorded = {
  /** The key of the site that the claim goes to. */
  site: string;
  message: { id: string; tenantId: string };
  conversation: Conversation;
};

/** Sees each entry at once, while it is watched (trace.ts). */
type Trace = { readonly isWatched: boolean; show(claim: Recorded, entry: Entry): void };
type RecordingApp = { clock: Pick<Clock, 'elapsed'>; trace: Trace };

/** Returns the observer that adds the events of a session to the conversation of the claim. */
export function recordIn({ clock, trace }: RecordingApp, claim: Recorded): SmtpObserver {
  const { conversation } = claim;
  return (event) => {
    const entry = { at: clock.elapsed(), event: shortened(event) };
    if (conversation.length >= MAX_ENTRIES) conversation.splice(FIRST_ENTRIES, 1);
    conversation.push(entry);
    if (trace.isWatched) trace.show(claim, entry);
  };
}

/** Returns the event with the beginning of its reply when that is a long one, in memory of its own. */
function shortened(event: SmtpEvent): SmtpEvent {
  if (event.kind !== 'received') return event;
  const { reply } = event;
  let left = MAX_REPLY_CHARACTERS;
  for (const { length } of reply.lines) left -= length;
  if (left >= 0) return event;
  const beginning = reply.lines.join('\n').slice(0, MAX_REPLY_CHARACTERS);
  // A slice alone would keep the whole text in memory.
  return { ...event, reply: { ...reply, lines: Buffer.from(beginning).toString().split('\n') } };
}

/** Returns how the last session of a conversation was opened: its entries from the dial on. */
export function lastOpening(conversation: Conversation): Conversation {
  return conversation.slice(Math.max(0, startOfSession(conversation)));
}

/** Returns the time at which the session of the last entry began to connect. */
export function connectedAt(conversation: Conversation): number | undefined {
  return conversation[startOfSession(conversation)]?.at;
}

function startOfSession(conversation: Conversation): number {
  return conversation.findLastIndex(({ event }) => event.kind === 'connecting');
}
