/**
 * Settles posts: one transaction ends the task of each, and stores what it came to and its effect on the endpoint. An endpoint that
 * has failed for days is disabled, and one that answers 410 is disabled at once. An endpoint is what is posted to: a webhook
 * endpoint, or an inbound route.
 */
import { defineWrite, type Tx, type Write } from '../../db/operation.ts';
import { completeTask, type Lease, retryTask, type TaskEnd } from '../../tasks/store.ts';
import type { PostResult } from './post.ts';
import { MAX_ATTEMPTS, type NextAttempt } from './schedule.ts';
import { type Failing, type FailingWindow, failedAgain, hasFailedTooLong } from './suspension.ts';

/** An endpoint as posts see it. */
export type Endpoint = Failing & { id: string; url: string; isEnabled: boolean };

/** Why nothing is posted to an endpoint any more. */
type Closed = 'disabled' | 'deleted';

/** Describes what is stored about a post. `state` is `skipped` when it was not made because the endpoint is disabled. */
export type Recorded = PostResult & {
  /** Reference of the task. */
  reference: string;
  state: NextAttempt['state'];
  attempts: number;
  now: number;
};

export type PostSettlement = {
  lease: Lease;
  endpointId: string;
  /** URL of the post. The endpoint may have another one by now. */
  url: string;
  now: number;
  next: NextAttempt;
  result: PostResult;
  /** The receiver took the post, refused it, or wants no more; `none`: nothing was posted. */
  answer: 'taken' | 'refused' | 'gone' | 'none';
};

/** Effect of a post on its endpoint. `stale` means that the lease was no longer valid and nothing changed. */
export type PostEffect = 'stale' | 'none' | 'warned' | 'disabled' | 'gone';
export type Settled = { end: TaskEnd; effect: PostEffect };

/** How a feature stores its endpoints and the log of their posts. */
export type PostTarget = {
  find(tx: Tx, id: string): Promise<Endpoint | undefined>;
  record(tx: Tx, post: Recorded): Promise<void>;
  /** Ends posts that wait for an endpoint which gets no more of them, a bounded number. */
  endWaiting(tx: Tx, end: { id: string; why: Closed; now: number }): Promise<void>;
  noteSuccess(tx: Tx, id: string): Promise<void>;
  noteFailing(tx: Tx, failure: Failing & { id: string }): Promise<void>;
  /** Disables an endpoint on behalf of the service, and ends posts that wait for it. */
  disable(tx: Tx, end: { id: string; reason: 'failures' | 'gone'; now: number }): Promise<void>;
  countFailing(tx: Tx, id: string, window: FailingWindow): Promise<number>;
};

/** Defines the write that settles posts of a feature. It answers in their order. */
export function defineSettle(name: string, target: PostTarget): Write<readonly PostSettlement[], Settled[]> {
  return defineWrite(name, async (tx, settlements: readonly PostSettlement[]): Promise<Settled[]> => {
    const settled: Settled[] = [];
    const known = new Map<string, Endpoint | undefined>();
    for (const settlement of settlements) {
      const { endpointId: id, answer } = settlement;
      const endpoint = known.has(id) ? known.get(id) : await target.find(tx, id);
      settled.push(await settle(tx, target, { settlement, endpoint }));
      // Only a post that was taken after others leaves its endpoint as it was.
      if (answer === 'taken' && endpoint?.failingSince === null) known.set(id, endpoint);
      else known.delete(id);
    }
    return settled;
  });
}

async function settle(
  tx: Tx,
  target: PostTarget,
  { settlement, endpoint }: { settlement: PostSettlement; endpoint: Endpoint | undefined },
): Promise<Settled> {
  const { endpointId: id, url, now, answer } = settlement;
  const isRefused = answer === 'refused' || answer === 'gone';
  const hasMoved = isRefused && endpoint !== undefined && endpoint.url !== url;
  const end = await record(tx, target, hasMoved ? forNextReceiver(settlement) : settlement);
  if (end === 'stale') return { end, effect: 'stale' };
  if (answer === 'taken' && endpoint && endpoint.failingSince !== null) await target.noteSuccess(tx, id);
  if (answer === 'taken' || hasMoved) return { end, effect: 'none' };
  if (!endpoint?.isEnabled) await target.endWaiting(tx, { id, why: closedAs(endpoint), now });
  if (!endpoint?.isEnabled || !isRefused) return { end, effect: 'none' };
  if (answer === 'gone') {
    await target.disable(tx, { id, reason: 'gone', now });
    return { end, effect: 'gone' };
  }
  return { end, effect: await settleFailure(tx, target, { endpoint, now }) };
}

/** Returns why an endpoint that is not enabled gets no posts. */
export function closedAs(endpoint: Endpoint | undefined): Closed {
  return endpoint ? 'disabled' : 'deleted';
}

async function record(tx: Tx, target: PostTarget, settlement: PostSettlement): Promise<TaskEnd> {
  const { lease, next, result, now } = settlement;
  const end =
    next.state === 'pending'
      ? await retryTask.run(tx, { lease, dueAt: next.dueAt })
      : await completeTask.run(tx, lease);
  if (end !== 'stale') {
    const attempts = Math.min(lease.attempts, MAX_ATTEMPTS);
    await target.record(tx, { ...result, reference: lease.reference, state: next.state, attempts, now });
  }
  return end;
}

/** Makes a post due for the new URL of its endpoint, because the refusal came from the previous one. */
function forNextReceiver(settlement: PostSettlement): PostSettlement {
  const { lease, now } = settlement;
  if (lease.attempts >= MAX_ATTEMPTS) return settlement;
  return { ...settlement, next: { state: 'pending', dueAt: now } };
}

async function settleFailure(
  tx: Tx,
  target: PostTarget,
  { endpoint, now }: { endpoint: Endpoint; now: number },
): Promise<PostEffect> {
  const { id } = endpoint;
  const { failing, warns } = failedAgain(endpoint, now);
  if (await hasFailedTooLong(failing, now, (window) => target.countFailing(tx, id, window))) {
    await target.disable(tx, { id, reason: 'failures', now });
    return 'disabled';
  }
  await target.noteFailing(tx, { id, ...failing });
  return warns ? 'warned' : 'none';
}
