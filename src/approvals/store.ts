/** Stores what asks for the approval of a person, and the decisions. All SQL of this table is here, and nothing else writes it. */
import { sql } from 'kysely';
import type { ApprovalRow } from '../db/approval-tables.ts';
import { type ExpiryRange, type ExpirySlice, findSlice } from '../db/expiry.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../db/page.ts';
import { insertRow, updateRows } from '../db/rows.ts';
import { constant, type Param, statement } from '../db/statement.ts';
import { isIdWithin } from '../domains/reach.ts';
import { type EventType, isAboutOpenMail, recordEvent } from '../events/store.ts';
import { AppError, notFound } from '../system/errors.ts';
import { newId } from '../system/ids.ts';
import { cancelTask, scheduleTask } from '../tasks/store.ts';
import type { Reach } from '../tenants/authenticate.ts';
import { showApproval } from './show.ts';

/**
 * Time that a person has for a decision, in milliseconds, from when it is asked for or from when the mail is to be sent, whichever is
 * later. It lasts over a weekend; what is approved later than that is no longer what its author meant to send.
 */
const DECISION_MS = 3 * 24 * 3_600_000;

/**
 * Maximum number of emails and broadcasts of a tenant and mode that wait for approval. Somebody has to read each of them, and a key that
 * sends in a loop must not fill the queue with mail that nobody wants.
 */
export const MAX_PENDING = 1_000;

/** Time after which a retry may find that somebody has decided, in seconds. */
const RETRY_WHEN_FULL_SECONDS = 3_600;

/** Kinds of the tasks that end an approval which nobody has decided in time. The reference of a task is the approval. */
export const EXPIRY_TASKS = {
  email: 'email-approvals',
  broadcast: 'broadcast-approvals',
} as const satisfies Record<ApprovalRow['kind'], string>;

/** An email or a broadcast that asks for approval. */
type Asking = Pick<
  ApprovalRow,
  | 'tenantId'
  | 'mode'
  | 'domainId'
  | 'kind'
  | 'reference'
  | 'hash'
  | 'keyId'
  | 'fromHeader'
  | 'subject'
  | 'sendAt'
>;

const newest = statement((db, param: Param<Pick<ApprovalRow, 'reference'>>) =>
  db
    .selectFrom('approvals')
    .selectAll()
    .where('reference', '=', constant(param('reference')))
    .orderBy('id', 'desc')
    .limit(1),
);

/**
 * Returns the approval of an email or a broadcast that counts: the newest. Undefined when it has never asked. The id comes from a row
 * that the caller may see.
 */
export function findApproval(tx: Tx, reference: string): Promise<ApprovalRow | undefined> {
  return newest.first(tx, { reference });
}

/** Returns true for an approval that a change of what it is about ends. */
export function isInForce(approval: Pick<ApprovalRow, 'state'> | undefined): approval is ApprovalRow {
  return approval?.state === 'pending' || approval?.state === 'approved';
}

/**
 * Asks for approval, as part of the write that makes the mail wait. An approval of the same mail that is still pending asks for the mail as it
 * is now, without another row or event, so that a program that changes it in a loop adds nothing. One that was given is withdrawn. The caller
 * has checked with `requireRoom` that one more can wait.
 */
export async function askForApproval(tx: Tx, asking: Asking, now: number): Promise<ApprovalRow> {
  const before = await findApproval(tx, asking.reference);
  if (before?.state === 'pending') return askAnew(tx, { before, asking, now });
  if (before?.state === 'approved') await settleApproval(tx, before, { state: 'withdrawn', now });
  // The newest row counts, so its id must be behind that of the row before, also when the clock was set back.
  const createdAt = Math.max(now, (before?.createdAt ?? 0) + 1);
  const approval: ApprovalRow = {
    ...asking,
    id: newId('apr', createdAt),
    state: 'pending',
    createdAt,
    expiresAt: endOfDecision(asking, createdAt),
    decidedAt: null,
    decidedBy: null,
    reason: null,
  };
  await insertRow(tx, 'approvals', approval);
  await scheduleExpiry(tx, approval);
  await recordApprovalEvent(tx, approval, now);
  return approval;
}

