/** Says what a change of a copy's recipient means for the ledger of its broadcast. */
import type { BroadcastCountsRow, LedgerState } from '../db/broadcast-tables.ts';
import type { RecipientRow } from '../db/tables.ts';

/** Columns of a recipient that the ledger follows. */
type CopyState = Pick<RecipientRow, 'state' | 'attempts'>;

/** Facts that the state of the recipient does not show. */
export type Change = {
  before: CopyState;
  after: CopyState;
  /** Why the copy was not sent; undefined unless it is suppressed now. */
  exclusion: { state: 'suppressed' | 'optedOut'; reason: string } | undefined;
  /** True when the change is a bounce that suppresses the address. */
  hasBouncedPermanently: boolean;
};

export type Counts = Omit<BroadcastCountsRow, 'broadcastId'>;

/**
 * Maximum number of copies of a broadcast that wait for their first attempt. A copy shows its contact as it was when the copy was
 * made, so more of them delay the effect of a change. With fewer, the copies for one slow destination can be all of them, and every
 * other reader waits for it.
 */
export const MAX_UNTRIED = 10_000;

/** Returns the state of the ledger row of a copy whose recipient has this state. */
export function ledgerStateOf({ state }: Pick<CopyState, 'state'>): LedgerState {
  switch (state) {
    case 'ready':
    case 'in_flight':
    case 'deferred':
    case 'held':
      return 'queued';
    case 'delivered':
    case 'complained':
      return 'delivered';
    case 'bounced':
    case 'suppressed':
    case 'canceled':
      return state;
  }
}

/** Returns the changes of the counts of a broadcast. */
export function countChanges({ before, after, exclusion, hasBouncedPermanently }: Change): Partial<Counts> {
  const from = ledgerStateOf(before);
  const to = exclusion?.state ?? ledgerStateOf(after);
  const isFirstAttempt = before.attempts === 0 && after.attempts > 0;
  const changes: Partial<Counts> = {};
  const add = (name: keyof Counts, by: number): void => {
    changes[name] = (changes[name] ?? 0) + by;
  };
  if (from !== to) {
    add(from, -1);
    add(to, 1);
  }
  if (isUntried(before) && !isUntried(after)) add('untried', -1);
  if (isFirstAttempt) add('sent', 1);
  if (hasBouncedPermanently) add('bouncedPermanently', 1);
  if (before.state !== 'complained' && after.state === 'complained') add('complained', 1);
  return changes;
}

function isUntried(copy: CopyState): boolean {
  return copy.attempts === 0 && ledgerStateOf(copy) === 'queued';
}

/**
 * Returns true when the run of a broadcast has something to do after these changes of its counts: the last copy was attempted,
 * another copy may be made, or the rates of bounces and complaints have changed while copies remain.
 */
export function concernsRun(changes: Partial<Counts>, { waiting, untried }: Counts): boolean {
  const before = untried - (changes.untried ?? 0);
  if (before > 0 && untried === 0) return true;
  if (before >= MAX_UNTRIED && untried < MAX_UNTRIED) return true;
  const hasWorsened = (changes.bouncedPermanently ?? 0) + (changes.complained ?? 0) > 0;
  return hasWorsened && waiting + untried > 0;
}
