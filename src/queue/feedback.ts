/**
 * Stores what comes back after a delivery: bounces that arrive by mail, and complaints of readers. Anybody can send such mail, so
 * that each counts only under conditions: the address is one that this installation made, the recipient is one of that email and
 * was delivered to, and has no verdict yet. A refusal that the receiving server gave at once is never overridden.
 */
import type { App } from '../app.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import type { RecipientRow } from '../db/tables.ts';
import { logFeedback } from '../events/mail-log.ts';
import type { Links } from '../links/links.ts';
import { addressKey } from '../mail/address.ts';
import { addressReadings, bareAddress, type Notice } from '../mail/dsn/notice.ts';
import type { HeaderField } from '../mail/message/lenient-header.ts';
import { DAY_MS } from '../system/clock.ts';
import { cleanForeignText } from '../system/foreign-text.ts';
import { evaluateBounce, suppressBounced, suppressRecipient } from './bounce.ts';
import { type ComplaintSource, findComplaintSource } from './complaint-source.ts';
import { type ExplainedNotice, explainNotice } from './outcome/notice.ts';
import { cleanReport } from './outcome/outcome.ts';
import type { Meaning } from './outcome/replies/meaning.ts';
import type { Replies } from './outcome/replies/replies.ts';
import type { ReplyTable } from './outcome/replies/table.ts';
import { type ReturnAddressKey, readFeedbackLoopAddress, readReturnAddress } from './return-path.ts';
import { type Change, changeRecipients } from './state/change.ts';
import type { Complaint, Transition } from './state/transition.ts';
import { findMessage, listRecipients, type SpooledMessage } from './store.ts';

/**
 * Maximum age of a bounce in days, from the day of the attempt. Servers retry for up to 5 days (RFC 5321 section 4.5.4.1) and
 * seldom longer; a token that leaks later is worth nothing.
 */
const MAX_BOUNCE_AGE_DAYS = 14;

/**
 * Types of feedback reports that are complaints (RFC 5965 section 7.3). `not-spam` is the opposite, and the others do not say that
 * the reader wants no more mail.
 */
const COMPLAINT_TYPES: ReadonlySet<string> = new Set(['abuse', 'fraud', 'virus']);

/** The result for one bounce or complaint. `waiting`: a recipient is still in flight, so that it must be stored later, once more. */
export type FeedbackResult =
  | { kind: 'stored' }
  | { kind: 'waiting' }
  | { kind: 'ignored'; reason: IgnoredReason };

/** The condition that feedback fails. */
type IgnoredReason = 'sender' | 'address' | 'age' | 'token' | 'email' | 'recipient' | 'type' | 'unsigned';

type FeedbackApp = App & {
  returnAddressKey: ReturnAddressKey;
  replies: Replies;
};
/** A bounce that arrived by mail. */
export type ReturnedBounce = {
  /** Envelope sender of the mail. */
  sender: string;
  /** Local part of the address that it arrived at. */
  localPart: string;
  /** Time of its arrival, in Unix milliseconds. */
  arrivedAt: number;
  notices: readonly Notice[];
};

/** Stores a bounce, unless it fails a condition. */
export async function storeBounce(
  app: FeedbackApp,
  { sender, localPart, arrivedAt, notices }: ReturnedBounce,
): Promise<FeedbackResult> {
  // Reports of delivery have the null sender (RFC 5321 section 4.5.5). Whatever has another one may be an answer of a person.
  if (sender !== '') return { kind: 'ignored', reason: 'sender' };
  const address = readReturnAddress(app.returnAddressKey, localPart);
  if (address?.kind !== 'bounce') return { kind: 'ignored', reason: 'address' };
  if (!mayBounce(address, arrivedAt)) return { kind: 'ignored', reason: 'age' };
  const { table } = app.replies;
  const explained = notices.map((notice) => ({ notice, ...explain(table, notice) }));
  return finish(app, await app.db.commit(recordBounce, { emailId: address.emailId, arrivedAt, explained }));
}

/** Returns true while a bounce of the attempt is believed. `now` is the time of its arrival, in Unix milliseconds. */
export function mayBounce({ attemptedOn }: { attemptedOn: number }, now: number): boolean {
  return Math.floor((now - attemptedOn) / DAY_MS) <= MAX_BOUNCE_AGE_DAYS;
}

/** A complaint that arrived by mail. */
export type ReturnedComplaint = {
  localPart: string;
  arrivedAt: number;
  /** True when a signature of the domain in `From` covers the mail (RFC 9477 section 3.5). */
  isSigned: boolean;
  feedbackType: string;
  userAgent: string | null;
  /** Addresses of `Original-Rcpt-To`, as the report has them. */
  originalRecipients: readonly string[];
  /** Fields of the report and of the message that it returns. */
  fields: readonly HeaderField[];
};