type Again = { before: ApprovalRow; asking: Asking; now: number };

/** Asks for the present state of mail whose approval is pending. Whoever decides gets the whole time again. */
async function askAnew(tx: Tx, { before, asking, now }: Again): Promise<ApprovalRow> {
  const { domainId, hash, keyId, fromHeader, subject, sendAt } = asking;
  const expiresAt = endOfDecision(asking, now);
  const asked = { domainId, hash, keyId, fromHeader, subject, sendAt, expiresAt };
  await updateRows(tx, 'approvals', { set: asked, where: { id: before.id } });
  const approval = { ...before, ...asked };
  await scheduleExpiry(tx, approval);
  return approval;
}

function endOfDecision({ sendAt }: Pick<ApprovalRow, 'sendAt'>, askedAt: number): number {
  return Math.max(askedAt, sendAt ?? 0) + DECISION_MS;
}

function scheduleExpiry(tx: Tx, approval: ApprovalRow): Promise<void> {
  const { tenantId, expiresAt } = approval;
  return scheduleTask(tx, { ...expiryTaskOf(approval), queueKey: tenantId, dueAt: expiresAt });
}

function expiryTaskOf({ kind, id, tenantId }: ApprovalRow) {
  return { kind: EXPIRY_TASKS[kind], reference: id, tenantId };
}

type Owner = Pick<ApprovalRow, 'tenantId' | 'mode'>;

const pendingBeyond = statement((db, param: Param<Owner & { count: number }>) =>
  db
    .selectFrom('approvals')
    .select('id')
    .where('tenantId', '=', constant(param('tenantId')))
    .where('mode', '=', constant(param('mode')))
    .where('state', '=', 'pending')
    .limit(1)
    .offset(constant(param('count'))),
);

/**
 * Checks that one more can wait for approval.
 * @throws AppError quota_exceeded, because time ends the refusal
 */
export async function requireRoom(tx: Tx, { tenantId, mode }: Owner): Promise<void> {
  // SQLite skips the rows of the index itself, and no more than the maximum.
  const isFull = await pendingBeyond.first(tx, { tenantId, mode, count: MAX_PENDING - 1 });
  if (isFull)
    throw new AppError(
      'quota_exceeded',
      `You have ${MAX_PENDING} emails and broadcasts that wait for approval, which is the maximum; they have to be approved, declined or ` +
        'canceled before another can be sent',
      { retryAfterSeconds: RETRY_WHEN_FULL_SECONDS },
    );
}

type Settlement = {
  state: Exclude<ApprovalRow['state'], 'pending'>;
  now: number;
  /** Id of the key or of the person that has decided. */
  by?: string;
  reason?: string | null;
};

/** Ends an approval, as part of the write that changes the mail. */
export async function settleApproval(
  tx: Tx,
  before: ApprovalRow,
  { state, now, by, reason = null }: Settlement,
): Promise<void> {
  const settled = { state, decidedAt: now, decidedBy: by ?? null, reason };
  await updateRows(tx, 'approvals', { set: settled, where: { id: before.id } });
  // The task that has found the approval expired settles itself.
  if (state !== 'expired') await cancelTask(tx, expiryTaskOf(before));
  await recordApprovalEvent(tx, { ...before, ...settled }, now);
}

/** Withdraws an approval that is pending or approved, when the mail that it is about was canceled, deleted, or sent without it. */
export async function withdrawApproval(tx: Tx, reference: string, now: number): Promise<void> {
  const approval = await findApproval(tx, reference);
  if (isInForce(approval)) await settleApproval(tx, approval, { state: 'withdrawn', now });
}

const EVENTS = {
  pending: 'approval.requested',
  approved: 'approval.approved',
  declined: 'approval.declined',
  expired: 'approval.expired',
  withdrawn: 'approval.withdrawn',
} as const satisfies Record<ApprovalRow['state'], EventType>;

