import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createDomain } from '../../src/domains/create.ts';
import { createKeyPairs } from '../../src/domains/key-pairs.ts';
import type { NewDomain } from '../../src/domains/schemas.ts';
import { createSigningKeys } from '../../src/domains/signing-key.ts';
import { endDomain } from '../../src/domains/store.ts';
import { createBodyHash } from '../../src/mail/dkim/body-hash.ts';
import { signMessage } from '../../src/mail/dkim/sign.ts';
import { newId } from '../../src/system/ids.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';
import { addDomain } from './fixtures.ts';

let t: TestApp;
before(async () => {
  t = await openTestApp();
});
after(() => t.close());

const addRealDomain = (domain: NewDomain) =>
  createDomain({ ...t.app, keyPairs: createKeyPairs() }, t.tenantId, domain);

test('the key of a domain signs for it under its selector, and is the published one', async () => {
  const domain = await addRealDomain({ name: 'sign.example' });
  const key = await createSigningKeys(t.app).find(domain.id);
  assert.ok(key);
  const { privateKey, ...rest } = key;
  assert.deepEqual(rest, { domain: 'sign.example', selector: domain.selector, algorithm: 'rsa-sha256' });
  const spki = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  assert.equal(spki.toString('base64'), domain.publicKey);
  const message = { header: Buffer.from('From: a@sign.example\r\n'), bodyHash: createBodyHash().digest() };
  const field = await signMessage(message, key, 1);
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
  assert.equal(await keys.find(domain.id), await keys.find(domain.id));
  assert.equal(opened, 1);
});

test('a deleted domain still signs what it owes, also after a restart', async () => {
  const domain = await addRealDomain({ name: 'owes.example' });
  await t.app.db.commit(endDomain, { id: domain.id, tenantId: t.tenantId, now: 1 });
  assert.equal((await createSigningKeys(t.app).find(domain.id))?.selector, domain.selector);
});

test('there is no key of a domain that never was, and none comes out of a sealed value in another place', async () => {
  const keys = createSigningKeys(t.app);
  assert.equal(await keys.find(newId('dom', 0)), undefined);
  const domain = await addRealDomain({ name: 'moved.example' });
  const copy = await addDomain(t, { name: 'copy.example', privateKeySealed: domain.privateKeySealed });
  await assert.rejects(keys.find(copy.id));
});
