import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { after, test } from 'node:test';
import { installationKeyOf } from '../../../src/domains/installation/key.ts';
import { createSigningKeys } from '../../../src/domains/signing-key.ts';
import { createSealer } from '../../../src/system/seal.ts';
import { openTestApp } from '../../support/test-app.ts';

const t = await openTestApp({ env: { POSTRIDER_HOSTNAME: 'MX.Postrider.example' } });
after(() => t.close());

const rows = () => t.app.db.read.selectFrom('installationKeys').selectAll().execute();

test('the key is made once, however many ask for it, and it is kept sealed', async () => {
  const { key } = t.app.sealer;
  // Other sealers with the same master key stand for other starts of the daemon.
  const starts = [0, 1, 2].map(() => ({ ...t.app, sealer: createSealer(key) }));
  const found = await Promise.all(starts.flatMap((app) => [installationKeyOf(app), installationKeyOf(app)]));
  const [row, ...others] = await rows();
  assert.ok(row);
  assert.equal(others.length, 0);
  assert.deepEqual(new Set(found.map(({ selector }) => selector)), new Set([row.selector]));
  assert.ok(t.app.sealer.hasSealed(row.privateKeySealed));
  assert.doesNotMatch(row.privateKeySealed, /PRIVATE KEY/);
  const [one] = found;
  const spki = createPublicKey(one?.privateKey ?? '').export({ type: 'spki', format: 'der' });
  assert.equal(spki.toString('base64'), row.publicKey);
});

test('it signs for the host name', async () => {
  const { domain, selector } = await createSigningKeys(t.app).ofInstallation();
  assert.equal(domain, 'mx.postrider.example');
  assert.match(selector, /^pr[a-z2-7]{8}$/);
});

test('a key that was sealed for something else is refused', async () => {
  const [row] = await rows();
  assert.ok(row);
  const sealer = createSealer(t.app.sealer.key);
  assert.throws(() => sealer.open(row.privateKeySealed, ['installation key', 'other']));
});
