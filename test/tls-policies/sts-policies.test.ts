/** Policies of MTA-STS over time: how long they hold, when they are fetched again, and how many are fetched at once. */
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { Fetch } from '../../src/system/fetch.ts';
import { saveStsPolicy } from '../../src/tls-policies/store.ts';
import { createStsRefreshWork, StsPolicies } from '../../src/tls-policies/sts-policies.ts';
import { closeAfterTests } from '../support/close-after.ts';
import { openSpool } from '../support/spool.ts';
import { waitUntil } from '../support/wait-until.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Bodies of policies by their domain; a domain without one cannot be reached. */
const published = new Map<string, string>();
/** Domains in the order in which their policies were asked for. */
let fetched: string[] = [];
let running = 0;
let maxRunning = 0;
/** Set while policy hosts do not answer; resolves when they do. */
let hang: Promise<void> | undefined;
const fetch: Fetch = async ({ url }) => {
  const domain = new URL(url).hostname.replace(/^mta-sts\./, '');
  fetched.push(domain);
  running++;
  maxRunning = Math.max(maxRunning, running);
  await hang;
  running--;
  const body = published.get(domain);
  if (body === undefined) throw new Error('connect ECONNREFUSED');
  return {
    status: 200,
    headers: { 'content-type': 'text/plain' },
    body: Buffer.from(body),
    truncated: false,
  };
};
const closing = closeAfterTests();
const spool = closing(await openSpool({ system: { fetch } }));
const { app, clock } = spool;

afterEach(() => {
  fetched = [];
  maxRunning = 0;
  hang = undefined;
});

function publish(
  domain: string,
  { id, maxAge = 604_800, mx = 'mx' }: { id: string; maxAge?: number; mx?: string },
) {
  published.set(domain, `version: STSv1\nmode: enforce\nmx: ${mx}.${domain}\nmax_age: ${maxAge}\n`);
  announce(domain, id);
}

const announced = new Map<string, string>();

/** Publishes the record of a domain in place of the one before, or removes it. */
function announce(domain: string, id?: string): void {
  if (id === undefined) announced.delete(domain);
  else announced.set(domain, `_mta-sts.${domain} TXT "v=STSv1; id=${id}"`);
  spool.dns.setZone([...announced.values()].join('\n'));
}

const failures: string[] = [];
const open = () => new StsPolicies(app, (domain, { kind }) => failures.push(`${domain} ${kind}`));

/** Returns a promise and the function that resolves it. */
function gate(): { opened: Promise<void>; open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

test('a policy with max_age 0 holds for five minutes, is not fetched for each message, and is gone with its record', async () => {
  publish('zero.test', { id: '1', maxAge: 0 });
  const policies = open();
  const found = await policies.find('zero.test');
  assert.deepEqual([found.policy?.mx, found.retryMs], [['mx.zero.test'], 5 * MINUTE_MS]);
  await clock.advance(4 * MINUTE_MS);
  const again = await policies.find('zero.test');
  assert.deepEqual([again.policy?.mode, again.retryMs, fetched], ['enforce', MINUTE_MS, ['zero.test']]);
  await clock.advance(2 * MINUTE_MS);
  assert.equal((await policies.find('zero.test')).policy?.mode, 'enforce');
  assert.deepEqual(fetched, ['zero.test', 'zero.test'], 'it has expired');
  await clock.advance(6 * MINUTE_MS);
  announce('zero.test');
  const gone = await policies.find('zero.test');
  assert.deepEqual([gone.policy, gone.retryMs, fetched.length], [undefined, Number.POSITIVE_INFINITY, 2]);
});

test('a new id in the record has the policy fetched at once, and the same id does not', async () => {
  publish('changed.test', { id: '1' });
  assert.deepEqual((await open().find('changed.test')).policy?.mx, ['mx.changed.test']);
  published.set('changed.test', (published.get('changed.test') ?? '').replace('mx.', 'other.'));
  assert.deepEqual((await open().find('changed.test')).policy?.mx, ['mx.changed.test'], 'as stored');
  assert.equal(fetched.length, 1);
  announce('changed.test', '2');
  assert.deepEqual((await open().find('changed.test')).policy?.mx, ['other.changed.test']);
  assert.equal(fetched.length, 2);
  assert.deepEqual((await open().find('changed.test')).policy?.mx, ['other.changed.test']);
  assert.equal(fetched.length, 2, 'the new one is stored');
});

test('the policy before holds while the one with a new id cannot be fetched, which is tried every five minutes', async () => {
  publish('kept.test', { id: '1' });
  const policies = open();
  await policies.find('kept.test');
  published.delete('kept.test');
  announce('kept.test', '2');
  const kept = await policies.find('kept.test');
  assert.deepEqual([kept.policy?.mx, kept.retryMs], [['mx.kept.test'], 5 * MINUTE_MS]);
  assert.equal((await policies.find('kept.test')).policy?.mode, 'enforce');
  assert.deepEqual([fetched.length, failures], [2, ['kept.test sts-policy-fetch-error']]);
  await clock.advance(5 * MINUTE_MS);
  publish('kept.test', { id: '2', mx: 'new' });
  assert.deepEqual((await policies.find('kept.test')).policy?.mx, ['new.kept.test']);
});

test('64 policies are fetched at once, each once for all that ask, and others wait for a slot', async () => {
  const domains = Array.from({ length: 70 }, (_, index) => `slot${index}.test`);
  for (const domain of domains) publish(domain, { id: '1' });
  const { opened, open: answer } = gate();
  hang = opened;
  const policies = open();
  const asked = [...domains, ...domains].map((domain) => policies.find(domain));
  await waitUntil(() => running === 64, 'all slots are used');
  answer();
  const found = await Promise.all(asked);
  assert.ok(found.every(({ policy }) => policy?.mode === 'enforce'));
  assert.deepEqual([maxRunning, fetched.length, new Set(fetched).size], [64, 70, 70]);
});

test('32 stored policies are fetched again at once', async () => {
  const now = clock.now();
  const domains = Array.from({ length: 40 }, (_, index) => `again${index}.test`);
  for (const domain of domains) {
    publish(domain, { id: '2' });
    const row = { domain, mode: 'enforce', policyId: '1', mx: '[]', maxAgeSeconds: 604_800 } as const;
    await app.db.commit(saveStsPolicy, { ...row, expiresAt: now + DAY_MS, refreshAt: now });
  }
  const { opened, open: answer } = gate();
  hang = opened;
  const work = createStsRefreshWork(app);
  const { items } = await work.lease(1);
  const runs = items.map((item) => work.run(item));
  await waitUntil(() => running === 32, 'all slots are used');
  answer();
  await Promise.all(runs);
  assert.equal(maxRunning, 32);
  const rows = await app.db.read
    .selectFrom('stsPolicies')
    .selectAll()
    .where('domain', 'like', 'again%')
    .execute();
  assert.deepEqual(
    new Set(rows.map(({ policyId, mx }) => `${policyId} ${mx.startsWith('["mx.again')}`)),
    new Set(['2 true']),
  );
});
