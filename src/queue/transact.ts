/** A claimed delivery on an open session: sent, and each recipient judged by what the server said. */
import type { App } from '../app.ts';
import type { RecipientRow } from '../db/tables.ts';
import type { RecipientResult, Transaction, TransactionResult } from '../mail/smtp/client/transaction.ts';
import type { OpenSession } from './connect.ts';
import type { Attempt, Claimed } from './deliver.ts';
import { crashOn, judge } from './judge.ts';
import type { Outcome, Verdict } from './outcome.ts';

/** From the claim to the last reply; below the lease (claim.ts), so that a stuck peer never makes two deliveries. */
export const DELIVERY_DEADLINE_MS = 45 * 60_000;
/** Sessions a delivery may be handed to before a failure is its own. More than the addresses of a site (mail/mx.ts). */
const MAX_TRIES = 8;

export type Transacted = Attempt & {
  /** Recipients nobody has decided about, and for whom another session may: the peer has not had the whole message. */
  undecided: RecipientRow[];
  /**
   * The outcome of a peer that broke off in the middle of this delivery. Another host of the site is then the better
   * choice; where there is none, this is the outcome.
   */
  brokeOff: Outcome | undefined;
};

export type Turn = {
  /** Nothing was sent in this session before. */
  isFirst: boolean;
  /** Called when the session can take the next delivery, at the latest when this one ends. */
  onReady: () => void;
  /**
   * Returns true while connections are scarce: a delivery that a peer broke off is then not tried at once in another
   * session.
   */
  isPressed: () => boolean;
};

export async function transact(
  app: Pick<App, 'clock' | 'config' | 'crashPoint'>,
  { smtp, peer }: OpenSession,
  claimed: Claimed,
  { isFirst, onReady, isPressed }: Turn,
): Promise<Transacted> {
  const { signature, content, returnPath } = await claimed.prepare();
  const transaction: Transaction = smtp.transact({
    mailFrom: returnPath,
    recipients: claimed.recipients.map((recipient) => recipient.address),
    prefix: Buffer.from(signature, 'latin1'),
    message: content,
    onPhase: crashOn(app),
  });
  void transaction.ready.then(onReady);
  const timeLeftMs = claimed.claimedAt + DELIVERY_DEADLINE_MS - app.clock.elapsed();
  const timer = app.clock.after(timeLeftMs, () => smtp.close());
  const result = await transaction.result.finally(() => timer.cancel());
  const mayTryAgain = !result.usable && claimed.tries < MAX_TRIES && !isPressed();
  return { signature, ...judgeAll(claimed, peer, { ...result, isFirst, mayTryAgain }) };
}

function judgeAll(
  claimed: Claimed,
  peer: OpenSession['peer'],
  {
    recipients: results,
    usable,
    isFirst,
    mayTryAgain,
  }: TransactionResult & { isFirst: boolean; mayTryAgain: boolean },
): Omit<Transacted, 'signature'> {
  const verdicts = new Map<RecipientRow['id'], Verdict>();
  const undecided: RecipientRow[] = [];
  let brokeOff: Outcome | undefined;
  for (const [index, recipient] of claimed.recipients.entries()) {
    const result = results[index];
    if (!result) throw new Error('the SMTP client gave fewer results than recipients');
    if (!usable && result.kind === 'failed' && !result.untried) brokeOff ??= judge(peer, result);
    if (mayTryAgain && isUndecided(result, isFirst)) {
      undecided.push(recipient);
    } else {
      verdicts.set(recipient.id, { outcome: judge(peer, result) });
    }
  }
  return { verdicts, undecided, brokeOff };
}

/** A host that takes so many messages of a connection and no more says 421 to the next MAIL: a new connection will do. */
function isUndecided(result: RecipientResult, isFirst: boolean): boolean {
  if (result.kind === 'failed') return !result.dotSent;
  return result.kind === 'refused' && result.phase === 'mail' && result.reply.code === 421 && !isFirst;
}