/** Stores a complaint, unless it fails a condition. */
export async function storeComplaint(
  app: FeedbackApp & { links: Links },
  { localPart, arrivedAt, isSigned, feedbackType, userAgent, originalRecipients, fields }: ReturnedComplaint,
): Promise<FeedbackResult> {
  const address = readReturnAddress(app.returnAddressKey, localPart);
  const isRegistered = readFeedbackLoopAddress(app.returnAddressKey, localPart) !== undefined;
  if (address?.kind !== 'complaint' && !isRegistered) return { kind: 'ignored', reason: 'address' };
  if (!isSigned) return { kind: 'ignored', reason: 'unsigned' };
  if (!COMPLAINT_TYPES.has(feedbackType)) return { kind: 'ignored', reason: 'type' };
  const content = { fields, originalRecipients };
  const source = findComplaintSource(app, address?.kind === 'complaint' ? address : undefined, content);
  if (!source) return { kind: 'ignored', reason: 'token' };
  const cleaned = userAgent === null ? null : cleanForeignText(userAgent);
  const complaint = { feedbackType, userAgent: cleaned, arrivedAt };
  const meaning = app.replies.table.explainFact('complaint');
  const input = { source, complaint, originalRecipients, meaning };
  return finish(app, await app.db.commit(recordComplaint, input));
}

/** The result of a write, with the lines that it adds to the mail log. */
type Stored = FeedbackResult & { lines: readonly Parameters<typeof logFeedback>[1][] };

function finish(app: FeedbackApp, { lines, ...result }: Stored): FeedbackResult {
  for (const line of lines) logFeedback(app, line);
  return result;
}

/** A notice with what it means, which is found before the write. */
type Explained = ExplainedNotice & { notice: Notice };
type BounceInput = { emailId: string; arrivedAt: number; explained: readonly Explained[] };

function explain(table: ReplyTable, notice: Notice): ExplainedNotice {
  const [address = ''] = addressesOf(notice);
  const { report, meaning } = explainNotice(table, notice, address.slice(address.lastIndexOf('@') + 1));
  return { report: cleanReport(report), meaning };
}

/** Stores the verdicts of a bounce with their events, their counters and the suppressions that follow. */
const recordBounce = defineWrite(
  'queue.bounce',
  async (tx, { emailId, arrivedAt, explained }: BounceInput): Promise<Stored> => {
    const found = await findMail(tx, emailId);
    if (!found) return { kind: 'ignored', reason: 'email', lines: [] };
    const named = new Map<RecipientRow, Attributed>();
    for (const notice of explained) {
      const attributed = attribute(found.recipients, notice);
      if (attributed && isStronger(notice.notice, named.get(attributed.recipient)?.notice))
        named.set(attributed.recipient, attributed);
    }
    const changes: LaterChange[] = [];
    for (const attributed of named.values()) {
      const transition = await transitionOf(tx, { message: found.message, now: arrivedAt }, attributed);
      if (transition) changes.push({ recipient: attributed.recipient, transition });
    }
    return store(tx, found, { now: arrivedAt, changes });
  },
);

type ComplaintInput = {
  meaning: Meaning;
  source: ComplaintSource;
  complaint: Complaint;
  originalRecipients: readonly string[];
};

/** Stores a complaint with its event, its counters and the suppression. */
const recordComplaint = defineWrite(
  'queue.complaint',
  async (tx, { source, complaint, originalRecipients, meaning }: ComplaintInput): Promise<Stored> => {
    const found = await findMail(tx, source.emailId);
    if (!found) return { kind: 'ignored', reason: 'email', lines: [] };
    const recipient = complainerOf(found, source, originalRecipients);
    if (!recipient) return { kind: 'ignored', reason: 'recipient', lines: [] };
    const transition = { cause: 'complained', complaint, meaning } as const;
    return store(tx, found, { now: complaint.arrivedAt, changes: [{ recipient, transition }] });
  },
);

type FoundMail = { message: SpooledMessage; recipients: RecipientRow[] };

/** Returns an email with its recipients. Test mail is never sent, so that nothing can come back for it. */
async function findMail(tx: Tx, emailId: string): Promise<FoundMail | undefined> {
  const message = await findMessage(tx, emailId);
  if (message?.mode !== 'live') return undefined;
  return { message, recipients: await listRecipients(tx, emailId) };
}

/** The address that the sender gave comes first: mail that was forwarded fails at another address. */
function addressesOf({ originalRecipient, finalRecipient }: Notice): string[] {
  return [originalRecipient, finalRecipient].flatMap((address) =>
    address === null ? [] : addressReadings(address),
  );
}

function recipientOf(
  recipients: readonly RecipientRow[],
  readings: readonly string[],
): RecipientRow | undefined {
  const keys = new Map(recipients.map((recipient) => [addressKey(recipient.address), recipient]));
  return readings.map((reading) => keys.get(reading)).find((recipient) => recipient !== undefined);
}

/** A notice with the recipient that it is about. */
type Attributed = Explained & { recipient: RecipientRow };

/**
 * Returns the recipient of a notice: the one that it names. A text that names none, or an address that the mail was forwarded to, is
 * about the only recipient of the email, since its return path is authentic. What is said about another address proves nothing about
 * this one, which then is not suppressed.
 */
