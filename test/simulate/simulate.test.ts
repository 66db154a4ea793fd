import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { PLANTED } from './planted.ts';
import { openWorkshop, runSeed } from './run-seed.ts';

let workshop: Awaited<ReturnType<typeof openWorkshop>>;
before(async () => {
  workshop = await openWorkshop();
});

/** Small plans that end soon. `npm run simulate` runs thousands. */
const SEEDS = [1, 3, 6, 7, 9, 12, 15, 16, 25];

test('the queue obeys its rules in small worlds with faults', async () => {
  for (const seed of SEEDS) {
    const { failure } = await runSeed(workshop, seed, { size: 'small' });
    assert.equal(failure, undefined, `npm run simulate -- --seed ${seed} --size small`);
  }
});

test('a seed repeats its history', async () => {
  const first = await runSeed(workshop, 9, { size: 'small', isTraced: true });
  const second = await runSeed(workshop, 9, { size: 'small', isTraced: true });
  assert.ok(first.trace.length > 50);
  assert.deepEqual(first.trace, second.trace);
});

/** A seed that finds each planted fault soon, and words of the rule that it breaks. */
const FOUND = {
  'claim-twice': { seed: 1, size: 'small', rule: /got the message twice/ },
  'forgotten-rest': { seed: 4, size: 'small', rule: /is dialled while it rests/ },
  'starved-tenant': { seed: 1, size: 'crowd', rule: /the single mail waits/ },
  'tls-downgrade': { seed: 9, size: 'small', rule: /requires TLS and was sent/ },
  'lost-put-back': { seed: 3, size: 'small', rule: /ended without an outcome/ },
  'limit-off-by-one': { seed: 2, size: 'small', rule: /connections, and the limit is/ },
  'rate-times-three': { seed: 22, size: 'small', rule: /recipients a minute/ },
  'connection-rate-times-three': { seed: 18, size: 'crowd', rule: /connections a minute/ },
  'group-off-by-one': { seed: 35, size: 'small', rule: /the provider has 2 connections/ },
  'forgotten-relay': { seed: 9, size: 'small', rule: /demands relay and was sent/ },
  'hidden-policy': { seed: 3, size: 'small', rule: /demands mta-sts and was sent/ },
  'short-tenant-rest': { seed: 7, size: 'small', rule: /is claimed while t1 rests/ },
  'forgotten-suspension': { seed: 74, size: 'small', rule: /while it is suspended/ },
  'claimed-by-two-threads': { seed: 2, size: 'small', rule: /connections, and the limit is/ },
  'forgotten-warm-up': { seed: 19, size: 'crowd', rule: /first attempts on a day/ },
  'delayed-retries': { seed: 99, size: 'crowd', rule: /the retry of .* waits, and nothing goes to/ },
} as const;

test('each planted fault is found', async (t) => {
  assert.deepEqual(Object.keys(FOUND), Object.keys(PLANTED));
  for (const [name, { seed, size, rule }] of Object.entries(FOUND)) {
    await t.test(name, async () => {
      const { failure } = await runSeed(workshop, seed, { size, tamper: PLANTED[name] });
      assert.match(failure?.rule ?? 'nothing', rule);
    });
  }
});
