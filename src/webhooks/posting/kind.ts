/**
 * Posts as a kind of task (tasks/kind.ts). Posts to an endpoint share a queue. An endpoint whose last post failed has one
 * slot, and all such endpoints together never take the last quarter: however many receivers are dead, the others are served.
 */
import { AnswerCache } from '../../db/answer-cache.ts';
import type { Tx, Write } from '../../db/operation.ts';
import { leaseOf, type QueueRules, type RunningTask, type TaskKind } from '../../tasks/kind.ts';
import { type LeasedTask, retryTask, type TaskEnd } from '../../tasks/store.ts';
import type { PartApp, QueryingApp } from '../../thread-app.ts';
import { NO_RESULT, type PostOutcome, resultOf } from './post.ts';
import { nextAttempt, RETRY_DELAYS_MS } from './schedule.ts';
import { closedAs, type Endpoint, type PostSettlement, type Settled } from './settle.ts';
import { Settlements } from './settlements.ts';
import { suspendedUntil } from './suspension.ts';
import { Windows } from './windows.ts';

/** Maximum number of open posts. */
const IN_FLIGHT = 256;
/** Maximum number of open posts to all endpoints together whose last post failed. */
const MAX_FAILING = 192;
/** Minimum time between two leases, so that the posts of a busy endpoint share one. */
const LEASE_INTERVAL_MS = 20;
const MS_PER_SECOND = 1_000;
/** Delay of a post for which something was busy, in milliseconds. */
const POSTPONED_MS = 5_000;

/** Maximum number of endpoints that are kept until they change: a few MB. */
const MAX_KEPT_ENDPOINTS = 1_000;

/** The parts of the app that posts use. */
export type PostingApp = PartApp & { db: Pick<QueryingApp['db'], 'changes'> };

/** Nothing was posted: it cannot be, or something is busy and a later attempt may succeed. */
export type Unposted = { kind: 'unpostable'; error: string } | { kind: 'postponed' };

type Posting<Receiver extends Endpoint> = {
  /** Name of the kind. */
  name: string;
  /** Name of an endpoint in logs, and of the field with its id. */
  what: string;
  idField: string;
  /** Metric of the posts by outcome, and the one of the lag. */
  metric: { name: string; help: string };
  lagMetric: { name: string; help: string };
  /** Returns when the oldest of all that waits to be posted was created, in Unix milliseconds; undefined when nothing waits. */
  findOldest(tx: Tx): Promise<number | undefined>;
  find(tx: Tx, id: string): Promise<Receiver | undefined>;
  /** The table of the endpoints. */
  table: 'webhookEndpoints' | 'inboundRoutes';
  /** State and error of posts that wait for an endpoint which gets no more of them. */
  closed: Readonly<Record<'disabled' | 'deleted', { state: 'failed' | 'skipped'; error: string }>>;
  settle: Write<readonly PostSettlement[], Settled[]>;
  endSuspensions: Write<undefined, void>;
  /** Makes the post. It never throws for an error of the receiver. */
  post(task: LeasedTask, endpoint: Receiver): Promise<PostOutcome | Unposted>;
};

