/**
 * The data dictionary, part of the sending of broadcasts. The conventions are those of tables.ts. What a broadcast
 * consists of is in `broadcasts`, together with its status (marketing-tables.ts).
 */
import type { Id } from '../system/ids.ts';

/** Written by broadcasts/runs/store.ts: when, how fast and with what content a broadcast is sent. */
export type BroadcastRunRow = {
  broadcastId: Id<'brd'>;
  tenantId: Id<'ten'>;
  mode: 'live' | 'test';
  /** Time of the next background work, or the end of its lease. Null while there is nothing to do. */
  dueAt: number | null;
  /** Requested time of sending; null means at once. */
  scheduleAt: number | null;
  startedAt: number | null;
  /** Time at which the broadcast became `sent`, `canceled` or `failed`. */
  endedAt: number | null;
  /** Why a paused broadcast is paused; null otherwise. */
  pausedReason: 'manual' | 'bounces' | 'complaints' | 'quota' | 'late' | 'domain' | null;
  /** Why a failed broadcast could not start; null otherwise. */
  failure: string | null;
  /** JSON of the requested pace: `{ perHour }`, `{ perDay }` or `{ finishBy }`. Null means without a limit. */
  pace: string | null;
  /** Earliest time of the next copy under the pace. */
  nextCopyAt: number | null;
  /** The frozen texts, which all copies share. Null until the broadcast starts, and once retention has removed them. */
  contentId: number | null;
  /** JSON of everything else that was frozen at the start. */
  frozen: string | null;
  /** Id right after the newest contact at the start. Contacts that were created later receive nothing. */
  walkUntil: Id<'ct'> | null;
  /** Last contact that the walk through the audience has written to the ledger. */
  walkAfter: Id<'ct'> | null;
  /** Time at which the walk reached its end. */
  walkedAt: number | null;
  /** Domain of the sender, from the time when the broadcast is scheduled or started. Null for the sandbox domain. */
  domainId: Id<'dom'> | null;
  /** JSON of the counts at the last resume, from which bounces and complaints are judged. Null before the first resume. */
  judgedFrom: string | null;
};

export type LedgerState =
  | 'waiting'
  | 'queued'
  | 'delivered'
  | 'bounced'
  | 'suppressed'
  | 'optedOut'
  | 'canceled'
  | 'failed';

/** Written by ledger/store.ts: one row for each contact of a broadcast. */
export type BroadcastRecipientRow = {
  broadcastId: Id<'brd'>;
  contactId: Id<'ct'>;
  tenantId: Id<'ten'>;
  /** Address of the contact when it was written to the ledger, or when its copy was made. */
  address: string;
  state: LedgerState;
  /** The copy; null until it is made. */
  emailId: Id<'em'> | null;
  /** Why there is no copy, or why it was not delivered. */
  reason: string | null;
  changedAt: number;
  /** JSON object of the values that the content uses. Null once the copy has them. */
  mergeValues: string | null;
};

/** Written by ledger/store.ts: numbers of contacts in each state, whose sum is `recipients`, and of what happened to copies. */
export type BroadcastCountsRow = {
  broadcastId: Id<'brd'>;
  recipients: number;
  waiting: number;
  queued: number;
  delivered: number;
  bounced: number;
  suppressed: number;
  optedOut: number;
  canceled: number;
  failed: number;
  /** Copies that have not been attempted. */
  untried: number;
  /** Copies that were attempted at least once. */
  sent: number;
  /** Bounces that suppress the address. */
  bouncedPermanently: number;
  complained: number;
  opened: number;
  uniqueOpened: number;
  clicked: number;
  uniqueClicked: number;
  unsubscribed: number;
};
