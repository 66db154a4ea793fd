/** Starts a broadcast: checks it once more, freezes it, and leaves the rest to background work. A resume may be a start. */
import type { App } from '../app.ts';
import { findApproval } from '../approvals/store.ts';
import { filterOf } from '../audiences/segments/scan.ts';
import { findSegment } from '../audiences/segments/store.ts';
import type { ApprovalRow } from '../db/approval-tables.ts';
import type { BroadcastRunRow } from '../db/broadcast-tables.ts';
import type { BroadcastRow, TemplateRow } from '../db/marketing-tables.ts';
import { broadcastFields, requireMarketingSize } from '../emails/marketing-fields.ts';
import { readMailbox } from '../emails/request/addresses.ts';
import { requireSender } from '../emails/sender.ts';
import { findRun } from '../ledger/run-store.ts';
import { UNSUBSCRIBE_URL } from '../queue/contents/reader.ts';
import { createPacking, type NewSource } from '../queue/contents/source.ts';
import { AppError, type ErrorCode } from '../system/errors.ts';
import { findTemplate } from '../templates/store.ts';
import { usesIn } from '../templates/tags.ts';
import { findAsker } from '../tenants/approval-need.ts';
import { findTopic } from '../topics/store.ts';
import { maxGrowth } from '../tracking/links/instrument.ts';
import { isPlanFree } from './ask.ts';
import { hashContent } from './bound.ts';
import { requireTracking } from './content-links.ts';
import { control } from './control.ts';
import { type Author, draftFieldsOf, readDraft } from './draft.ts';
import type { Frozen } from './frozen.ts';
import { requestSending } from './request-sending.ts';
import { requireStartable, type StartedFrom, type Starter, storeStart } from './runs/start.ts';
import { type Settling, settleScheduled } from './runs/state.ts';
import { findListed, getBroadcast } from './store.ts';

type FrozenContent = { frozen: Frozen; source: NewSource; targets: readonly string[]; contentHash: string };

/**
 * Starts a broadcast for its owner and returns it as `sending`. For a key that requires approval it asks for it instead, and returns the
 * broadcast as it is.
 * @throws AppError not_found, invalid_state, validation_error, restricted_api_key, domain_not_verified, unavailable
 */
export async function sendBroadcast(app: App, caller: Author, id: string): Promise<BroadcastRow> {
  const keyId = findAsker(caller, 'broadcast');
  if (keyId !== null) return requestSending(app, caller, { id, keyId });
  return startForOwner(app, caller, { id, from: ['draft', 'scheduled'] });
}

async function startForOwner(
  app: App,
  caller: Author,
  given: { id: string; from: StartedFrom },
): Promise<BroadcastRow> {
  const started = await startBroadcast(app, caller, { ...given, starter: 'owner' });
  if (started === 'waits') throw new Error('a start by the owner waits for no approval');
  return started;
}

/**
 * Starts a broadcast and returns it as `sending`, or `waits` when it waits for approval. One that is paused must never have been started.
 * @throws AppError not_found, invalid_state, validation_error, restricted_api_key, domain_not_verified, unavailable
 */
async function startBroadcast(
  app: App,
  caller: Author,
  { id, from, starter }: { id: string; from: StartedFrom; starter: Starter },
): Promise<BroadcastRow | 'waits'> {
  for (;;) {
    const broadcast = await getBroadcast(app.db.read, caller, id);
    requireStartable(broadcast, from);
    await readDraft(app, caller, { wanted: draftFieldsOf(broadcast), given: {} });
    const content = await freezeBroadcast(app, caller, broadcast);
    const now = app.clock.now();
    const started = await app.db.commit(storeStart, { broadcast, from, starter, ...content, now });
    // A draft that was changed meanwhile is checked and frozen again.
    if (started === 'changed') continue;
    if (started === 'waits') {
      return started;
    }
    app.log.info({ broadcastId: id, tenantId: caller.tenantId }, 'a broadcast has started');
    return started;
  }
}

/**
 * Resumes a paused broadcast, or starts the one that was paused because its start was late. Returns it.
 * @throws AppError not_found, invalid_state; for one that is started, also validation_error, restricted_api_key and
 * domain_not_verified
 */
export async function resumeBroadcast(app: App, caller: Author, id: string): Promise<BroadcastRow> {
  const broadcast = await getBroadcast(app.db.read, caller, id);
  const run = await findRun(app.db.read, broadcast.id);
  if (broadcast.status === 'paused' && run?.startedAt === null)
    return startForOwner(app, caller, { id, from: ['paused'] });
  return control(app, { owner: caller, id, cause: 'resumed' });
}

/**
 * Maximum time by which a start may be late, in milliseconds. A later one pauses the broadcast: after a long stop, or after
 * a backup was restored, its owner decides whether it is still wanted.
 */
const MAX_LATE_MS = 3_600_000;

/** Refusals that say that the broadcast cannot be sent as it is. Any other refusal is temporary. */
const FATAL: readonly ErrorCode[] = ['validation_error', 'restricted_api_key', 'domain_not_verified'];

/** Time after which a scheduled broadcast that cannot start at the moment is tried again, in milliseconds. */
const RETRY_START_MS = 5_000;

/**
 * Starts a scheduled broadcast that is due, or one that was approved. It was checked with the key of its author when it was scheduled, and is checked again
 * without the limits of a key. Returns the time of the next try: its own time when the clock was set back, and soon when it
 * cannot be started at the moment, for example because the disk is full; undefined when nothing more is to be done.
 */
