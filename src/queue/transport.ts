/**
 * The way in which a session sends its claims: over SMTP (smtp-transport.ts), to this installation itself
 * (local-transport.ts), or nowhere, because the outcome is known (decided-transport.ts).
 */
import type { RecipientRow } from '../db/tables.ts';
import type { Claim } from './claim.ts';
import type { Connection } from './connection.ts';
import { type Outcome, type Verdict, verdictForAll } from './outcome/outcome.ts';

/** The result of an attempt. Each recipient of the claim has a verdict or is put back, unless all are released. */
export type Attempt =
  | {
      kind: 'evaluated';
      verdicts: ReadonlyMap<RecipientRow['id'], Verdict>;
      /** The claim without the recipients that have a verdict, for another session. */
      undecided: Claim | undefined;
      /** Header fields that were sent before the stored message; null when nothing was sent. */
      signature: string | null;
      /** Time of the transaction in milliseconds; null when the attempt ended before there was one. */
      transactionMs: number | null;
    }
  /** The daemon stops before anything was sent. The dispatcher releases the recipients in one write. */
  | { kind: 'released' };

export type Evaluated = Extract<Attempt, { kind: 'evaluated' }>;

/** Resolves when the end of a message may be sent; undefined when it may be sent at once. */
export type MayEnd = () => Promise<unknown> | undefined;

export type Transport = {
  /** Null while there is none. A transport without hosts never has one. */
  readonly connection: Connection | null;
  /** True while a message can be sent without connecting first. */
  readonly isConnected: boolean;
  /** True when the peer refused the last connection or broke it off. */
  readonly isLost: boolean;
  /** Time in milliseconds that the session may wait for more mail. */
  readonly idleMs: number;
  /** Makes the transport ready for the claim. Returns what becomes of the claim when that is not possible. */
  open(claim: Claim): Promise<Evaluated | undefined>;
  /**
   * Sends the claim. The transport has been opened for it. `onReady` is called when the session can begin the next
   * claim before this one has ended. `mayEnd` resolves when the end of the message may be sent.
   */
  transact(claim: Claim, onReady: () => void, mayEnd?: MayEnd): Promise<Attempt>;
  /** Ends a connection that has carried its maximum number of messages. */
  closeWhenFull(): Promise<void>;
  /** Ends what is open. The session has settled all claims. */
  close(): Promise<void>;
  /** Ends the connection at once, also in the middle of a message, because the operator says so. */
  cut(): void;
};

/** Returns the attempt of a claim whose outcome is known without sending anything. */
export function notSent(claim: Claim, outcome: Outcome): Evaluated {
  const verdicts = verdictForAll(claim, outcome);
  return { kind: 'evaluated', verdicts, undecided: undefined, signature: null, transactionMs: null };
}

/**
 * Maximum number of sessions that take a delivery before a failure counts as its outcome. It exceeds the number of
 * addresses of a site (mail/mx.ts).
 */
export const MAX_TRIES = 8;

/** Returns the attempt of a claim that another session is to try. */
export function putBack(claim: Claim): Evaluated {
  const undecided = { ...claim, tries: claim.tries + 1 };
  return { kind: 'evaluated', verdicts: new Map(), undecided, signature: null, transactionMs: null };
}
