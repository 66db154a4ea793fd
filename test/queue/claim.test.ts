import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimDeliveries, leaseFrom } from '../../src/queue/claim.ts';
import { listDueQueues } from '../../src/queue/due-store.ts';
import type { Allowance } from '../../src/queue/sources/warm-up/allowance.ts';
import { releaseUnsent } from '../../src/queue/state/recover.ts';
import { closeAfterTests } from '../support/close-after.ts';
import { openSpool } from '../support/spool.ts';
import { waitUntil } from '../support/wait-until.ts';
import { setFirstAttempts } from '../support/warm-ups.ts';

const spool = closeAfterTests()(await openSpool());
const { app, clock } = spool;

function claim(
  queue: string,
  {
    queues = [queue],
    retriesOnly = [],
    warmUp = null,
  }: { queues?: string[]; retriesOnly?: string[]; warmUp?: Allowance | null } = {},
) {
  const [now, leasedUntil] = [clock.now(), leaseFrom(clock.elapsed())];
  const take = [{ queue, limit: 10 }];
  const request = { now, runId: app.runId, leasedUntil, site: 'mx', take, queues, retriesOnly, warmUp };
  return app.db.commit(claimDeliveries, request);
}

/** Notes an attempt of a recipient that was released, as after a crash: its state alone does not show that it was tried. */
async function wasTried(address: string): Promise<string> {
  const { id, queue } = await app.db.read
    .selectFrom('recipients')
    .select(['id', 'queue'])
    .where('address', '=', address)
    .executeTakeFirstOrThrow();
  const runId = 'an earlier run';
  const [now, leasedUntil] = [clock.now(), leaseFrom(clock.elapsed())];
  const take = [{ queue, limit: 1 }];
  const claimed = await app.db.commit(claimDeliveries, {
    ...{ now, runId, leasedUntil, site: 'mx', take, queues: [queue], retriesOnly: [], warmUp: null },
  });
  const recipientIds = claimed.deliveries.flatMap(({ recipients }) => recipients.map((one) => one.id));
  assert.deepEqual(recipientIds, [id]);
  const claims = claimed.deliveries.map(({ message }) => ({ messageId: message.id, recipientIds }));
  await app.db.commit(releaseUnsent, { now, runId, claims });
  return queue;
}

test('a claim of retries takes the recipients that were tried before, and leaves the others of the same message due', async () => {
  await spool.accept(['old@both.example', 'new0@other.example']);
  const queue = await wasTried('old@both.example');
  const other = queue.replace('both', 'other');
  await spool.accept(['new1@both.example', 'new2@both.example']);
  const listDue = async () =>
    (await app.db.query(listDueQueues, { after: -1, until: clock.now() })).map(({ key, hasRetries }) => [
      key,
      hasRetries,
    ]);
  assert.deepEqual(await listDue(), [
    [queue, true],
    [other, false],
  ]);
  const queues = [queue, other];
  const { deliveries, exhausted } = await claim(queue, { queues, retriesOnly: queues });
  assert.deepEqual(
    deliveries.map(({ recipients }) => recipients.map(({ address, attempts }) => [address, attempts])),
    [[['old@both.example', 2]]],
  );
  assert.deepEqual(exhausted, [queue]);
  assert.deepEqual(await listDue(), [
    [queue, false],
    [other, false],
  ]);
  const rest = await claim(queue);
  assert.deepEqual(
    rest.deliveries.map(({ recipients }) => recipients.map(({ address }) => address)),
    [['new1@both.example', 'new2@both.example']],
  );
});

/** Takes what a claim has claimed as addresses, and how many first attempts are counted after it. */
async function claimWarming(queue: string, warmUp: Allowance, options: { queues?: string[] } = {}) {
  const { deliveries, exhausted } = await claim(queue, { warmUp, ...options });
  const { source, provider } = warmUp;
  const counted = await app.db.read
    .selectFrom('sourceWarmUpCounts')
    .select(['day', 'firstAttempts'])
    .where('source', '=', source)
    .where('provider', '=', provider)
    .executeTakeFirst();
  const claimed = deliveries.flatMap(({ recipients }) => recipients.map(({ address }) => address));
  return { claimed, isExhausted: exhausted.includes(queue), counted };
}

test('a claim takes as many first attempts as a warm-up leaves, counts them, and has queues routed again when none is left', async () => {
  await spool.accept(['a0@warm.example', 'a1@warm.example', 'b0@beside.example']);
  await spool.accept('a2@warm.example');
  await spool.accept('a3@warm.example');
  const due = await app.db.query(listDueQueues, { after: -1, until: clock.now() });
  const queue = due.map(({ key }) => key).find((key) => key.includes('warm.example')) ?? '';
  const queues = [queue, queue.replace('warm', 'beside')];
  let routed = 0;
  const end = app.wakeups.listen('outbound-routes', () => routed++);
  const warmUp = { source: 'cold', provider: 'other', day: 7, cap: 5 };
  // The count of another day must not limit this one.
  setFirstAttempts(spool, { source: 'cold', provider: 'other', day: 6, firstAttempts: 90 });
  assert.deepEqual(await claimWarming(queue, { ...warmUp, cap: 4 }, { queues }), {
    claimed: ['a0@warm.example', 'a1@warm.example', 'b0@beside.example', 'a2@warm.example'],
    isExhausted: false,
    counted: { day: 7, firstAttempts: 4 },
  });
  await waitUntil(() => routed === 1);
  const nothing = { claimed: [], isExhausted: false, counted: { day: 7, firstAttempts: 4 } };
  assert.deepEqual(await claimWarming(queue, { ...warmUp, cap: 4 }), nothing);
  assert.deepEqual(await claimWarming(queue, { ...warmUp, cap: 1_000 }), {
    claimed: ['a3@warm.example'],
    isExhausted: true,
    counted: { day: 7, firstAttempts: 5 },
  });
  end();
});

test('a claim splits a message whose recipients are too many for a warm-up, and retries do not count', async () => {
  await spool.accept('old@split.example');
  const queue = await wasTried('old@split.example');
  await spool.accept(['c0@split.example', 'c1@split.example', 'c2@split.example']);
  const warmUp = { source: 'split', provider: 'other', day: 7, cap: 2 };
  assert.deepEqual(await claimWarming(queue, warmUp), {
    claimed: ['old@split.example', 'c0@split.example', 'c1@split.example'],
    isExhausted: false,
    counted: { day: 7, firstAttempts: 2 },
  });
  const rest = await claim(queue);
  assert.deepEqual(
    rest.deliveries.flatMap(({ recipients }) => recipients.map(({ address }) => address)),
    ['c2@split.example'],
  );
});
