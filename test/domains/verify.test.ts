/** Checks on demand are limited, shared among tenants, and one at a time for each domain. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createVerify, MAX_VERIFIES } from '../../src/domains/verify.ts';
import { AppError } from '../../src/system/errors.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';
import { zoneDns } from '../support/zone-dns.ts';
import { addDomain } from './fixtures.ts';

let t: TestApp;
before(async () => {
  t = await openTestApp();
});
after(() => t.close());

/** A DNS that answers nothing before `release` is called. */
function heldDns() {
  const dns = zoneDns('');
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const asked: string[] = [];
  const txt = async (name: string) => {
    asked.push(name);
    await released;
    return dns.txt(name);
  };
  return { dns: { ...dns, fresh: { ...dns.fresh, txt } }, asked, release };
}

test('a second request for a domain waits for the check under way and asks nothing', async () => {
  const { dns, asked, release } = heldDns();
  const verify = createVerify({ ...t.app, dns });
  const { id } = await addDomain(t, { name: 'joined.example' });
  const checks = [verify(t.tenantId, id), verify(t.tenantId, id), verify(t.tenantId, id)];
  release();
  const [first, ...others] = await Promise.all(checks);
  for (const other of others) assert.equal(other, first);
  assert.equal(asked.filter((name) => name === 'joined.example').length, 1);
  assert.notEqual(await verify(t.tenantId, id), first, 'a later request is a check of its own');
});

test('a tenant has its share of the checks, and another tenant still gets one', async () => {
  const { dns, release } = heldDns();
  const verify = createVerify({ ...t.app, dns });
  const other = await t.addTenant('other');
  const domains = [];
  for (let index = 0; index <= MAX_VERIFIES / 2; index += 1)
    domains.push(await addDomain(t, { name: `share${index}.example` }));
  const foreign = await addDomain(t, { name: 'share.other.example', tenantId: other.tenantId });
  const [last, ...running] = domains.reverse();
  assert.ok(last);
  const checks = running.map(({ id }) => verify(t.tenantId, id));
  const refused = assert.rejects(
    verify(t.tenantId, last.id),
    (error) => error instanceof AppError && error.code === 'unavailable',
  );
  checks.push(verify(other.tenantId, foreign.id));
  release();
  await refused;
  await Promise.all(checks);
  assert.equal((await verify(t.tenantId, last.id)).id, last.id, 'a share that is free again can be used');
});
