import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Verdict } from '../../../src/domains/check.ts';
import { findReceiver, stillReceives } from '../../../src/domains/receiving/store.ts';
import { GRACE_MS, maySend } from '../../../src/domains/states.ts';
import { type Domain, endDomain, getDomain, recordCheck } from '../../../src/domains/store.ts';
import { explain } from '../../support/explain.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { openTestApp } from '../../support/test-app.ts';
import { addDomain } from '../fixtures.ts';

const START = 1_800_000_000_000;
const clock = createFakeClock(START);
const world = await openTestApp({ system: { clock } });
after(() => world.close());
const { db } = world.app;

let names = 0;
const newName = () => `name-${++names}.example`;
let tenants = 0;
/** Adds a domain of a tenant of its own. */
async function add(name: string, fields: Partial<Domain> = {}): Promise<Domain> {
  const { tenantId } = await world.addTenant(`receiver ${++tenants}`);
  const id = `dom_${String(tenants).padStart(26, '0')}` as const;
  return addDomain({ ...world, tenantId }, { id, name, ...fields });
}

const right: Verdict = { kind: 'verified', found: [] };
const absent: Verdict = { kind: 'absent', found: [], error: 'absent' };
function check({ id, tenantId }: Domain, now: number, isRight: boolean, isAsked = false) {
  const verdict = isRight ? right : absent;
  const verdicts = {
    ...{ SPF: verdict, DKIM: verdict, DMARC: verdict },
    ...{ tracking: null, returnPath: null, mx: absent },
  };
  return db.commit(recordCheck, { id, tenantId, verdicts, now, isAsked, spread: 0 });
}

async function expectReceiver(expected: Domain | undefined, name: string, now: number): Promise<void> {
  const found = await findReceiver(db.read, name, now);
  assert.equal(found?.id, expected?.id);
  assert.equal(found?.tenantId, expected?.tenantId);
  assert.equal(found && stillReceives(found, now), expected && true);
}

test('the tenant whose verification has stood longest receives, whoever came first or was checked last', async () => {
  const name = newName();
  const first = await add(name);
  const second = await add(name);
  await expectReceiver(undefined, name, START);
  await check(second, START, true);
  await check(first, START + 1, true);
  await check(second, START + 1_000, true, true);
  await expectReceiver(second, name, START + 1_000);
  await expectReceiver(undefined, `x.${name}`, START + 1_000);
});

test('the next tenant takes over when the grace period of the longest has ended, at that very moment', async () => {
  const name = newName();
  const longest = await add(name);
  const next = await add(name);
  const last = await add(name);
  for (const [index, domain] of [longest, next, last].entries()) await check(domain, START + index, true);
  await check(longest, START + 100, false);
  const end = START + 100 + GRACE_MS;
  await expectReceiver(longest, name, end - 1);
  await expectReceiver(next, name, end);
  assert.equal(maySend(await getDomain(db.read, longest.tenantId, longest.id), end), false);
  await check(longest, end, false);
  await expectReceiver(next, name, end);
});

test('a tenant that comes back after a lapse stands behind the others, and within its grace period it keeps its place', async () => {
  for (const [after, isLongest] of [
    [GRACE_MS - 1, true],
    [GRACE_MS, false],
    [GRACE_MS + 1, false],
  ] as const) {
    const name = newName();
    const longest = await add(name);
    const next = await add(name);
    await check(longest, START, true);
    await check(next, START + 1, true);
    await check(longest, START + 2, false);
    await check(longest, START + 2 + after, true);
    await expectReceiver(isLongest ? longest : next, name, START + 2 + after);
  }
  const name = newName();
  const failed = await add(name);
  await check(failed, START, true);
  await check(failed, START + 1, false);
  await check(failed, START + 1 + GRACE_MS, false);
  await expectReceiver(undefined, name, START + 1 + GRACE_MS);
  await check(failed, START + 2 + GRACE_MS, true, true);
  await expectReceiver(failed, name, START + 2 + GRACE_MS);
});

test('the next tenant takes over when the domain of the longest is deleted, and a domain that is added again waits behind', async () => {
  const name = newName();
  const longest = await add(name);
  const next = await add(name);
  await check(longest, START, true);
  await check(next, START + 1, true);
  await db.commit(endDomain, { id: longest.id, tenantId: longest.tenantId, now: START + 2 });
  await expectReceiver(next, name, START + 2);
  const again = await addDomain({ ...world, tenantId: longest.tenantId }, { id: 'dom_again', name });
  await check(again, START + 3, true);
  await expectReceiver(next, name, START + 3);
  await db.commit(endDomain, { id: next.id, tenantId: next.tenantId, now: START + 4 });
  await expectReceiver(again, name, START + 4);
});

test('verifications of the same millisecond are ordered by id', async () => {
  const name = newName();
  const [lower, higher] = [await add(name), await add(name)];
  await check(higher, START, true);
  await check(lower, START, true);
  await expectReceiver(lower, name, START);
});

test('the receiver is found by its index alone, without sorting', async () => {
  assert.deepEqual(await explain((tx) => findReceiver(tx, 'a.example', 0)), [
    'SEARCH domains USING INDEX domainsReceiving (name=? AND verifiedSince>?)',
  ]);
});
