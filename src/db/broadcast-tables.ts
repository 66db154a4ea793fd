/**
 * The data dictionary, part of the sending of broadcasts, and of what contacts did with the copies. The conventions are those of
 * tables.ts. What a broadcast consists of is in `broadcasts`, together with its status (marketing-tables.ts).
 */
import {
  clusteredTable,
  count,
  id,
  integer,
  key,
  nullable,
  type Row,
  references,
  table,
  text,
} from './table.ts';

/** Written by ledger/run-store.ts: when, how fast and with what content a broadcast is sent. */
export const broadcastRuns = table({
  broadcastId: key(references('broadcasts', id('brd'))),
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
}).indexedBy({
  broadcastRunsByContent: '(contentId) WHERE endedAt IS NULL',
  broadcastRunsByDomain: '(domainId) WHERE endedAt IS NULL',
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
export const broadcastRecipients = clusteredTable({
  broadcastId: key(id('brd')),
  contactId: key(id('ct')),
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
}).indexedBy({
  broadcastRecipientsByState: '(broadcastId, state, contactId)',
});
export type BroadcastRecipientRow = Row<typeof broadcastRecipients>;

/** Written by ledger/store.ts: numbers of contacts in each state, whose sum is `recipients`, and of what happened to copies. */
export const broadcastCounts = clusteredTable({
  broadcastId: key(id('brd')),
  recipients: count(),
  waiting: count(),
  queued: count(),
  delivered: count(),
  bounced: count(),
  suppressed: count(),
  optedOut: count(),
  canceled: count(),
  failed: count(),
  /** Copies that have not been attempted. */
  untried: count(),
  /** Copies that were attempted at least once. */
  sent: count(),
  /** Bounces that suppress the address. */
  bouncedPermanently: count(),
  complained: count(),
  opened: count(),
  uniqueOpened: count(),
  clicked: count(),
  uniqueClicked: count(),
  unsubscribed: count(),
});
export type BroadcastCountsRow = Row<typeof broadcastCounts>;

/** Written by ledger/engagement/store.ts: one row for each copy that a person opened or clicked. Machines do not count. */
export const broadcastEngagements = clusteredTable({
  broadcastId: key(id('brd')),
  contactId: key(id('ct')),
  /** Time of the first open. Null when the reader clicked, but loaded no images. */
  openedAt: nullable(integer()),
  /** Time of the first click. */
  clickedAt: nullable(integer()),
  /** JSON list of the numbers of the links that the reader clicked. */
  links: text(),
});
export type BroadcastEngagementRow = Row<typeof broadcastEngagements>;

/** Written by ledger/engagement/store.ts: the clicks on one link of a broadcast. */
export const broadcastLinks = clusteredTable({
  broadcastId: key(id('brd')),
  /** Position of the link among the tracked links of the content. */
  number: key(integer()),
  /** Clicks by people. */
  clicks: integer(),
  /** Contacts who clicked. */
  uniqueClicks: integer(),
  machineClicks: integer(),
});
export type BroadcastLinkRow = Row<typeof broadcastLinks>;

/** Written by audiences/contacts/activity-store.ts: when a contact last received, opened and clicked a broadcast. */
export const contactActivity = clusteredTable({
  audienceId: key(id('aud')),
  contactId: key(id('ct')),
  deliveredAt: nullable(integer()),
  /** Time of the last open or click. A reader who clicked has seen the mail, even without its images. */
  openedAt: nullable(integer()),
  clickedAt: nullable(integer()),
});
export type ContactActivityRow = Row<typeof contactActivity>;
