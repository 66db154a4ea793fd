/** Creates and changes drafts. Fields that the request does not name stay, and the result is checked as a whole. */
import type { App } from '../app.ts';
import type { BroadcastRow } from '../db/marketing-tables.ts';
import { AppError } from '../system/errors.ts';
import { newId } from '../system/ids.ts';
import type { Caller } from '../tenants/authenticate.ts';
import { type Draft, type DraftFields, readDraft } from './draft.ts';
import type { BroadcastChange, NewBroadcast } from './schemas.ts';
import { getBroadcast, insertBroadcast, replaceBroadcast } from './store.ts';

type DraftApp = Pick<App, 'db' | 'clock' | 'config'>;

/**
 * Creates a draft and returns it.
 * @throws AppError validation_error, restricted_api_key, domain_not_verified
 */
export async function createBroadcast(
  app: DraftApp,
  caller: Caller,
  given: NewBroadcast,
): Promise<BroadcastRow> {
  const { from, subject } = given;
  const { audienceId = null, segmentId = null, topicId = null, templateId = null } = given;
  const { replyTo = null, html = null, text = null } = given;
  const wanted = { from, subject, audienceId, segmentId, topicId, templateId, replyTo, html, text };
  const draft = await readDraft(app, caller, { wanted, given });
  const now = app.clock.now();
  const broadcast: BroadcastRow = {
    id: newId('brd', now),
    tenantId: caller.tenantId,
    mode: caller.mode,
    status: 'draft',
    ...draft,
    createdAt: now,
    updatedAt: now,
  };
  await app.db.commit(insertBroadcast, broadcast);
  return broadcast;
}

/**
 * Changes a draft and returns it. The changed draft is checked as a whole, because a resource that it names may have
 * been deleted since. The check runs here and not in the write, because examining megabytes would block the writer. A
 * concurrent change makes the update start again.
 *
 * @throws AppError not_found, invalid_state, validation_error, restricted_api_key, domain_not_verified
 */
export async function updateBroadcast(
  app: DraftApp,
  caller: Caller,
  { id, given }: { id: string; given: BroadcastChange },
): Promise<BroadcastRow> {
  for (;;) {
    const before = await getBroadcast(app.db.read, caller, id);
    if (before.status !== 'draft')
      throw new AppError('invalid_state', `The broadcast is ${before.status}; only a draft can be changed`);
    const draft = await readDraft(app, caller, { wanted: mergeFields(before, given), given });
    if (isSame(before, draft)) return before;
    // The time increases even when the clock does not, because it also identifies the version of the row.
    const updatedAt = Math.max(app.clock.now(), before.updatedAt + 1);
    const after = { ...before, ...draft, updatedAt };
    if (await app.db.commit(replaceBroadcast, { after, updatedBefore: before.updatedAt })) return after;
  }
}

function mergeFields(before: BroadcastRow, given: BroadcastChange): DraftFields {
  const { from = before.fromHeader, subject = before.subject, replyTo = before.replyTo } = given;
  const { segmentId = before.segmentId, topicId = before.topicId } = given;
  const { templateId = before.templateId, html = before.html, text = before.text } = given;
  // A new segment replaces the audience by its own.
  const audienceBefore = typeof given.segmentId === 'string' ? null : before.audienceId;
  const { audienceId = audienceBefore } = given;
  return { from, subject, replyTo, audienceId, segmentId, topicId, templateId, html, text };
}

function isSame(before: Draft, after: Draft): boolean {
  return (Object.keys(after) as (keyof Draft)[]).every((field) => after[field] === before[field]);
}
