/** Judges what arrived at the far end of a daemon that went through a fault. Pure: facts in, verdict out. */

import { isInDoubt } from './doubt.ts';
import { expectedAttachments, mustArrive, SOON_MS, type Submission } from './submission.ts';

/** One message as the sink took it. */
export type Receipt = {
  recipient: string;
  /** Sender of the envelope, which is the return path of the email. */
  mailFrom: string;
  header: string;
  messageId: string;
  /** Of all its bytes. */
  sha256: string;
  /** Of each file it carries, sorted. */
  attachments: readonly string[];
  /** Which start of the daemon sent it, counted from 0. */
  life: number;
  atMs: number;
};

export type Facts = {
  acknowledged: readonly Submission[];
  /** All requests ever made, by their recipients. */
  submitted: ReadonlyMap<string, Submission>;
  receipts: readonly Receipt[];
  /** When each life ended, by its number. */
  endOfLifeMs: readonly number[];
};

/** Recipients, but for `duplicates`. */
export type Judgement = {
  /** Acknowledged, not called back, and never arrived. */
  lost: string[];
  /** How many arrived again after an end that hit them between their dot and the record of it. */
  duplicates: number;
  /** Arrived again without such an end: twice in one life, or settled long before it. */
  unexplained: string[];
  /** Arrived again with other bytes or another Message-ID, so that a receiver cannot tell it is the same. */
  changed: string[];
  /** Nobody ever asked for them. */
  strangers: string[];
  /** The daemon had said that it was canceled, and sent it. */
  uncanceled: string[];
  /** Arrived before the time it was scheduled for, by more than is taken for the same. */
  early: string[];
  /** A file it carries is not the one that was sent. */
  damaged: string[];
};

export function judge(facts: Facts): Judgement {
  const { submitted } = facts;
  const byRecipient = Map.groupBy(facts.receipts, (receipt) => receipt.recipient);
  const lost = facts.acknowledged.filter((one) => mustArrive(one) && !byRecipient.has(one.recipient));
  const recipientsOf = (is: (receipt: Receipt, submission: Submission) => boolean) =>
    facts.receipts
      .filter((receipt) => {
        const submission = submitted.get(receipt.recipient);
        return submission !== undefined && is(receipt, submission);
      })
      .map(({ recipient }) => recipient);
  return {
    lost: lost.map(({ recipient }) => recipient),
    ...judgeRepeats(byRecipient, facts.endOfLifeMs),
    strangers: [...byRecipient.keys()].filter((recipient) => !submitted.has(recipient)),
    uncanceled: recipientsOf((_, { cancellation }) => cancellation === 'confirmed'),
    early: recipientsOf(({ atMs }, { scheduledAtMs }) => atMs < (scheduledAtMs ?? 0) - SOON_MS),
    damaged: recipientsOf(
      ({ attachments }, submission) => attachments.join() !== expectedAttachments(submission).join(),
    ),
  };
}

type Repeats = Pick<Judgement, 'duplicates' | 'unexplained' | 'changed'>;

/** Judges what arrived more than once. Receipts of the same email stand together, under a name that the verdict lists. */
export function judgeRepeats(
  byName: ReadonlyMap<string, readonly Receipt[]>,
  endOfLifeMs: readonly number[],
): Repeats {
  const verdict: Repeats = { duplicates: 0, unexplained: [], changed: [] };
  for (const [name, receipts] of byName) {
    for (const [index, receipt] of receipts.entries()) {
      const earlier = receipts[index - 1];
      if (earlier === undefined) continue;
      if (isRepeat(earlier, receipt, endOfLifeMs)) verdict.duplicates += 1;
      else verdict.unexplained.push(name);
      if (!isSame(earlier, receipt)) verdict.changed.push(name);
    }
  }
  return verdict;
}

type Arrival = Pick<Receipt, 'life' | 'atMs'>;

/**
 * Returns true when the daemon ended soon after the earlier arrival and sent the same again in a later life. The life is that which sent
 * it: what a daemon has left in a socket can be read a moment after its end.
 */
export function isRepeat(earlier: Arrival, later: Arrival, endOfLifeMs: readonly number[]): boolean {
  const end = endOfLifeMs[earlier.life];
  return later.life > earlier.life && end !== undefined && isInDoubt(earlier.atMs, end);
}

function isSame(one: Receipt, other: Receipt): boolean {
  return one.messageId !== '' && one.messageId === other.messageId && one.sha256 === other.sha256;
}

/** Everything in it that must not be, in words. */
export function faultsOf(judgement: Judgement): string[] {
  const { duplicates: _, ...wrong } = judgement;
  return Object.entries(wrong).flatMap(([what, recipients]) =>
    recipients.length === 0 ? [] : [`${what}: ${recipients.length}, such as ${recipients[0]}`],
  );
}
