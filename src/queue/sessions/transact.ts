/** Sends a claim in an open session, and evaluates the server's reply for each recipient. */

import type { RecipientRow } from '../../db/tables.ts';
import type { SmtpPhase } from '../../mail/smtp/client/failure.ts';
import type { LoginSecrets } from '../../mail/smtp/client/login.ts';
import type { RecipientResult, Transaction, TransactionResult } from '../../mail/smtp/client/transaction.ts';
import { type BrokenOff, type Claim, DELIVERY_DEADLINE_MS } from '../claim.ts';
import { recordIn } from '../conversation/record.ts';
import type { DeliveryApp } from '../delivery-app.ts';
import { evaluateResult } from '../outcome/evaluate.ts';
import { explainReport } from '../outcome/explain.ts';
import { type Outcome, type Peer, reportReply, type Verdict } from '../outcome/outcome.ts';
import { evaluateRelayResult } from '../outcome/relay.ts';
import type { Replies } from '../outcome/replies/replies.ts';
import { type Evaluated, MAX_TRIES, type MayEnd } from '../transport.ts';
import type { OpenSession } from './connect.ts';
import { crashOn } from './connect.ts';
import { mayCarry, passesRequireTls } from './requirements.ts';

export type Transacted = Omit<Evaluated, 'kind' | 'transactionMs'> & {
  /**
   * The outcome of a peer that broke off in the middle of this delivery. Another host of the site is then the better
   * choice; where there is none, this is the outcome.
   */
  brokeOff: Outcome | undefined;
};

type Transacting = {
  claim: Claim;
  /** True when this is the first message of the session. */
  isFirst: boolean;
  /** Is called when the session can take the next message, at the latest when this one ends. */
  onReady: () => void;
  /** Resolves when the final dot may be sent; the dot waits for nothing when it is undefined. */
  mayEnd?: MayEnd | undefined;
  /**
   * Returns true while connections are scarce: a delivery that a peer broke off is then not tried at once in another
   * session.
   */
  isPressed: () => boolean;
};

/**
 * Sends the claim and returns the verdicts. The recipients without one go to another session, because the peer has not
 * received the whole message. The session is closed when the claim reaches its deadline.
 */
export async function transact(
  app: DeliveryApp,
  session: OpenSession,
  { claim, isFirst, onReady, mayEnd, isPressed }: Transacting,
): Promise<Transacted> {
  const { smtp } = session;
  if (!mayCarry(session, claim)) throw new Error('the session may not carry mail with such requirements');
  const { signature, secondSignature, content, returnPath } = await app.prepare(claim);
  const transaction: Transaction = smtp.transact({
    mailFrom: returnPath,
    recipients: claim.recipients.map((recipient) => recipient.address),
    prefix: Buffer.from(secondSignature + signature, 'latin1'),
    message: content,
    requireTls: passesRequireTls(session, claim),
    utf8: claim.message.utf8 === 1,
    dsn: { message: claim.message.dsn, recipients: claim.recipients.map(({ dsn }) => dsn) },
    onPhase: crashOn(app),
    observer: recordIn(app, claim),
    mayEnd,
  });
  void transaction.ready.then(onReady);
  const timeLeftMs = claim.claimedAt + DELIVERY_DEADLINE_MS - app.clock.elapsed();
  const timer = app.clock.after(timeLeftMs, () => smtp.close());
  const result = await transaction.result.finally(() => timer.cancel());
  const mayTryAgain = !result.usable && claim.tries < MAX_TRIES && !isPressed();
  const notifiesSender = smtp.extensions.has('DSN');
  return {
    signature,
    ...evaluateAll(app.replies, { claim, session }, { ...result, isFirst, mayTryAgain, notifiesSender }),
  };
}

function evaluateAll(
  replies: Replies,
  { claim, session: { smtp, peer, relay } }: { claim: Claim; session: OpenSession },
  {
    recipients: results,
    usable,
    isFirst,
    mayTryAgain,
    notifiesSender,
  }: TransactionResult & { isFirst: boolean; mayTryAgain: boolean; notifiesSender: boolean },
): Omit<Transacted, 'signature'> {
  const evaluate = (result: RecipientResult) =>
    withSecrets((relay ? evaluateRelayResult : evaluateResult)(replies, peer, result), smtp.secrets);
  const verdicts = new Map<RecipientRow['id'], Verdict>();
  const undecided: RecipientRow[] = [];
  const hasTakenSome = results.some(isTaken);
  let isTryAgain = false;
  let brokeOff: Outcome | undefined;
  for (const [index, recipient] of claim.recipients.entries()) {
    const result = results[index];
    if (!result) throw new Error('the SMTP client gave fewer results than recipients');
    if (!usable && result.kind === 'failed' && !result.untried) brokeOff ??= evaluate(result);
    if (hasTakenSome && isTooMany(replies, peer, result)) {
      undecided.push(recipient);
    } else if (mayTryAgain && isUndecided(result, isFirst)) {
      undecided.push(recipient);
      isTryAgain = true;
    } else {
      verdicts.set(recipient.id, { outcome: evaluate(result), notifiesSender });
    }
  }
  if (undecided.length === 0) return { verdicts, undecided: undefined, brokeOff };
  // A transaction that has taken some of the recipients and postponed the others is progress, so it does not count as a try.
  const tries = isTryAgain ? claim.tries + 1 : claim.tries;
  const brokenOff = brokeOff ? brokenOffAt(claim, peer.address, brokeOff) : claim.brokenOff;
  return { verdicts, undecided: { ...claim, recipients: undecided, tries, brokenOff }, brokeOff };
}

/** Returns the outcome with the secrets that must not be shown of its reply. */
export function withSecrets(outcome: Outcome, secrets: LoginSecrets | undefined): Outcome {
  return secrets ? { ...outcome, report: { ...outcome.report, secrets } } : outcome;
}

/** Notes that a session with this address has ended in the middle of the delivery, which then goes elsewhere. */
export function brokenOffAt({ brokenOff }: Claim, address: string, outcome: Outcome): BrokenOff {
  return { outcome, addresses: [...(brokenOff?.addresses ?? []), address] };
}

/**
 * Returns true when another session may still deliver to this recipient. A host that limits the messages of one
 * connection answers the next MAIL with 421, and a new connection succeeds.
 */
function isUndecided(result: RecipientResult, isFirst: boolean): boolean {
  if (result.kind === 'failed') return !result.dotSent;
  return result.kind === 'refused' && result.phase === 'mail' && result.reply.code === 421 && !isFirst;
}

/** Returns true unless the server has refused the recipient itself, whatever became of the message. */
function isTaken(result: RecipientResult): boolean {
  return result.kind !== 'refused' || AFTER_RCPT.has(result.phase);
}

const AFTER_RCPT: ReadonlySet<SmtpPhase> = new Set(['data', 'body', 'dot']);

/**
 * Returns true when the server takes no more recipients in this transaction. The others follow in a transaction of their own (RFC 5321
 * section 4.5.3.1.10).
 */
function isTooMany(replies: Replies, peer: Peer, result: RecipientResult): boolean {
  if (result.kind !== 'refused' || result.phase !== 'rcpt') return false;
  return explainReport(replies.table, reportReply(peer, 'rcpt', result.reply)).class === 'too-many-rcpt';
}
