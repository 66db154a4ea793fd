/**
 * The data dictionary, part of the sending of broadcasts. The conventions are those of tables.ts. What a broadcast
 * consists of is in `broadcasts`, together with its status (marketing-tables.ts).
 */
import { id, integer, nullable, type Row, table, text } from './table.ts';

/** Written by ledger/run-store.ts: when, how fast and with what content a broadcast is sent. */
export const broadcastRuns = table({
  broadcastId: id('brd'),
  tenantId: id('ten'),
  mode: text<'live' | 'test'>(),
  /** Requested time of sending; null means at once. */
  scheduleAt: nullable(integer()),
  startedAt: nullable(integer()),
  /** Time at which the broadcast became `sent`, `canceled` or `failed`. */
  endedAt: nullable(integer()),
  /** Why a paused broadcast is paused; null otherwise. */
  pausedReason: nullable(text<'manual' | 'bounces' | 'complaints' | 'quota' | 'late' | 'domain'>()),
  /** Why a failed broadcast could not start; null otherwise. */
  failure: nullable(text()),
  /** JSON of the requested pace: `{ perHour }`, `{ perDay }` or `{ finishBy }`. Null means without a limit. */
  pace: nullable(text()),
  /** Earliest time of the next copy under the pace. */
  nextCopyAt: nullable(integer()),
  /** The frozen texts, which all copies share. Null until the broadcast starts, and once retention has removed them. */
  contentId: nullable(integer()),
  /** JSON of everything else that was frozen at the start. */
  frozen: nullable(text()),
  /** Id right after the newest contact at the start. Contacts that were created later receive nothing. */
  walkUntil: nullable(id('ct')),
  /** Last contact that the walk through the audience has written to the ledger. */
  walkAfter: nullable(id('ct')),
  /** Time at which the walk reached its end. */
  walkedAt: nullable(integer()),
  /** Domain of the sender, from the time when the broadcast is scheduled or started. Null for the sandbox domain. */
  domainId: nullable(id('dom')),
  /** JSON of the counts at the last resume, from which bounces and complaints are judged. Null before the first resume. */
  judgedFrom: nullable(text()),
  /** Contact after which the pass through the copies in the queue goes on that a resume or a cancel began; null when there is none. */
  passAfter: nullable(text()),
});
export type BroadcastRunRow = Row<typeof broadcastRuns>;

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
export const broadcastRecipients = table({
  broadcastId: id('brd'),
  contactId: id('ct'),
  tenantId: id('ten'),
  /** Address of the contact when it was written to the ledger, or when its copy was made. */
  address: text(),
  state: text<LedgerState>(),
  /** The copy; null until it is made. */
  emailId: nullable(id('em')),
  /** Why there is no copy, or why it was not delivered. */
  reason: nullable(text()),
  changedAt: integer(),
  /** JSON object of the values that the content uses. Null once the copy has them. */
  mergeValues: nullable(text()),
});
export type BroadcastRecipientRow = Row<typeof broadcastRecipients>;

/** Written by ledger/store.ts: numbers of contacts in each state, whose sum is `recipients`, and of what happened to copies. */
export const broadcastCounts = table({
  broadcastId: id('brd'),
  recipients: integer(),
  waiting: integer(),
  queued: integer(),
  delivered: integer(),
  bounced: integer(),
  suppressed: integer(),
  optedOut: integer(),
  canceled: integer(),
  failed: integer(),
  /** Copies that have not been attempted. */
  untried: integer(),
  /** Copies that were attempted at least once. */
  sent: integer(),
  /** Bounces that suppress the address. */
  bouncedPermanently: integer(),
  complained: integer(),
  opened: integer(),
  uniqueOpened: integer(),
  clicked: integer(),
  uniqueClicked: integer(),
  unsubscribed: integer(),
});
export type BroadcastCountsRow = Row<typeof broadcastCounts>;
