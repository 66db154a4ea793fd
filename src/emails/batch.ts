/**
 * Accepting up to 100 emails in one request (specification 4.2): answer a repeat, prepare each email by itself, commit all
 * that are left in one transaction. What is wrong with one email is said in its place; what stands in the way of all
 * of them (no room, no disk) refuses the request.
 */
import { discardAll } from '../blobs/discard-on-refusal.ts';
import type { Detached } from '../http/large-strings.ts';
import type { Clock } from '../system/clock.ts';
import { AppError } from '../system/errors.ts';
import { nextTurn } from '../system/next-turn.ts';
import type { Caller, RequireValidKey } from '../tenants/authenticate.ts';
import { acceptBatch, asFailure, type BatchFailure, type EmailRows, type SentBatch } from './accept.ts';
import { blobsOf, commitStored } from './commit.ts';
import { answerOnce, claimKey } from './idempotency/run.ts';
import type { Answer } from './idempotency/store.ts';
import { hashJson, hashRequest } from './idempotency.ts';
import { prepareEmail, type Share } from './prepare.ts';
import type { HoldText } from './render.ts';
import { readSendRequest } from './request.ts';
import { MAX_BATCH_BODY_BYTES, type SendBody } from './schemas.ts';
import type { SendApp } from './send.ts';

export type Batch = {
  /** Anything may stand in `emails`. */
  body: { emails: readonly unknown[] };
  /** An email's shape. @throws AppError validation_error */
  check: (email: unknown) => SendBody;
  /** Attachments that were taken out of the body. */
  detached: Detached;
  idempotencyKey: string | undefined;
  holdText: HoldText;
  requireValidKey: RequireValidKey;
};

/** Of all files that a batch has fetched: half of what a request may take to arrive. */
const FILES_TIMEOUT_MS = 60_000;
/** As many as the body may carry itself. */
const MAX_FILE_BYTES = MAX_BATCH_BODY_BYTES;
/** Ours: of what templates and variables make: a hundred newsletters of 300 KB. */
export const MAX_BATCH_TEXT_MIB = 32;
/** Worked on between two turns of the event loop: a few emails. Several batches at the same time take turns. */
const SLICE_MS = 1;

/** @throws AppError idempotency_conflict, idempotency_in_progress, unavailable */
export async function sendBatch(app: SendApp, caller: Caller, batch: Batch): Promise<Answer<SentBatch>> {
  const now = app.clock.now();
  const { idempotencyKey: key } = batch;
  const idempotency =
    key === undefined ? undefined : claimKey(caller, { key, hash: await hashBatch(app.clock, batch) }, now);
  return answerOnce(app, caller, idempotency, async () => {
    const items = await prepareItems(app, caller, batch);
    const { tenantId, mode } = caller;
    const input = { asker: { tenantId, mode, now }, items, idempotency };
    return commitStored(app, acceptBatch, input, {
      acceptances: acceptancesIn(items),
      takenBy: ({ data }) => acceptancesIn(items.filter((_, index) => data[index]?.status === 'queued')),
      requireValidKey: batch.requireValidKey,
    });
  });
}

/** Email by email, because all of them at once would hold the event loop. */
async function hashBatch(clock: Clock, { body, detached }: Batch): Promise<string> {
  const pause = createPause(clock);
  const emails: string[] = [];
  for (const email of body.emails) {
    await pause();
    emails.push(hashJson(email, detached.hash));
  }
  const request = { method: 'POST', path: '/v1/emails/batch', body: { ...body, emails } };
  return hashRequest(request, detached.hash);
}

type Item = EmailRows | BatchFailure;

/** In their order. Nothing stays stored when it throws. */
async function prepareItems(app: SendApp, caller: Caller, batch: Batch): Promise<Item[]> {
  const pause = createPause(app.clock);
  const files = { until: app.clock.elapsed() + FILES_TIMEOUT_MS, leftBytes: MAX_FILE_BYTES };
  const made = createMadeText(batch.holdText);
  const share: Share = { files, holdText: made.hold };
  const items: Item[] = [];
  try {
    for (const email of batch.body.emails) {
      await pause();
      const item = await prepareItem(app, caller, { batch, email, share }).catch(asFailure);
      made.settle('error' in item ? 'dropped' : 'kept');
      items.push(item);
    }
    return items;
  } catch (error) {
    await discardAll(app.blobs, blobsOf(acceptancesIn(items)));
    throw error;
  }
}

async function prepareItem(
  app: SendApp,
  caller: Caller,
  { batch, email, share }: { batch: Batch; email: unknown; share: Share },
): Promise<EmailRows> {
  const findContent = batch.detached.find;
  const request = readSendRequest(batch.check(email), { findContent, now: app.clock.now() });
  return prepareEmail(app, caller, request, share);
}

/** What templates and variables make of one email after the other. One that comes to nothing leaves its room to those after it. */
function createMadeText(holdText: HoldText) {
  let left = MAX_BATCH_TEXT_MIB * 1024 * 1024;
  let giveBack = () => {};
  return {
    hold: ((characters) => {
      if (characters > left) {
        throw new AppError(
          'validation_error',
          `Templates and variables may make ${MAX_BATCH_TEXT_MIB} MiB of the emails of a batch; send this one in another`,
        );
      }
      const free = holdText(characters);
      left -= characters;
      giveBack = () => {
        free();
        left += characters;
      };
      return giveBack;
    }) satisfies HoldText,
    settle(item: 'kept' | 'dropped'): void {
      if (item === 'dropped') giveBack();
      giveBack = () => {};
    },
  };
}

function acceptancesIn(items: readonly Item[]): EmailRows[] {
  return items.filter((item) => 'blob' in item);
}

/** Gives everybody else a turn of the event loop when the last one was long enough ago. */
function createPause(clock: Clock): () => Promise<void> {
  let since = clock.elapsed();
  return async () => {
    if (clock.elapsed() - since < SLICE_MS) return;
    await nextTurn();
    since = clock.elapsed();
  };
}
