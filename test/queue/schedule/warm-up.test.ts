/** Queues whose source takes retries alone, because its warm-up allows no more first attempts on that day. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Decision, Destination } from '../../../src/queue/schedule/events.ts';
import { MESSAGES_PER_CONNECTION } from '../../../src/queue/schedule/limits.ts';
import { Schedule } from '../../../src/queue/schedule/schedule.ts';

const HOUR_MS = 3_600_000;
const COLD = { key: 'cold', tenantId: 'ten_1', band: 'transactional' } as const;
const WARM = { key: 'warm', tenantId: 'ten_1', band: 'transactional' } as const;
const NONE: ReadonlySet<string> = new Set();
const FULL = { until: 2 * HOUR_MS, reason: 'enough for today' };

function wayTo(fullWarmUp: typeof FULL | null): Destination {
  const limits = {
    connections: 5,
    connectionsPerMinute: null,
    recipientsPerMinute: null,
    messagesPerConnection: MESSAGES_PER_CONNECTION,
    group: null,
  };
  return {
    kind: 'site',
    site: 'mx',
    pool: 'remote',
    limits,
    routedUntil: 3 * HOUR_MS,
    rests: [],
    fullWarmUp,
  };
}

const ready = { isConnected: false, isLost: false, idleMs: 0 };
const kindsOf = (decisions: readonly Decision[]) => decisions.map(({ kind }) => kind);

/** Opens a schedule with a session, and returns it with its first claim from the queues. */
function claimFrom(ways: Record<string, Destination>) {
  const schedule = new Schedule({ connections: 5 });
  const queues = Object.keys(ways).map((key) => ({ ...COLD, key }));
  schedule.handle({ kind: 'due', queues, withRetries: NONE }, 0);
  const opened = queues.flatMap(({ key }) =>
    schedule.handle({ kind: 'routed', queue: key, to: ways[key] as Destination }, 0),
  );
  const open = opened.find((decision) => decision.kind === 'open');
  assert.ok(open);
  const decisions = schedule.handle({ kind: 'ready', session: open.session, situation: ready }, 0);
  const claim = decisions.find((decision) => decision.kind === 'claim');
  assert.ok(claim);
  return { schedule, claim };
}

/** Opens a schedule in which no retry is due in a queue that takes nothing else. */
function openWaiting(): Schedule {
  const { schedule } = claimFrom({ cold: wayTo(FULL) });
  schedule.handle({ kind: 'claimed', site: 'mx', mail: [], recipients: 0, exhausted: ['cold'] }, 0);
  return schedule;
}

test('only retries are claimed of a queue whose warm-up is full, and all mail of others at the same site', () => {
  const { claim } = claimFrom({ cold: wayTo(FULL), warm: wayTo(null) });
  assert.deepEqual(claim.with.toSorted(), ['cold', 'warm']);
  assert.deepEqual(claim.retriesOnly, ['cold']);
});

test('first attempts wait until the next day, and new ones lead to no claim', () => {
  const schedule = openWaiting();
  for (let count = 0; count < 10; count++)
    assert.deepEqual(schedule.handle({ kind: 'due', queues: [COLD], withRetries: NONE }, count), []);
  assert.deepEqual(schedule.explainQueue('cold', 10), { noSource: null, fullWarmUp: FULL, site: undefined });
  // Their way is looked up every hour, because the wall clock may have been set.
  assert.equal(schedule.wakeAt, HOUR_MS);
  const routes = [{ kind: 'route', queue: 'cold', isFirst: true }];
  assert.deepEqual(schedule.handle({ kind: 'time' }, HOUR_MS), routes);
  const opened = schedule.handle({ kind: 'routed', queue: 'cold', to: wayTo(null) }, HOUR_MS);
  assert.ok(kindsOf(opened).includes('open'));
  assert.equal(schedule.explainQueue('cold', HOUR_MS)?.fullWarmUp, null);
});

test('new first attempts do not repeat a claim of retries that is being written, and a new retry does', () => {
  for (const [withRetries, kinds] of [
    [NONE, ['end']],
    [new Set(['cold']), ['claim']],
  ] as const) {
    const { schedule } = claimFrom({ cold: wayTo(FULL) });
    schedule.handle({ kind: 'due', queues: [COLD], withRetries }, 1);
    const after = schedule.handle(
      { kind: 'claimed', site: 'mx', mail: [], recipients: 0, exhausted: ['cold'] },
      2,
    );
    assert.deepEqual(kindsOf(after), kinds);
  }
});

test('a retry that has become due is claimed while first attempts wait', () => {
  const schedule = openWaiting();
  const woken = schedule.handle({ kind: 'due', queues: [WARM, COLD], withRetries: new Set(['cold']) }, 5);
  assert.deepEqual(woken.at(-1), { kind: 'route', queue: 'cold', isFirst: true });
  schedule.handle({ kind: 'routed', queue: 'cold', to: wayTo(FULL) }, 5);
  const { fullWarmUp, site } = schedule.explainQueue('cold', 5) ?? {};
  assert.deepEqual(fullWarmUp, FULL);
  assert.equal(site?.queues, 1);
});

test('a warm-up that is ended or begins another day gives all mail its way, and mail without a source has none', () => {
  const schedule = openWaiting();
  assert.deepEqual(schedule.handle({ kind: 'routes-changed' }, 5), [
    { kind: 'route', queue: 'cold', isFirst: true },
  ]);
  const until = 60_000;
  schedule.handle({ kind: 'routed', queue: 'cold', to: { kind: 'wait', until, reason: 'unplugged' } }, 5);
  const noSource = { until, reason: 'unplugged' };
  assert.deepEqual(schedule.explainQueue('cold', 5), { noSource, fullWarmUp: null, site: undefined });
});
