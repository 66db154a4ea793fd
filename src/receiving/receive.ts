/**
 * Receives a message, from its first byte to its row on disk, and returns the reply. An SMTP session hands messages over, and so does
 * the delivery engine with mail that stays on this machine.
 */

import { memoryOf } from '../blobs/blobs.ts';
import { discardOnRefusal } from '../blobs/discard-on-refusal.ts';
import type { ReceivedRecipientKind } from '../db/inbound-tables.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import type { BlobRow } from '../db/tables.ts';
import { logReceived } from '../events/mail-log.ts';
import { addressesOf, type ReceivedRows } from '../inbound/received-rows.ts';
import { maxBytesFor } from '../inbound/space.ts';
import { storedBytesOf } from '../inbound/store.ts';
import { addressKey } from '../mail/address.ts';
import type { AuthenticationResult } from '../mail/auth/result.ts';
import { evaluateMessage } from '../mail/auth/verdict.ts';
import { RefusedMessage } from '../mail/smtp/refused-message.ts';
import type { Reply } from '../mail/smtp/server/session.ts';
import { observe } from '../mail-reports/dmarc-reports/observe.ts';
import { reporterOf } from '../mail-reports/reports/work.ts';
import { refusalByScripts } from '../mailbox-delivery/scripts/refuse.ts';
import { addressSite } from '../system/address-block.ts';
import { acceptReceived } from './accept.ts';
import { buildRows } from './build-rows.ts';
import { readContent } from './content.ts';
import { type Evaluation, type ReceivedEnvelope, targetsOf } from './envelope.ts';
import type { InboundApp } from './inbound-app.ts';
import type { Target } from './recipient.ts';
import { evaluateSpam } from './spam.ts';

/** The decision on a whole message. */
type Decision =
  | { kind: 'accepted'; evaluation: Evaluation }
  | { kind: 'refused'; reply: Reply; result: AuthenticationResult };

type Authentication = {
  /** Takes the next piece of the message, whose lines end with CRLF. */
  write(piece: Uint8Array): void;
  /** Returns the decision on the whole message. It never rejects. */
  decide(): Promise<Decision>;
  abort(): void;
};

/**
 * Kinds of recipients whose address proves that the message is an answer to one of ours. The servers that send such mail often
 * fail DMARC, and some have no valid From field.
 */
const ANSWERS: ReadonlySet<ReceivedRecipientKind> = new Set(['bounce', 'complaint', 'unsubscribe', 'srs']);

/** X.7.0 is a problem of security (RFC 3463 section 3.8). */
const LATER: Reply = {
  code: 451,
  status: '4.7.0',
  text: 'The signature of the complaint cannot be verified now; try again later',
};

/** Stands for this installation in the log and among those who share memory. */
const LOCAL = 'local';
/**
 * The space was there when the recipients were named, and other messages have taken it since. X.2.2 is a full mailbox (RFC 3463
 * section 3.3).
 */
const NO_SPACE = { code: 452, status: '4.2.2', text: 'There is no space for the message any more' };

/**
 * Receives a message and returns the reply. A reply that accepts means that the message is on disk.
 * @throws AppError unavailable, when the message cannot be stored now; any error of `body`
 */
export async function receiveMessage(
  app: InboundApp,
  envelope: ReceivedEnvelope,
  body: AsyncIterable<Uint8Array>,
): Promise<Reply> {
  const memory = app.guards.memory.smtp.open(addressSite(envelope.client?.address ?? LOCAL));
  try {
    const authentication = beginAuthentication(app, envelope);
    const onPiece = (piece: Uint8Array) => authentication.write(piece);
    const maxBytes = maxBytesFor(targetsOf(envelope.recipients));
    const recipients = recipientKeys(envelope);
    const content = await readContent(app, body, { memory, recipients, maxBytes, onPiece }).catch((error) => {
      authentication.abort();
      throw error;
    });
    const readAt = app.clock.elapsed();
    const decision = limitSender(app, envelope, await authentication.decide());
    observeDecision(app, envelope, decision);
    if (decision.kind === 'refused') {
      await app.blobs.discard(content.blob);
      return decision.reply;
    }
    const { evaluation } = decision;
    const evaluated = await evaluateSpam(app, { envelope, content, evaluation });
    if (evaluated.kind === 'refused') {
      await app.blobs.discard(content.blob);
      return evaluated.reply;
    }
    const { spam } = evaluated;
    const groups = await discardOnRefusal(app.blobs, [content.blob], async () => {
      const { blob } = content;
      const rows = await buildRows(app, { envelope, content, evaluation, spam, now: app.clock.now() });
      await requireScripts(app, rows, blob);
      if (!(await app.db.commit(acceptReceived, { blob, groups: rows }, memoryOf(blob))))
        throw new RefusedMessage(NO_SPACE);
      return rows;
    });
    noteAccepted(app, groups);
    app.inboundMetrics.accepted(app.clock.elapsed() - readAt);
    return acceptedReply(app, envelope, groups);
  } catch (error) {
    if (error instanceof RefusedMessage) return error.reply;
    throw error;
  } finally {
    memory.release();
  }
}

/** Returns the keys of the recipients; undefined for mail that a mail server of this machine hands over (LMTP), which may say more. */
function recipientKeys({ client, evaluation, recipients }: ReceivedEnvelope): Set<string> | undefined {
  return client && evaluation ? undefined : new Set(addressesOf(recipients).map(addressKey));
}