/** Returns the kind of the posts of a feature. */
export function createPostKind<Receiver extends Endpoint>(
  app: PostingApp,
  posting: Posting<Receiver>,
): TaskKind {
  const { clock, config, db, random } = app;
  const posts = app.metrics.counter(posting.metric.name, posting.metric.help, ['outcome']);
  app.metrics.gauge(posting.lagMetric.name, posting.lagMetric.help, async () => {
    const oldest = await posting.findOldest(db.read);
    return oldest === undefined ? 0 : Math.max(0, clock.now() - oldest) / MS_PER_SECOND;
  });
  const windows = new Windows(config.webhooks.maxOpenPerEndpoint);
  const settlements = new Settlements(app, posting.settle);
  const find = keepingEndpoints(app, posting);

  async function settle(
    task: LeasedTask,
    settlement: Omit<PostSettlement, 'lease' | 'now'>,
  ): Promise<TaskEnd> {
    const whole = { ...settlement, lease: leaseOf(task), now: clock.now() };
    const { end, effect } = await settlements.add(whole);
    report(app.log, posting, { ...whole, effect });
    return end;
  }

  function end(task: LeasedTask, state: 'failed' | 'skipped', error: string): Promise<TaskEnd> {
    const next = { state, dueAt: null };
    const result = { ...NO_RESULT, error };
    return settle(task, { endpointId: task.queueKey, url: '', next, result, answer: 'none' });
  }

  async function post(task: LeasedTask, endpoint: Receiver): Promise<PostOutcome | Unposted> {
    const beganAt = clock.elapsed();
    windows.begin(endpoint.id);
    let outcome: PostOutcome | Unposted = { kind: 'postponed' };
    try {
      outcome = await posting.post(task, endpoint);
      return outcome;
    } finally {
      const now = clock.elapsed();
      windows.end(endpoint.id, answerOf(outcome, now - beganAt), { beganAt, now });
    }
  }

  return {
    name: posting.name,
    leavesHost: true,
    concurrency: IN_FLIGHT,
    leaseIntervalMs: LEASE_INTERVAL_MS,
    backOff: (attempts) => RETRY_DELAYS_MS[attempts - 1],
    prepare: () => db.commit(posting.endSuspensions, undefined),
    async rules(id): Promise<QueueRules> {
      const endpoint = await find(id);
      if (!endpoint?.isEnabled) return { limits: [{ key: id, max: 1 }] };
      const isFailing = endpoint.failingSince !== null;
      return {
        pausedUntil: suspendedUntil(endpoint, clock.now()),
        limits: [
          { key: id, max: isFailing ? 1 : windows.sizeOf(id) },
          { key: `host ${URL.parse(endpoint.url)?.host}`, max: config.webhooks.maxOpenPerHost },
          ...(isFailing ? [{ key: 'failing', max: MAX_FAILING }] : []),
        ],
      };
    },
    async run(task: RunningTask) {
      const endpoint = await find(task.queueKey);
      if (!endpoint?.isEnabled) {
        const { state, error } = posting.closed[closedAs(endpoint)];
        return end(task, state, error);
      }
      const outcome = await post(task, endpoint);
      posts.inc({ outcome: outcome.kind });
      app.crashPoint('post-made', posting.name);
      // Another post need not wait for the write. After a failure it does, since the endpoint may be suspended.
      if (outcome.kind === 'delivered') task.free();
      if (outcome.kind === 'unpostable') return end(task, 'failed', outcome.error);
      const now = clock.now();
      if (outcome.kind === 'postponed') {
        const attempts = task.attempts - 1;
        return db.commit(retryTask, { lease: leaseOf(task), dueAt: now + POSTPONED_MS, attempts });
      }
      return settle(task, {
        endpointId: endpoint.id,
        url: endpoint.url,
        next: nextAttempt(task.attempts, outcome, { now, random }),
        result: resultOf(outcome),
        answer: ANSWERS[outcome.kind],
      });
    },
    giveUp: (task, error) => end(task, 'failed', error),
  };
}

/** Returns a function that finds an endpoint, and reads it again only when it has changed. */
function keepingEndpoints<Receiver extends Endpoint>(
  { db }: PostingApp,
  posting: Pick<Posting<Receiver>, 'find' | 'table'>,
): (id: string) => Promise<Receiver | undefined> {
  const options = { changes: db.changes, tables: [posting.table], maxSize: MAX_KEPT_ENDPOINTS };
  const endpoints = new AnswerCache<string, Receiver | undefined>({ ...options, sizeOf: () => 1 });
  return (id) => endpoints.get(id, () => posting.find(db.read, id));
}

const ANSWERS = {
  delivered: 'taken',
  gone: 'gone',
  refused: 'refused',
  unreachable: 'refused',
} as const satisfies Record<PostOutcome['kind'], PostSettlement['answer']>;

const TOO_MANY_REQUESTS = 429;

/** Returns what a post says about how many more its receiver can take. */
function answerOf(outcome: PostOutcome | Unposted, timeMs: number) {
  const isOverloaded =
    outcome.kind === 'unreachable' ||
    (outcome.kind === 'refused' &&
      (outcome.response.status >= 500 || outcome.response.status === TOO_MANY_REQUESTS));
  return { isGood: outcome.kind === 'delivered', isOverloaded, timeMs };
}

/** Logs the effect of a post for the operator. The owner sees it in the endpoint and in the log of posts. */
function report(
  log: PartApp['log'],
  { what, idField }: Pick<Posting<Endpoint>, 'what' | 'idField'>,
  { endpointId, lease, next, result: { error }, answer, effect }: PostSettlement & Pick<Settled, 'effect'>,
): void {
  const { reference, attempts } = lease;
  const endpoint = { [idField]: endpointId };
  switch (effect) {
    case 'stale':
      log.warn({ ...endpoint, reference, attempts }, 'a post was answered after its delivery had changed');
      break;
    case 'gone':
      log.info(endpoint, `${what} disabled: its receiver answered 410`);
      break;
    case 'disabled':
      log.warn({ ...endpoint, error }, `${what} disabled: it has taken nothing for days`);
      break;
    case 'warned':
      log.warn({ ...endpoint, error }, `${what} has taken nothing for a day`);
      break;
    case 'none':
      if (next.state === 'failed' && answer !== 'none')
        log.warn({ ...endpoint, reference, error }, `a post to a ${what} was given up`);
  }
}
