/**
 * Accepts up to 100 emails in one request (specification 4.2). It answers a repeated request, prepares each email,
 * and commits the valid ones in one transaction. An error of one email is reported at its position. An error that
 * concerns all of them, such as a full disk, refuses the request.
 */
import { discardAll } from '../blobs/discard-on-refusal.ts';
import type { Detached } from '../http/json/large-strings.ts';
import { createPacking } from '../queue/contents/source.ts';
import { ConcurrencyLimiter } from '../system/concurrency-limiter.ts';
import { AppError } from '../system/errors.ts';
import { createPause } from '../system/slices.ts';
import type { Caller, RequireValidKey } from '../tenants/authenticate.ts';
import {
  acceptBatch,
  asFailure,
  atPosition,
  type BatchFailure,
  type EmailRows,
  type SentBatch,
} from './accept.ts';
import { blobsOf, commitStored } from './commit.ts';
import { answerOnce } from './idempotency/in-flight.ts';
import type { Answer, IdempotencyClaim } from './idempotency/store.ts';
import { prepareEmail, type Share } from './prepare.ts';
import type { HoldText } from './render.ts';
import { readSendRequest } from './request.ts';
import { MAX_BATCH_BODY_BYTES, type SendBody } from './schemas.ts';
import type { SendApp } from './send.ts';

export type Batch = {
  /** `emails` may hold any values; `check` validates each of them. */
  body: { emails: readonly unknown[] };
  /**
   * Returns the email if its shape is valid.
   * @throws AppError validation_error
   */
  check: (email: unknown) => SendBody;
  /** Attachments that were taken out of the body. */
  detached: Detached;
  /** Claim on the Idempotency-Key of the request; undefined when it has none. */
  idempotency: IdempotencyClaim | undefined;
  holdText: HoldText;
  requireValidKey: RequireValidKey;
  /** True when one email that is refused refuses the whole batch. */
  isStrict?: boolean;
};

/** Time limit for all files that a batch fetches, in milliseconds: half of the time in which a request must arrive. */
const FILES_TIMEOUT_MS = 60_000;
/** Maximum total size of the files that a batch fetches, in bytes: as much as its body may contain itself. */
const MAX_FILE_BYTES = MAX_BATCH_BODY_BYTES;
/**
 * Maximum size of the text that templates and variables add to a batch, in MiB: a hundred newsletters of 300 KB. Our
 * own limit.
 */
export const MAX_BATCH_TEXT_MIB = 32;
/**
 * Maximum number of batches whose write is on its way. A batch keeps the writer busy for as long as a hundred emails, and
 * other writes run between two of them. A tenant has at most one, so that other tenants can write too.
 */
const MAX_WRITING_BATCHES = 2;
/** Maximum number of batches that wait for their write, about as many as are written in two seconds. */
const MAX_WAITING_BATCHES = 100;

/** Returns the limiter of the writes of batches, which serves the tenants round-robin. */
export function createBatchWrites(): ConcurrencyLimiter {
  return new ConcurrencyLimiter({
    maxRunning: MAX_WRITING_BATCHES,
    perFree: 1,
    maxWaiting: MAX_WAITING_BATCHES,
  });
}

/**
 * Accepts the emails of a batch and returns one result for each, in their order.
 * @throws AppError idempotency_conflict, idempotency_in_progress, unavailable; for a strict batch, the refusal of its first email that
 * is refused
 */
export async function sendBatch(
  app: SendApp & { batchWrites: ConcurrencyLimiter },
  caller: Caller,
  batch: Batch,
): Promise<Answer<SentBatch>> {
  const now = app.clock.now();
  const { idempotency } = batch;
  return answerOnce(app, { caller, claim: idempotency }, async () => {
    const items = await prepareItems(app, caller, batch);
    const { tenantId, mode } = caller;
    const input = { owner: { tenantId, mode, now }, items, idempotency, isStrict: batch.isStrict ?? false };
    const rows = rowsIn(items);
    const prepared = {
      rows,
      acceptedRows: ({ data }: SentBatch) =>
        rowsIn(items.filter((_, index) => data[index]?.status === 'queued')),
      requireValidKey: batch.requireValidKey,
    };
    const commit = () => commitStored(app, { write: acceptBatch, input }, prepared);
    const written = app.batchWrites.tryRun(commit, { owner: tenantId });
    if (written !== undefined) return written;
    await discardAll(app.blobs, blobsOf(rows));
    throw new AppError('unavailable', 'Too many batches are waiting', { retryAfterSeconds: 1 });
  });
}

type Item = EmailRows | BatchFailure;

/** Prepares the emails in their order. When it throws, it discards all content that it has stored. */
async function prepareItems(app: SendApp, caller: Caller, batch: Batch): Promise<Item[]> {
  const pause = createPause(app.clock);
  const files = { until: app.clock.elapsed() + FILES_TIMEOUT_MS, leftBytes: MAX_FILE_BYTES };
  const rendered = createRenderedText(batch.holdText);
  const share: Share = { files, holdText: rendered.hold, pack: createPacking() };
  const items: Item[] = [];
  try {
    for (const [index, email] of batch.body.emails.entries()) {
      await pause();
      const refused = (error: unknown) => {
        if (batch.isStrict) throw atPosition(error, index);
        return asFailure(error);
      };
      const item = await prepareItem(app, caller, { batch, email, share }).catch(refused);
      rendered.settle('error' in item ? 'dropped' : 'kept');
      items.push(item);
    }
    return items;
  } catch (error) {
    await discardAll(app.blobs, blobsOf(rowsIn(items)));
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
  return prepareEmail(app, caller, { request, ...share });
}

/**
 * Limits the text that templates and variables add to a batch. An email that fails releases its text, so that later
 * emails may use it.
 */
function createRenderedText(holdText: HoldText) {
  let left = MAX_BATCH_TEXT_MIB * 1024 * 1024;
  let release = () => {};
  return {
    hold: ((characters) => {
      if (characters > left) {
        throw new AppError(
          'validation_error',
          `Templates and variables may produce at most ${MAX_BATCH_TEXT_MIB} MiB of text in a batch; send this email in another batch`,
        );
      }
      const free = holdText(characters);
      left -= characters;
      release = () => {
        free();
        left += characters;
      };
      return release;
    }) satisfies HoldText,
    settle(item: 'kept' | 'dropped'): void {
      if (item === 'dropped') release();
      release = () => {};
    },
  };
}

function rowsIn(items: readonly Item[]): EmailRows[] {
  return items.filter((item) => 'source' in item);
}