function attribute(recipients: readonly RecipientRow[], explained: Explained): Attributed | undefined {
  const { notice, meaning } = explained;
  const named = recipientOf(recipients, addressesOf(notice));
  if (named) return { ...explained, recipient: named };
  const [only] = recipients;
  return notice.form === 'text' && only && recipients.length === 1
    ? { ...explained, recipient: only, meaning: { ...meaning, suppresses: 'never' } }
    : undefined;
}

/** A failure counts more than a delay of the same recipient. */
function isStronger(notice: Notice, than: Notice | undefined): boolean {
  return than === undefined || (than.action !== 'failed' && notice.action === 'failed');
}

/**
 * Returns the recipient who complains: the one that a token was made for, one that the link to unsubscribe or the report names, or
 * the only recipient. Reports hide addresses, so that a complaint about mail to several recipients may name none of them.
 */
function complainerOf(
  { message, recipients }: FoundMail,
  { position, reader, needsReader }: ComplaintSource,
  originalRecipients: readonly string[],
): RecipientRow | undefined {
  if (position !== undefined) return recipients.find((recipient) => recipient.position === position);
  const isOfTenant = reader !== undefined && reader.tenantId === message.tenantId;
  const linked = isOfTenant ? recipientOf(recipients, [addressKey(reader.address)]) : undefined;
  if (linked || (needsReader && reader)) return linked;
  const addresses = originalRecipients.flatMap((text) => bareAddress(text) ?? []);
  const named = recipientOf(recipients, addresses.flatMap(addressReadings));
  if (needsReader) return named;
  return named ?? (recipients.length === 1 ? recipients[0] : undefined);
}

/** A change that comes after the delivery. */
type LaterChange = Change & {
  transition: Extract<Transition, { cause: 'bounced-later' | 'delayed-later' | 'complained' }>;
};

/** Returns what a notice changes. Reports of success change nothing: no mail asks for them. */
async function transitionOf(
  tx: Tx,
  { message, now }: { message: SpooledMessage; now: number },
  { recipient, notice, report, meaning }: Attributed,
): Promise<LaterChange['transition'] | undefined> {
  switch (notice.action) {
    case 'failed': {
      // Only a recipient without a verdict gets one (`store`), and only such a bounce is evidence.
      if (recipient.state !== 'delivered')
        return { cause: 'bounced-later', report, meaning, bounce: 'undetermined' };
      const bounce = await evaluateBounce(tx, message, { recipient, report, meaning, now });
      return { cause: 'bounced-later', report, meaning, bounce };
    }
    case 'delayed': {
      const diagnostic = cleanForeignText(notice.diagnosticCode ?? notice.status ?? 'Delayed');
      return { cause: 'delayed-later', diagnostic, willRetryUntil: notice.willRetryUntil, meaning };
    }
    case 'delivered':
    case 'relayed':
    case 'expanded':
      return undefined;
  }
}

/** Stores the changes of recipients that were delivered to. Others have a verdict, or will get one from their attempt. */
async function store(
  tx: Tx,
  { message, recipients }: FoundMail,
  { now, changes: wanted }: { now: number; changes: readonly LaterChange[] },
): Promise<Stored> {
  const changes = wanted.filter(({ recipient }) => recipient.state === 'delivered');
  const isWaiting = wanted.some(({ recipient }) => recipient.state === 'in_flight');
  if (changes.length === 0 && !isWaiting) return { kind: 'ignored', reason: 'recipient', lines: [] };
  if (changes.length > 0) await changeRecipients(tx, { message, recipients, others: [] }, { now, changes });
  for (const change of changes) await suppress(tx, message, { ...change, now });
  return { kind: isWaiting ? 'waiting' : 'stored', lines: changes.map((change) => lineOf(message, change)) };
}

async function suppress(
  tx: Tx,
  message: SpooledMessage,
  { recipient, transition, now }: Change & { now: number },
): Promise<void> {
  await suppressBounced(tx, message, { recipient, transition, now });
  if (transition.cause === 'complained') {
    const { feedbackType, userAgent } = transition.complaint;
    const diagnostic = `Feedback report: ${feedbackType}${userAgent === null ? '' : ` (${userAgent})`}`;
    await suppressRecipient(tx, message, { recipient, reason: 'complaint', diagnostic, now });
  }
}

function lineOf(
  { id: emailId, tenantId, mode }: SpooledMessage,
  { recipient, transition }: LaterChange,
): Stored['lines'][number] {
  const mail = { emailId, tenantId, mode, to: recipient.address };
  switch (transition.cause) {
    case 'complained':
      return { kind: 'complained', ...mail, feedbackType: transition.complaint.feedbackType };
    case 'delayed-later':
      return { kind: 'delayed', ...mail, diagnostic: transition.diagnostic };
    case 'bounced-later': {
      const { smtpCode: code, enhancedCode, text: diagnostic } = transition.report;
      return { kind: 'bounced', ...mail, code, enhancedCode, diagnostic };
    }
  }
}
