/** Creates and changes broadcasts. Fields that the request does not name stay, and the result is checked as a whole. */

import type { App } from '../app.ts';
import { hasValues } from '../db/has-values.ts';
import type { BroadcastRow } from '../db/marketing-tables.ts';
import { readMailbox } from '../emails/request/addresses.ts';
import { requireSender } from '../emails/sender.ts';
import type { RunPlan } from '../ledger/run-store.ts';
import { AppError } from '../system/errors.ts';
import { newId } from '../system/ids.ts';
import { findAsker, requireNoAsker } from '../tenants/approval-need.ts';
import type { Caller } from '../tenants/authenticate.ts';
import { changePace, isOfPaceAlone } from './change-pace.ts';
import { type DraftFields, draftFieldsOf, readDraft } from './draft.ts';
import type { Pace } from './pace.ts';
import { readPlan, type WantedPlan } from './plan.ts';
import { readContentHash } from './read-bound.ts';
import type { BroadcastChange, NewBroadcast } from './schemas.ts';
import type { BroadcastView } from './show.ts';
import { getBroadcast, insertBroadcast, replaceBroadcast, withProgress } from './store.ts';

/**
 * Creates a draft, or a scheduled broadcast, and returns it.
 * @throws AppError validation_error, restricted_api_key, domain_not_verified
 */
export async function createBroadcast(app: App, caller: Caller, given: NewBroadcast): Promise<BroadcastView> {
  const { from, subject } = given;
  const { audienceId = null, segmentId = null, topicId = null, templateId = null } = given;
  const { replyTo = null, html = null, text = null } = given;
  const wanted = { from, subject, audienceId, segmentId, topicId, templateId, replyTo, html, text };
  const draft = await readDraft(app, caller, { wanted, given });
  const now = app.clock.now();
  const { scheduleAt = null, pace = null } = readPlan(given, now);
  const broadcast: BroadcastRow = {
    id: newId('brd', now),
    tenantId: caller.tenantId,
    mode: caller.mode,
    status: scheduleAt === null ? 'draft' : 'scheduled',
    ...draft,
    createdAt: now,
    updatedAt: now,
  };
  const plan = await planOf(app, caller, { broadcast, scheduleAt, pace });
  const asking = await askingOf(app, caller, broadcast);
  await app.db.commit(insertBroadcast, { broadcast, plan, ...asking });
  return withProgress(app.db.read, broadcast);
}

/**
 * Changes a broadcast that has not started, or the pace of one that has, and returns it. The changed broadcast is checked as a
 * whole, because a resource that it names may have been deleted since. The check runs here and not in the write, because
 * examining megabytes would block the writer. A concurrent change makes the update start again.
 *
 * @throws AppError not_found, validation_error, restricted_api_key, domain_not_verified, invalid_state
 */
export async function updateBroadcast(
  app: App,
  caller: Caller,
  { id, given }: { id: string; given: BroadcastChange },
): Promise<BroadcastView> {
  for (;;) {
    const before = await withProgress(app.db.read, await getBroadcast(app.db.read, caller, id));
    if (hasStarted(before) && isOfPaceAlone(given)) {
      // A person has approved the pace with the rest.
      requireNoAsker(caller, { kind: 'broadcast', what: 'change the pace of a broadcast that has started' });
      await changePace(app, caller, { id, given });
      return withProgress(app.db.read, await getBroadcast(app.db.read, caller, id));
    }
    requireChangeable(before);
    const draft = await readDraft(app, caller, { wanted: mergeFields(before, given), given });
    const now = app.clock.now();
    const { scheduleAt, pace } = mergePlan(before, readPlan(given, now));
    if (hasValues(before, draft) && isSamePlan(before, { scheduleAt, pace })) return before;
    const { run: _, counts: __, approval: ___, ...row } = before;
    const status = scheduleAt === null ? 'draft' : 'scheduled';
    // The time increases even when the clock does not, because it also identifies the version of the row.
    const updatedAt = Math.max(now, before.updatedAt + 1);
    const after = { ...row, ...draft, status, updatedAt } as const;
    const plan = await planOf(app, caller, { broadcast: after, scheduleAt, pace });
    const asking = await askingOf(app, caller, after);
    if (!(await app.db.commit(replaceBroadcast, { before: row, after, plan, ...asking }))) continue;
    return withProgress(app.db.read, await getBroadcast(app.db.read, caller, id));
  }
}

/** Returns what a change by the caller asks approval for. */
async function askingOf({ db }: Pick<App, 'db'>, caller: Caller, broadcast: BroadcastRow) {
  return {
    contentHash: await readContentHash(db.read, broadcast),
    askedBy: findAsker(caller, 'broadcast'),
  };
}

function hasStarted({ status }: BroadcastRow): boolean {
  return status === 'sending' || status === 'paused';
}

function requireChangeable(broadcast: BroadcastRow): void {
  const { status } = broadcast;
  if (status === 'draft' || status === 'scheduled') return;
  const what = hasStarted(broadcast) ? ', apart from its `pace`' : '';
  throw new AppError('invalid_state', `A broadcast that is ${status} cannot be changed${what}`);
}

type Plan = { scheduleAt: number | null; pace: Pace | null };

/** Returns the plan of a broadcast, with the domain that it is sent from. */
async function planOf(
  app: App,
  caller: Caller,
  { broadcast, scheduleAt, pace }: Plan & { broadcast: BroadcastRow },
): Promise<RunPlan> {
  const { id: broadcastId, tenantId, mode, fromHeader } = broadcast;
  const { domain } = readMailbox('from', fromHeader);
  const { domainId } = await requireSender(app, caller, { domain, simulatorOnly: false });
  const paceJson = pace && JSON.stringify(pace);
  return { broadcastId, tenantId, mode, scheduleAt, pace: paceJson, domainId };
}

function mergePlan({ run }: Pick<BroadcastView, 'run'>, { scheduleAt, pace }: WantedPlan): Plan {
  const before = { scheduleAt: run?.scheduleAt ?? null, pace: parsePace(run) };
  return {
    scheduleAt: scheduleAt === undefined ? before.scheduleAt : scheduleAt,
    pace: pace === undefined ? before.pace : pace,
  };
}

function isSamePlan({ run }: Pick<BroadcastView, 'run'>, { scheduleAt, pace }: Plan): boolean {
  return scheduleAt === (run?.scheduleAt ?? null) && JSON.stringify(pace) === JSON.stringify(parsePace(run));
}

function parsePace(run: BroadcastView['run']): Pace | null {
  return run?.pace ? (JSON.parse(run.pace) as Pace) : null;
}

function mergeFields(before: BroadcastRow, given: BroadcastChange): DraftFields {
  const stored = draftFieldsOf(before);
  const { from = stored.from, subject = stored.subject, replyTo = stored.replyTo } = given;
  const { segmentId = stored.segmentId, topicId = stored.topicId } = given;
  const { templateId = stored.templateId, html = stored.html, text = stored.text } = given;
  // A new segment replaces the audience by its own.
  const audienceBefore = typeof given.segmentId === 'string' ? null : stored.audienceId;
  const { audienceId = audienceBefore } = given;
  return { from, subject, replyTo, audienceId, segmentId, topicId, templateId, html, text };
}
