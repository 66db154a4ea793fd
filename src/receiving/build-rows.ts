/**
 * Builds the rows of a received message. A message to recipients of several tenants becomes one row for each of them, so
 * that no tenant sees the recipients of another.
 */

import { isIPv6 } from 'node:net';
import type { App } from '../app.ts';
import type {
  ReceivedMessageRow,
  ReceivedRecipientKind,
  ReceivedRecipientRow,
  ReceivedTaskKind,
} from '../db/inbound-tables.ts';
import { findEmailHead } from '../emails/store.ts';
import { type ReceivedRows, shortResults } from '../inbound/received-rows.ts';
import { deliveredWhenAccepted } from '../inbound/sender-reports.ts';
import type { NewTask } from '../inbound/tasks/store.ts';
import { addressForSql, parseMailbox } from '../mail/address.ts';
import { formatLocalResultsField, formatResultsField } from '../mail/auth/results-field.ts';
import { decodeWords } from '../mail/message/decode-words.ts';
import { formatDate } from '../mail/message/headers.ts';
import { wantsNotification } from '../mail/smtp/dsn-parameters.ts';
import type { SmtpClient } from '../mail/smtp/server/session.ts';
import { isHostName } from '../system/dns.ts';
import { isId, newId } from '../system/ids.ts';
import type { ReceivedContent } from './content.ts';
import type { Evaluation, ReceivedEnvelope } from './envelope.ts';
import type { AcceptedRecipient } from './recipient.ts';
import type { SpamVerdict } from './spam.ts';

type Trace = {
  /** The client that sent the message; undefined for mail of this installation itself. */
  client: Pick<SmtpClient, 'address' | 'helo' | 'protocol' | 'tls'> | undefined;
  hostname: string;
  id: string;
  sender: string;
  /** The only recipient. Undefined when there are several, because some of them may be blind copies. */
  recipient: string | undefined;
  /** Name that DNS confirms for the address of the client; undefined when it confirms none. */
  confirmedName: string | undefined;
  /** Authentication-Results field with its CRLF. */
  results: string;
  now: number;
};

type Build = {
  envelope: ReceivedEnvelope;
  content: ReceivedContent;
  evaluation: Evaluation;
  spam: SpamVerdict;
  now: number;
};

/** The task of each kind of recipients. Mail to the postmaster is only stored unless the operator has set an address for it. */
const TASK_KINDS: Readonly<Record<ReceivedRecipientKind, ReceivedTaskKind | undefined>> = {
  post: 'post',
  mailbox: 'mailbox',
  bounce: 'bounce',
  complaint: 'complaint',
  report: 'report',
  unsubscribe: 'unsubscribe',
  postmaster: 'forward',
  srs: 'forward',
};

/** Maximum length of a subject and of a Message-ID that are stored. The message itself has all of it. */
const MAX_FIELD_CHARACTERS = 998;
/** Maximum number of our own Message-IDs that are looked up. The first ones are those of the latest messages. */
const MAX_ANSWERED_EMAILS = 5;

/** Returns the rows, one group for each tenant. */
export async function buildRows(app: Pick<App, 'config' | 'db'>, build: Build): Promise<ReceivedRows[]> {
  const { envelope, content, now } = build;
  const groups = Map.groupBy(envelope.recipients, ({ tenantId }) => tenantId);
  const rows: ReceivedRows[] = [];
  for (const [tenantId, recipients] of groups) {
    const message = buildMessage(app, { ...build, tenantId, recipients });
    const stored = rowsOf(message, recipients);
    const tasks = buildTasks(app, message, stored);
    message.emailId = await findAnswered(app, tenantId, content.fields);
    message.endedAt = tasks.length === 0 ? now : null;
    rows.push({
      message,
      tasks,
      reported:
        message.reportsDelivery === 1 ? deliveredWhenAccepted(stored, isPostmasterForwarded(app)) : [],
      results: shortResults(build.evaluation.result),
      recipients: stored,
    });
  }
  return rows;
}

type Group = Build & { tenantId: ReceivedMessageRow['tenantId']; recipients: readonly AcceptedRecipient[] };

function buildMessage(
  { config }: Pick<App, 'config'>,
  { envelope, content: { blob, fields }, evaluation, spam, now, tenantId, recipients }: Group,
): ReceivedMessageRow {
  const { hostname } = config;
  const { result } = evaluation;
  const { client, sender, requireTls, utf8 } = envelope;
  const id = newId('in', now);
  const author = authorOf(result, fields);
  const [only] = recipients;
  const trace = formatTrace({
    client,
    hostname,
    id,
    sender,
    recipient: envelope.recipients.length === 1 ? only?.address : undefined,
    confirmedName: result?.reverseDns.result === 'pass' ? result.reverseDns.name : undefined,
    results: result ? formatResultsField(hostname, result) : formatLocalResultsField(hostname, evaluation),
    now,
  });
  return {
    id,
    tenantId,
    blobId: blob.id,
    sizeBytes: blob.sizeBytes,
    sender,
    remoteAddress: client?.address ?? '',
    helo: client?.helo ?? null,
    tls: client?.tls?.version ?? null,
    requireTls: requireTls ? 1 : 0,
    utf8: utf8 ? 1 : 0,
    trace,
    auth: result && JSON.stringify(result),
    spamScore: spam.score,
    spamReasons: JSON.stringify(spam.reasons),
    flagged: spam.isFlagged ? 1 : 0,
    headerFrom: author === null ? null : addressForSql(author),
    subject: textOf(decodeWords(fields.get('subject') ?? '')),
    messageId: textOf(/<([^<>\s]+)>/.exec(fields.get('message-id') ?? '')?.[1] ?? ''),
    emailId: null,
    createdAt: now,
    endedAt: null,
    contentDeletedAt: null,
    isForRoute: recipients.some(isForRoute) ? 1 : 0,
    dsn: envelope.dsn ?? null,
    // Nobody is told about mail without a sender (RFC 3461 section 5.2).
    reportsDelivery: sender !== '' && recipients.some(wantsReport) ? 1 : 0,
  };
}