export async function startScheduled(app: App, id: BroadcastRow['id']): Promise<number | undefined> {
  const broadcast = await findListed(app.db.read, id);
  const run = await findRun(app.db.read, id);
  const approval = await findApproval(app.db.read, id);
  const start = broadcast && run && findStart(broadcast, run, approval);
  if (!start) return undefined;
  const now = app.clock.now();
  if (start.at > now) return start.at;
  if (now - start.at > MAX_LATE_MS) {
    await settle(app, { ...broadcast, failure: undefined });
    return undefined;
  }
  const { tenantId, mode } = broadcast;
  const author = { tenantId, mode, domainId: null, approval: null };
  try {
    const started = await startBroadcast(app, author, { id, from: start.from, starter: 'daemon' });
    // One that was to be sent now and asks again may be scheduled for later.
    if (started === 'waits') return await startScheduled(app, id);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (FATAL.includes(error.code)) await settle(app, { ...broadcast, failure: error.message });
    // A broadcast that was deleted, changed or started meanwhile needs nothing more.
    else if (error.code !== 'not_found' && error.code !== 'invalid_state') return now + RETRY_START_MS;
  }
  return undefined;
}

/**
 * Returns when the daemon starts a broadcast, and from which states; undefined when it does not. What waits for approval is not started before
 * the time for which it was scheduled without one, and what was approved is late only from the decision on.
 */
function findStart(
  broadcast: Pick<BroadcastRow, 'status'>,
  { scheduleAt }: Pick<BroadcastRunRow, 'scheduleAt'>,
  approval: ApprovalRow | undefined,
): { at: number; from: StartedFrom } | undefined {
  const { status } = broadcast;
  const mayStart = status === 'draft' || status === 'scheduled';
  if (mayStart && approval?.state === 'approved') {
    const { sendAt, decidedAt } = approval;
    const at = Math.max(sendAt ?? 0, decidedAt ?? 0);
    return { at, from: sendAt === null ? ['draft', 'scheduled'] : ['scheduled'] };
  }
  if (isPlanFree(broadcast, approval) && scheduleAt !== null) return { at: scheduleAt, from: ['scheduled'] };
  return undefined;
}

async function settle(
  { db, clock, log }: App,
  { id, tenantId, updatedAt, failure }: Pick<BroadcastRow, 'tenantId'> & Omit<Settling, 'now'>,
): Promise<void> {
  const status = await db.commit(settleScheduled, { id, updatedAt, failure, now: clock.now() });
  if (status === undefined) return;
  log.info({ broadcastId: id, tenantId, status, failure }, 'a scheduled broadcast was not started');
}

/**
 * Returns the frozen broadcast. The caller has checked its fields.
 * @throws AppError validation_error, restricted_api_key, domain_not_verified, unavailable
 */
async function freezeBroadcast(
  app: Pick<App, 'db' | 'clock' | 'config' | 'htmlText' | 'linkFinder'>,
  caller: Author,
  broadcast: BroadcastRow,
): Promise<FrozenContent> {
  const { tenantId, audienceId, fromHeader, subject, replyTo, topicId, templateId } = broadcast;
  const { read } = app.db;
  const topic = topicId === null ? undefined : await findTopic(read, tenantId, topicId);
  const template = templateId === null ? undefined : await findTemplate(read, tenantId, templateId);
  const { domain } = readMailbox('from', fromHeader);
  const sender = await requireSender(app, caller, { domain, simulatorOnly: false });
  const texts = await textsOf(app, broadcast, template);
  requireMarketingSize(texts);
  const { tracking, targets } = await requireTracking(app, tenantId, {
    html: texts.html,
    settings: sender.tracking,
  });
  const filter = await filterOfBroadcast(app, broadcast);
  const used = [subject, texts.html, texts.text ?? ''].flatMap((text) => usesIn([undefined, text]));
  return {
    targets,
    contentHash: hashContent(broadcast, { template, topic, filter }),
    source: await createPacking()({ ...texts, ...(tracking && { tracking }) }),
    frozen: {
      audienceId,
      fromHeader,
      subject,
      replyTo,
      topicId,
      defaultOptIn: topic?.defaultOptIn ?? null,
      templateId,
      domainId: sender.domainId,
      complaintHost: sender.returnPathHost,
      filter,
      headers: broadcastFields(app, { ...broadcast, topicName: topic?.name }),
      uses: countUses(used.map(({ name }) => name)),
      characters: texts.html.length + (texts.text?.length ?? 0) + (tracking ? maxGrowth(tracking) : 0),
    },
  };
}

type Texts = { html: string; text?: string };

/** Returns the texts with their placeholders. A text that is missing is generated once, for all copies. */
async function textsOf(
  { htmlText }: Pick<App, 'htmlText'>,
  broadcast: BroadcastRow,
  template: TemplateRow | undefined,
): Promise<Texts> {
  const html = broadcast.html ?? template?.html ?? '';
  const given = broadcast.text ?? template?.text ?? undefined;
  if (given !== undefined) return { html, text: given };
  const { text } = await htmlText.convert(html, broadcast.tenantId);
  return text === '' ? { html } : { html, text };
}

async function filterOfBroadcast(
  { db }: Pick<App, 'db'>,
  { tenantId, segmentId }: BroadcastRow,
): Promise<Frozen['filter']> {
  const segment = segmentId === null ? undefined : await findSegment(db.read, tenantId, segmentId);
  return segment ? filterOf(segment) : null;
}

function countUses(names: readonly string[]): Record<string, number> {
  const uses: Record<string, number> = {};
  for (const name of names) if (name !== UNSUBSCRIBE_URL) uses[name] = (uses[name] ?? 0) + 1;
  return uses;
}