async function recordApprovalEvent(tx: Tx, approval: ApprovalRow, now: number): Promise<void> {
  const { tenantId, mode, state } = approval;
  const event = { type: EVENTS[state], data: showApproval(approval), emailId: null, createdAt: now };
  await recordEvent(tx, { id: newId('evt', now), tenantId, mode, ...event });
}

/**
 * Returns the approval of mail when a person can decide it now.
 * @param seen the hash of what the person has seen
 * @throws AppError invalid_state
 */
export async function getDecidable(
  tx: Tx,
  reference: string,
  { seen, now }: { seen: string; now: number },
): Promise<ApprovalRow> {
  const approval = await findApproval(tx, reference);
  if (approval?.state !== 'pending' || approval.expiresAt <= now)
    throw new AppError('invalid_state', 'Nothing of this waits for approval, or not any more');
  if (approval.hash !== seen) throw changedSince();
  return approval;
}

/** Returns the refusal of a decision about something else than what asks for approval now. */
export function changedSince(): AppError {
  return new AppError(
    'invalid_state',
    'It has changed since, and asks for approval again; read it once more and send its new `hash`',
  );
}

/** A caller, who sees the approvals of its mode; with a key of one domain, those of mail that is sent from there. */
type Viewer = Owner & Reach;
type ApprovalList = PageRequest & { state?: ApprovalRow['state'] | undefined };

function approvalsWithin(tx: Tx, viewer: Viewer) {
  return tx
    .selectFrom('approvals')
    .selectAll()
    .where('tenantId', '=', viewer.tenantId)
    .where('mode', '=', viewer.mode)
    .where(isIdWithin(viewer, 'domainId'));
}

/** Returns a page of approvals, newest first. */
export function listApprovals(
  tx: Tx,
  viewer: Viewer,
  { state, ...page }: ApprovalList,
): Promise<Page<ApprovalRow>> {
  const all = approvalsWithin(tx, viewer);
  const wanted = state === undefined ? all : all.where('state', '=', state);
  return readPage(page, (slice) => inSlice(wanted, 'id', slice).execute());
}

/**
 * Returns an approval.
 * @throws AppError not_found, also for one of another tenant or mode, or beyond the reach of the key
 */
export function getApproval(tx: Tx, viewer: Viewer, id: string): Promise<ApprovalRow> {
  return approvalsWithin(tx, viewer)
    .where('id', '=', id as ApprovalRow['id'])
    .executeTakeFirstOrThrow(() => notFound('Approval'));
}

/** Returns an approval by its id, which comes from a task. */
export function findApprovalById(tx: Tx, id: string): Promise<ApprovalRow | undefined> {
  return tx
    .selectFrom('approvals')
    .selectAll()
    .where('id', '=', id as ApprovalRow['id'])
    .executeTakeFirst();
}

/** True for an approval of a broadcast that has not ended. */
const isAboutOpenBroadcast = sql<boolean>`EXISTS (SELECT 1 FROM broadcasts
  WHERE broadcasts.id = approvals.reference AND broadcasts.status NOT IN ('sent', 'canceled', 'failed'))`;

/** Deletes approvals of the range that have ended. One that was given is kept while its mail is open: without it, nobody would have to approve. */
export const expireApprovals = defineWrite(
  'approvals.expire',
  async (tx, range: ExpiryRange): Promise<ExpirySlice> => {
    const { isInSlice, next } = await findSlice(tx, 'approvals', range);
    const { numDeletedRows } = await tx
      .deleteFrom('approvals')
      .where(isInSlice)
      .where('state', '!=', 'pending')
      .where(
        sql<boolean>`NOT (state = 'approved' AND (${isAboutOpenBroadcast} OR ${isAboutOpenMail('approvals.reference')}))`,
      )
      .executeTakeFirst();
    return { next, deleted: Number(numDeletedRows) };
  },
  { priority: 'bulk' },
);