function wantsReport({ dsn }: AcceptedRecipient): boolean {
  return wantsNotification(dsn ?? null, 'SUCCESS');
}

/** Returns true when a route gets the mail of the recipient. */
function isForRoute({ targets }: AcceptedRecipient): boolean {
  return targets.some(({ kind }) => kind === 'post');
}

/** Returns the address of the author; null when the message names none, or several. */
function authorOf(result: Evaluation['result'], fields: ReceivedContent['fields']): string | null {
  if (!result) return parseMailbox(decodeWords(fields.get('from') ?? ''))?.address ?? null;
  const [address, ...more] = result.from.addresses;
  return address !== undefined && more.length === 0 ? address : null;
}

/** Returns the text that is stored; null when there is none. */
function textOf(text: string): string | null {
  // A lone surrogate cannot be stored as UTF-8.
  const trimmed = text.trim().slice(0, MAX_FIELD_CHARACTERS).toWellFormed();
  return trimmed === '' ? null : trimmed;
}

/** Returns a row for each target of each address, in the order of the envelope. */
function rowsOf(
  { id: messageId }: ReceivedMessageRow,
  recipients: readonly AcceptedRecipient[],
): ReceivedRecipientRow[] {
  const rows = recipients.flatMap(({ address, targets, dsn }) =>
    targets.map(({ kind, targetId }) => ({ messageId, address, kind, targetId, dsn: dsn ?? null })),
  );
  return rows.map((row, position) => ({ ...row, position }));
}

/** Returns one task for all recipients that ask for the same one: two addresses of a route make one post, and two of a mailbox one delivery. */
function buildTasks(
  { config }: Pick<App, 'config'>,
  message: ReceivedMessageRow,
  recipients: readonly ReceivedRecipientRow[],
): NewTask[] {
  const tasks = new Map<string, NewTask>();
  for (const { position, kind, targetId } of recipients) {
    const isOnlyStored = kind === 'postmaster' && !isPostmasterForwarded({ config });
    const taskKind = isOnlyStored ? undefined : TASK_KINDS[kind];
    // Mail to the postmasters of several domains goes to the same address.
    const key = kind === 'postmaster' ? kind : `${taskKind} ${targetId}`;
    if (taskKind === undefined || tasks.has(key)) continue;
    const { id: messageId, tenantId, createdAt } = message;
    const id = newId('tsk', createdAt);
    tasks.set(key, { id, messageId, position, tenantId, kind: taskKind, targetId, createdAt });
  }
  return [...tasks.values()];
}

function isPostmasterForwarded({ config }: Pick<App, 'config'>): boolean {
  return config.inbound.postmaster !== '';
}

/** Returns the tenant's email that the message answers, as its reply fields say (RFC 5322 section 3.6.4). */
async function findAnswered(
  { db }: Pick<App, 'db'>,
  tenantId: ReceivedMessageRow['tenantId'],
  fields: ReceivedContent['fields'],
): Promise<ReceivedMessageRow['emailId']> {
  if (tenantId === null) return null;
  // The message that is answered is the last one in References.
  const names = `${fields.get('references') ?? ''} ${fields.get('in-reply-to') ?? ''}`;
  if (!names.includes('<em_')) return null;
  const ids = new Set([...names.matchAll(/<(em_[0-9a-z]{26})@/g)].map(([, id = '']) => id).reverse());
  for (const id of [...ids].slice(0, MAX_ANSWERED_EMAILS)) {
    if (!isId('em', id)) continue;
    if (await findEmailHead(db.read, tenantId, { mode: 'live', domainId: null, id })) return id;
  }
  return null;
}

/** Returns Return-Path, Authentication-Results and Received, each with its CRLF, in the order in which they stand. */
function formatTrace(trace: Trace): string {
  return `Return-Path: <${trace.sender}>\r\n${trace.results}${formatReceived(trace)}`;
}

/** Formats the Received field (RFC 5321 section 4.4). The server accepts only names that need no quotes here. */
function formatReceived({ id, recipient, now, ...hop }: Trace): string {
  const purpose = recipient === undefined ? '' : ` for <${recipient}>`;
  const lines = [...hopLines(hop), `id ${id}${purpose}`];
  return `Received: ${lines.join('\r\n\t')};\r\n\t${formatDate(now)}\r\n`;
}

function hopLines({
  client,
  hostname,
  confirmedName,
}: Pick<Trace, 'client' | 'hostname' | 'confirmedName'>): string[] {
  if (!client) return [`by ${hostname}`];
  const { helo, address, protocol, tls } = client;
  const literal = isIPv6(address) ? `[IPv6:${address}]` : `[${address}]`;
  const security = tls ? ` (${tls.version} ${tls.cipher})` : '';
  const name = confirmedName !== undefined && isHostName(confirmedName) ? `${confirmedName} ` : '';
  return [`from ${helo ?? literal} (${name}${literal})`, `by ${hostname} with ${protocol}${security}`];
}