/** Checks that a recipient's scripts take the message. @throws RefusedMessage */
async function requireScripts(app: InboundApp, rows: readonly ReceivedRows[], blob: BlobRow): Promise<void> {
  const { mailboxScripts } = app;
  const refusal = mailboxScripts && (await refusalByScripts({ ...app, ...mailboxScripts }, rows, blob));
  if (!refusal) return;
  await app.blobs.discard(blob);
  throw new RefusedMessage(refusal);
}

/** Counts the message for DMARC reports, which are about all mail, accepted or not (RFC 9990 section 3.1). */
function observeDecision(
  app: InboundApp,
  { evaluation, sender, recipients }: ReceivedEnvelope,
  decision: Decision,
): void {
  // Mail that was evaluated before was counted where it arrived.
  if (evaluation) return;
  const isRefused = decision.kind === 'refused';
  // A client that must try again is counted when it does.
  if (isRefused && decision.reply.code < 500) return;
  const result = isRefused ? decision.result : decision.evaluation.result;
  const isFlagged = !isRefused && decision.evaluation.isFlagged;
  if (result) observe(app, { result, sender, recipients: targetsOf(recipients), isRefused, isFlagged });
}

/** Refuses a message for which SPF passes when its sender's domain has sent too many. */
function limitSender(app: InboundApp, { client, sender }: ReceivedEnvelope, decision: Decision): Decision {
  if (!client || decision.kind === 'refused' || decision.evaluation.result === null) return decision;
  const { result } = decision.evaluation;
  const reply = app.senderRates.refuseProven({ address: client.address, sender }, result.spf);
  return reply ? { kind: 'refused', reply, result } : decision;
}

/** Counts the message among what its tenants store, and what waits for its mailboxes. */
function noteAccepted({ directory }: InboundApp, groups: readonly ReceivedRows[]): void {
  for (const { message, tasks } of groups) {
    if (message.tenantId !== null) directory.noteStored(message.tenantId, storedBytesOf(message));
    for (const task of tasks)
      if (task.kind === 'mailbox')
        directory.noteWaiting(task.targetId as MailboxRow['id'], message.sizeBytes);
  }
}

function acceptedReply(app: InboundApp, envelope: ReceivedEnvelope, groups: readonly ReceivedRows[]): Reply {
  const { client, sender: from } = envelope;
  for (const { message, recipients } of groups) {
    logReceived(app, {
      receivedId: message.id,
      tenantId: message.tenantId,
      from,
      to: addressesOf(recipients),
      client: client?.address ?? LOCAL,
      helo: message.helo,
      tls: message.tls,
      sizeBytes: message.sizeBytes,
      flagged: message.flagged === 1,
    });
  }
  return { code: 250, status: '2.0.0', text: `Ok: queued as ${groups[0]?.message.id}` };
}

/**
 * Begins to authenticate a message. The caller calls either `decide` or `abort` of what it returns. Mail out of the
 * queue of this installation, or from a mail server of this machine, is not authenticated again: it never left the
 * machine, and its evaluation comes with it.
 */
function beginAuthentication(
  { authenticator, config }: InboundApp,
  { client, evaluation, sender, recipients }: ReceivedEnvelope,
): Authentication {
  if (evaluation) return { write() {}, decide: async () => ({ kind: 'accepted', evaluation }), abort() {} };
  const { address, helo = '' } = client;
  const { hostname } = config;
  const running = authenticator.begin({ owner: addressSite(address), address, helo, sender, hostname });
  const targets = targetsOf(recipients);
  const isAnswer = targets.every(({ kind }) => ANSWERS.has(kind));
  return {
    write: (piece) => running.write(piece),
    async decide() {
      const result = await running.finish();
      if (isAnswer) return decideAnswer(result, targets);
      const decision = decide(result, {
        isNotification: sender === '',
        trustedSealers: config.inbound.trustedSealers,
      });
      const isReport = targets.some(({ kind }) => kind === 'report');
      return isReport && decision.kind === 'accepted' ? requireReporter(result, decision) : decision;
    },
    abort: () => running.abort(),
  };
}

function decide(result: AuthenticationResult, options: Parameters<typeof evaluateMessage>[1]): Decision {
  const verdict = evaluateMessage(result, options);
  switch (verdict.kind) {
    case 'accept':
      return { kind: 'accepted', evaluation: { result, isSubmitted: false, isFlagged: verdict.isFlagged } };
    case 'refuse':
    case 'defer': {
      const { code, status, text } = verdict;
      return { kind: 'refused', reply: { code, status, text }, result };
    }
  }
}

/** A complaint counts only when its reporter is proven, so a complaint that cannot be verified now must come again. */
function decideAnswer(result: AuthenticationResult, targets: readonly Target[]): Decision {
  const { dkim, dmarc } = result;
  const isComplaint = targets.some(({ kind }) => kind === 'complaint');
  const isProven = dkim.some(({ result: signature }) => signature === 'pass');
  const isOpen = [dmarc, ...dkim].some((outcome) => outcome.result === 'temperror');
  return isComplaint && isOpen && !isProven
    ? { kind: 'refused', reply: LATER, result }
    : { kind: 'accepted', evaluation: { result, isSubmitted: false, isFlagged: false } };
}

/** Anybody can find out the addresses for reports, so mail to them must say provably who sends it. */
function requireReporter(result: AuthenticationResult, decision: Decision): Decision {
  if (reporterOf(result) !== undefined) return decision;
  // X.7.0 is a problem of security, and X.7.1 a refusal by policy (RFC 3463 section 3.8).
  const isOpen = result.dkim.some(({ result: signature }) => signature === 'temperror');
  const text = 'Reports must pass DMARC, or have a DKIM signature that passes';
  const reply = isOpen ? { code: 451, status: '4.7.0', text } : { code: 550, status: '5.7.1', text };
  return { kind: 'refused', reply, result };
}
