/** Shows broadcasts as the API does, in its answers and in events. Threads of the database load it, so it loads no schemas. */
import { showApprovalState } from '../approvals/show.ts';
import type { ApprovalRow } from '../db/approval-tables.ts';
import type { BroadcastCountsRow, BroadcastRunRow } from '../db/broadcast-tables.ts';
import type { BroadcastRow } from '../db/marketing-tables.ts';
import { isoTime } from '../system/clock.ts';
import type { Pace } from './pace.ts';
import type { ShownBroadcast, ShownCounts, ShownSummary } from './schemas.ts';

/** Counts that callers see, in their order. */
const COUNT_NAMES = [
  'recipients',
  'waiting',
  'queued',
  'delivered',
  'bounced',
  'suppressed',
  'optedOut',
  'canceled',
  'failed',
  'sent',
  'complained',
  'opened',
  'uniqueOpened',
  'clicked',
  'uniqueClicked',
  'unsubscribed',
] as const satisfies readonly (keyof ShownCounts)[];
const NO_COUNTS = Object.fromEntries(COUNT_NAMES.map((name) => [name, 0])) as ShownCounts;

/** A broadcast with what its run and its ledger say. Null means that it was not planned, has not started, or has not asked for approval. */
type Progress = {
  run: Pick<
    BroadcastRunRow,
    'scheduleAt' | 'pace' | 'pausedReason' | 'failure' | 'startedAt' | 'endedAt'
  > | null;
  counts: BroadcastCountsRow | null;
  approval: ApprovalRow | null;
};
type BroadcastSummary = Omit<BroadcastRow, 'html' | 'text'> & Progress;
export type BroadcastView = BroadcastRow & Progress;

/** Returns a broadcast as the list shows it. */
export function showBroadcastSummary({ run, counts, approval, ...row }: BroadcastSummary): ShownSummary {
  return {
    id: row.id,
    status: row.status,
    audienceId: row.audienceId,
    segmentId: row.segmentId,
    from: row.fromHeader,
    subject: row.subject,
    replyTo: row.replyTo,
    topicId: row.topicId,
    templateId: row.templateId,
    scheduleAt: timeOrNull(run?.scheduleAt),
    pace: run?.pace ? (JSON.parse(run.pace) as Pace) : null,
    pausedReason: run?.pausedReason ?? null,
    failure: run?.failure ?? null,
    approval: approval && isShown(approval, row) ? showApprovalState(approval) : null,
    startedAt: timeOrNull(run?.startedAt),
    sentAt: row.status === 'sent' ? timeOrNull(run?.endedAt) : null,
    counts: counts ? shownCounts(counts) : NO_COUNTS,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}

/** Returns true for an approval that still says something: a refusal does so until the broadcast is sent otherwise. */
function isShown({ state }: ApprovalRow, { status }: Pick<BroadcastRow, 'status'>): boolean {
  if (state === 'declined' || state === 'expired') return status === 'draft';
  return state !== 'withdrawn';
}

/** Returns the counts without those that are for our own use. */
function shownCounts(counts: BroadcastCountsRow): ShownCounts {
  const shown = COUNT_NAMES.map((name) => [name, counts[name]]);
  return Object.fromEntries(shown) as ShownCounts;
}

function timeOrNull(at: number | null | undefined): string | null {
  return at === null || at === undefined ? null : isoTime(at);
}

/** Returns a broadcast as the API shows it. */
export function showBroadcast(row: BroadcastView): ShownBroadcast {
  return { ...showBroadcastSummary(row), html: row.html, text: row.text };
}
