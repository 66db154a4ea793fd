/** Judges what arrived at the far end of a daemon that was killed again and again. Pure: facts in, verdict out. */

/** One message as the sink took it. */
export type Receipt = {
  recipient: string;
  messageId: string;
  bytes: Buffer;
  /** Which start of the daemon sent it, counted from 0. */
  life: number;
  atMs: number;
};

export type KillFacts = {
  /** Recipients of emails that were acknowledged. */
  acknowledged: readonly string[];
  /** Recipients of all requests ever made. */
  submitted: ReadonlySet<string>;
  receipts: readonly Receipt[];
  /** When each life ended, by its number. */
  endOfLifeMs: readonly number[];
};

export type KillJudgement = {
  /** Acknowledged and never arrived. */
  lost: string[];
  /** Arrived again after a kill that hit them between their dot and the record of it. */
  duplicates: number;
  /** Arrived again without such a kill: twice in one life, or settled long before it ended. */
  unexplained: string[];
  /** Arrived again with other bytes or another Message-ID, so that a receiver cannot tell it is the same. */
  changed: string[];
  /** Nobody ever asked for them. */
  strangers: string[];
};

/** The record of a delivery is one commit away from the reply; a life that lasted this much longer had made it. */
const SETTLED_AFTER_MS = 2_000;

export function judgeKills(facts: KillFacts): KillJudgement {
  const byRecipient = Map.groupBy(facts.receipts, (receipt) => receipt.recipient);
  const verdict: KillJudgement = {
    lost: facts.acknowledged.filter((recipient) => !byRecipient.has(recipient)),
    duplicates: 0,
    unexplained: [],
    changed: [],
    strangers: [...byRecipient.keys()].filter((recipient) => !facts.submitted.has(recipient)),
  };
  for (const [recipient, receipts] of byRecipient) {
    for (const [index, receipt] of receipts.entries()) {
      const earlier = receipts[index - 1];
      if (earlier === undefined) continue;
      if (isExplained(earlier, receipt, facts.endOfLifeMs)) verdict.duplicates += 1;
      else verdict.unexplained.push(recipient);
      if (!isSame(earlier, receipt)) verdict.changed.push(recipient);
    }
  }
  return verdict;
}

function isExplained(earlier: Receipt, later: Receipt, endOfLifeMs: readonly number[]): boolean {
  const end = endOfLifeMs[earlier.life];
  return later.life > earlier.life && end !== undefined && end - earlier.atMs < SETTLED_AFTER_MS;
}

function isSame(one: Receipt, other: Receipt): boolean {
  return one.messageId !== '' && one.messageId === other.messageId && one.bytes.equals(other.bytes);
}
