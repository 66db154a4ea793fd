import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { after, test } from 'node:test';
import { createDomain } from '../../src/domains/create.ts';
import { createKeyPairs } from '../../src/domains/key-pairs.ts';
import type { NewDomain } from '../../src/domains/schemas.ts';
import { createSigningKeys } from '../../src/domains/signing-key.ts';
import { endDomain } from '../../src/domains/store.ts';
import { createVerify, MAX_VERIFIES } from '../../src/domains/verify.ts';
import { createBodyHash } from '../../src/mail/dkim/body-hash.ts';
import { signMessage } from '../../src/mail/dkim/sign.ts';
import { AppError } from '../../src/system/errors.ts';
import { newId } from '../../src/system/ids.ts';
import { openTestApp } from '../support/test-app.ts';
import { zoneDns } from '../support/zone-dns.ts';
import { addDomain } from './fixtures.ts';

const t = await openTestApp();
after(() => t.close());

const addRealDomain = (domain: NewDomain) =>
  createDomain({ ...t.app, keyPairs: createKeyPairs() }, t.tenantId, domain);

test('the key of a domain signs for it under its selector, and is the published one', async () => {
  const domain = await addRealDomain({ name: 'sign.example' });
  const [key] = await createSigningKeys(t.app).find(domain.id);
  assert.ok(key);
  const { privateKey, ...rest } = key;
  assert.deepEqual(rest, { domain: 'sign.example', selector: domain.selector, algorithm: 'rsa-sha256' });
  const spki = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  assert.equal(spki.toString('base64'), domain.publicKey);
  const message = { header: Buffer.from('From: a@sign.example\r\n'), bodyHash: createBodyHash().digest() };
  const field = await signMessage(message, [key], 1);
  assert.match(field, new RegExp(`d=sign\\.example;\\s+s=${domain.selector};`));
});

test('a key is opened and parsed once', async () => {
  const domain = await addRealDomain({ name: 'once.example' });
  let opened = 0;
  const sealer = {
    ...t.app.sealer,
    open: (sealed: string, place: readonly string[]) => {
      opened += 1;
      return t.app.sealer.open(sealed, place);
    },
  };
  const keys = createSigningKeys({ ...t.app, sealer });
  assert.deepEqual(await keys.find(domain.id), await keys.find(domain.id));
  assert.equal(opened, 1);
});

test('a deleted domain still signs what it owes, also after a restart', async () => {
  const domain = await addRealDomain({ name: 'owes.example' });
  await t.app.db.commit(endDomain, { id: domain.id, tenantId: t.tenantId, now: 1 });
  assert.equal((await createSigningKeys(t.app).find(domain.id))[0]?.selector, domain.selector);
});

test('there is no key of a domain that never was, and none comes out of a sealed value in another place', async () => {
  const keys = createSigningKeys(t.app);
  assert.deepEqual(await keys.find(newId('dom', 0)), []);
  const domain = await addRealDomain({ name: 'moved.example' });
  const copy = await addDomain(t, { name: 'copy.example', privateKeySealed: domain.privateKeySealed });
  await assert.rejects(keys.find(copy.id));
});

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
