import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { openCertificateKey } from '../../../src/certificates/acme/certificate-key.ts';
import { listAccountRecords } from '../../../src/certificates/acme/records.ts';
import { removeAccount, setAccountUrl } from '../../../src/certificates/acme/store.ts';
import { keepSelfSigned } from '../../../src/certificates/self-signed.ts';
import { DAY_MS } from '../../../src/system/clock.ts';
import type { Behaviour } from '../../support/acme-authority.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { HOSTNAME, openOrderingHost, START, ZONE } from './host.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Opens a host whose first attempt for the hostname has run. */
async function attempted(behaviour: Partial<Behaviour>, env: Record<string, string> = {}) {
  const host = await openOrderingHost({ behaviour, env });
  await host.updateNames();
  await host.run();
  return host;
}

test('the certificate of the hostname is ordered, and its key stays for the next one', async () => {
  await using host = await openOrderingHost();
  await keepSelfSigned(host.app);
  await host.updateNames();
  assert.deepEqual(await host.run(), [HOSTNAME]);
  const first = await host.row();
  assert.equal(first.lastError, null);
  const certificate = new X509Certificate(first.chain ?? '');
  assert.equal(certificate.subjectAltName, `DNS:${HOSTNAME}`);
  assert.ok(certificate.checkIssued(new X509Certificate(host.authority.root)));
  // A third of 90 days is left.
  assert.equal(first.renewAt, START - HOUR_MS + 60 * DAY_MS);
  await host.clock.advance(60 * DAY_MS);
  await host.run();
  const second = await host.row();
  assert.notEqual(second.chain, first.chain);
  assert.equal(second.privateKeySealed, first.privateKeySealed);
  assert.equal(host.authority.accounts, 1);
});

test('the hostname goes on with its self-signed key, so that its TLSA record stays right', async () => {
  await using host = await openOrderingHost();
  const [own] = await keepSelfSigned(host.app);
  await host.updateNames();
  await host.run();
  const row = await host.row();
  assert.equal(openCertificateKey(host.app, row, row.privateKeySealed), own?.certificate.key);
});

test('a renewal has a new key when the configuration asks for it', async () => {
  await using host = await attempted({}, { POSTRIDER_ACME_REUSE_KEYS: 'false' });
  const first = await host.row();
  await host.clock.advance(60 * DAY_MS);
  await host.run();
  const second = await host.row();
  assert.notEqual(second.privateKeySealed, first.privateKeySealed);
  const key = openCertificateKey(host.app, second, second.privateKeySealed);
  assert.equal(second.nextKeySealed, null);
  assert.match(key, /BEGIN PRIVATE KEY/);
});

test('nothing is asked while no authority is configured', async () => {
  await using host = await attempted({}, { POSTRIDER_ACME_DIRECTORY: '' });
  assert.deepEqual(host.authority.requests, []);
});

test('a name that does not lead here waits without an order and without a failure, and is looked at later and later', async () => {
  await using host = await openOrderingHost({ env: { POSTRIDER_DOMAINS_ADDRESSES: '192.0.2.9' } });
  await host.updateNames();
  const delays: number[] = [];
  for (let looks = 1; looks <= 10; looks += 1) {
    await host.run();
    const row = await host.row();
    assert.equal(row.failures, 0);
    assert.match(row.lastError ?? '', /leads to 192\.0\.2\.1, which is not this machine/);
    delays.push((row.nextAttemptAt ?? 0) - host.clock.now());
    await host.clock.advance(delays.at(-1) ?? 0);
  }
  assert.deepEqual(
    delays.map((delay) => Math.round(delay / 0.95 / MINUTE_MS)),
    [5, 5, 10, 19, 36, 70, 137, 268, 360, 360],
  );
  assert.deepEqual(host.authority.requests, []);
  const said = host.lines.map(({ msg }) => msg);
  assert.equal(
    said.filter((msg) => msg === 'certificate is not ordered before its name leads here').length,
    1,
  );
  assert.ok(!said.includes('certificate could not be ordered'));
});

test('a certificate whose name leads elsewhere is one whose renewal fails', async () => {
  await using host = await attempted({}, { POSTRIDER_DOMAINS_ADDRESSES: '192.0.2.1' });
  host.dns.setZone(`${HOSTNAME} AAAA 2001:db8::2`);
  await host.renew();
  const row = await host.row();
  assert.deepEqual([row.failures, row.chain !== null], [1, true]);
});

test('an account key that cannot be opened fails orders with what to do, later and later, until there is another account', async () => {
  await using host = await attempted({});
  const database = new Sqlite(join(host.test.dataDir, 'postrider.db'));
  database.exec("UPDATE acmeAccounts SET privateKeySealed = substr(privateKeySealed, 1, 40) || 'AAAA'");
  database.close();
  await host.renew();
  const first = await host.row();
  assert.match(
    first.lastError ?? '',
    /^the key of the account with \S+ cannot be opened: restore .* or make .*"postrider certificates new-account"$/,
  );
  await host.clock.advance((first.nextAttemptAt ?? 0) - host.clock.now());
  await host.run();
  const { failures, nextAttemptAt } = await host.row();
  const delayMs = (nextAttemptAt ?? 0) - host.clock.now();
  assert.deepEqual([failures, Math.round(delayMs / 0.95 / MINUTE_MS)], [2, 10]);
  assert.ok(host.lines.some(({ error }) => error === first.lastError));

  const { directory } = host.authority;
  await host.app.db.commit(removeAccount, { directory, now: host.clock.now() });
  await host.run();
  assert.equal((await host.row()).lastError, null);
  assert.equal(host.authority.accounts, 2);
  await assert.rejects(host.app.db.commit(removeAccount, { directory: 'https://other.example', now: 1 }), {
    code: 'not_found',
  });
});

test('a name leads here by any of the addresses of this machine, however they are spelled, and by no other', async () => {
  const addresses = '192.0.2.1,2001:DB8:0::0001';
  await using host = await openOrderingHost({ env: { POSTRIDER_DOMAINS_ADDRESSES: addresses } });
  host.dns.setZone(`${ZONE}\n${HOSTNAME} AAAA 2001:db8::1`);
  await host.updateNames();
  await host.run();
  assert.equal((await host.row()).lastError, null);
  host.dns.setZone(`${ZONE}\n${HOSTNAME} AAAA 2001:db8::2`);
  await host.renew();
  assert.match((await host.row()).lastError ?? '', /leads to 2001:db8::2, which is not this machine/);
});

test('a lost nonce is replaced, and a nonce that is always lost ends the attempt', async () => {
  await using host = await attempted({ lostNonces: 3 });
  assert.equal((await host.row()).lastError, null);
  await using other = await attempted({ lostNonces: 4 });
  assert.match((await other.row()).lastError ?? '', /badNonce/);
});

test('an authority that is down leaves an attempt for later, with the reason', async () => {
  await using host = await attempted({
    refuse: () => ({ status: 503, type: 'serverInternal', detail: 'maintenance' }),
  });
  const row = await host.row();
  assert.equal(row.lastError, 'the authority refused the directory (serverInternal): maintenance');
  assert.equal(host.lines.filter(({ msg }) => msg === 'certificate could not be ordered').length, 1);
});

test('an authority that is rate-limited is left alone for as long as it asks', async () => {
  const limited = { status: 429, type: 'rateLimited', retryAfter: '86400' };
  await using host = await attempted({
    refuse: (resource) => (resource === 'newOrder' ? limited : undefined),
  });
  assert.equal((await host.row()).nextAttemptAt, START + DAY_MS);
});

test('a challenge that fails is reported, and the next attempt takes another way', async () => {
  const types: string[] = [];
  await using host = await attempted({
    challengeTypes: ['http-01', 'tls-alpn-01'],
    validate({ type }) {
      types.push(type);
      return 'the port is closed';
    },
  });
  assert.equal(
    (await host.row()).lastError,
    'the authority refused the challenge http-01 (unauthorized): the port is closed',
  );
  for (const minutes of [5, 10]) {
    await host.clock.advance(minutes * MINUTE_MS);
    await host.run();
  }
  assert.deepEqual(types, ['http-01', 'tls-alpn-01', 'http-01']);
});

test('answers are withdrawn when the order has ended', async () => {
  const tokens: string[] = [];
  await using host = await openOrderingHost();
  host.authority.behaviour.validate = ({ name, token }) => {
    tokens.push(token);
    return host.challenges.answerHttp(name, token) === undefined ? 'nothing there' : undefined;
  };
  await host.updateNames();
  await host.run();
  assert.equal((await host.row()).lastError, null);
  assert.equal(host.challenges.answerHttp(HOSTNAME, tokens[0] ?? ''), undefined);
});

test('a certificate for another name, or one that is not valid now, is never used', async () => {
  await using host = await attempted({ otherNames: ['other.example'] });
  assert.match(
    (await host.row()).lastError ?? '',
    /a certificate for other\.example instead of mx\.postrider\.example/,
  );
  for (const [backdatedMs, lifeMs] of [
    [-HOUR_MS, DAY_MS],
    [DAY_MS, HOUR_MS],
  ] as const) {
    await using wrong = await attempted({ backdatedMs, lifeMs });
    assert.match(
      (await wrong.row()).lastError ?? '',
      /the clock of this machine or of the authority is wrong/,
    );
    assert.equal((await wrong.row()).chain, null);
  }
});

test('certificates of one minute are not ordered more than once an hour', async () => {
  await using host = await attempted({ lifeMs: MINUTE_MS, backdatedMs: 0 });
  for (let minute = 0; minute < 60; minute += 1) {
    assert.equal(host.authority.orders.length, 1);
    await host.run();
    await host.clock.advance(MINUTE_MS);
  }
  await host.run();
  assert.equal(host.authority.orders.length, 2);
});

test('an external account is bound when the authority asks for it, and its absence is named', async () => {
  const externalAccount = {
    keyId: 'key-1',
    hmacKey: Buffer.from('a secret of the authority').toString('base64url'),
  };
  const file = join(temporaryDirectory('key'), 'hmac.key');
  writeFileSync(file, `${externalAccount.hmacKey}\n`);
  await using host = await attempted(
    { externalAccount },
    {
      POSTRIDER_ACME_EXTERNAL_ACCOUNT_KEY_ID: externalAccount.keyId,
      POSTRIDER_ACME_EXTERNAL_ACCOUNT_HMAC_KEY_FILE: file,
    },
  );
  assert.equal((await host.row()).lastError, null);
  rmSync(file);
  await using unreadable = await attempted(
    { externalAccount },
    { POSTRIDER_ACME_EXTERNAL_ACCOUNT_KEY_ID: 'key-1', POSTRIDER_ACME_EXTERNAL_ACCOUNT_HMAC_KEY_FILE: file },
  );
  assert.match((await unreadable.row()).lastError ?? '', /hmacKeyFile cannot be read: .*ENOENT/);
  await using without = await attempted({ externalAccount });
  assert.match((await without.row()).lastError ?? '', /set acme\.externalAccount\.keyId/);
});

test('a profile is asked for, and one that the authority does not have is named without an order', async () => {
  const env = { POSTRIDER_ACME_PROFILE: 'shortlived' };
  await using host = await attempted({ profiles: ['classic', 'shortlived'], lifeMs: 6 * DAY_MS }, env);
  assert.equal(host.authority.orders[0]?.profile, 'shortlived');
  // Half of six days is left.
  assert.equal((await host.row()).renewAt, START - HOUR_MS + 3 * DAY_MS);
  await using other = await attempted({ profiles: ['classic'] }, env);
  assert.match((await other.row()).lastError ?? '', /has no profile shortlived, but classic/);
  assert.deepEqual(other.authority.orders, []);
});

test('the authority decides when a certificate is renewed, and learns which one is replaced', async () => {
  const windows = { start: START + 10 * DAY_MS, end: START + 11 * DAY_MS };
  await using host = await attempted({ window: () => windows });
  await host.run();
  assert.equal((await host.row()).renewAt, windows.start);
  // A revocation of many certificates: the window is in the past.
  windows.start = START - DAY_MS;
  windows.end = START - HOUR_MS;
  await host.clock.advance(6 * HOUR_MS);
  await host.run();
  assert.equal(host.authority.orders.length, 2);
  assert.match(host.authority.orders[1]?.replaces ?? '', /^[\w-]+\.[\w-]+$/);
});

test('renewal information that makes no sense leaves the renewal as it was planned', async () => {
  await using host = await attempted({ window: () => ({ start: START, end: START }) });
  await host.run();
  assert.equal((await host.row()).renewAt, START - HOUR_MS + 60 * DAY_MS);
});

test('a persistent record proves the name where it is published for this account', async () => {
  const types: string[] = [];
  const behaviour: Partial<Behaviour> = {
    challengeTypes: ['http-01', 'dns-persist-01'],
    validate: ({ type }) => void types.push(type),
  };
  await using host = await attempted(behaviour);
  const records = await listAccountRecords(host.app);
  const [caa, persistent] = records;
  assert.match(
    caa?.value ?? '',
    /^0 issue "authority\.example; accounturi=http:\/\/127\.0\.0\.1:\d+\/account\/0"$/,
  );
  assert.equal(persistent?.name, `_validation-persist.${HOSTNAME}`);
  for (const [value, type] of [
    [persistent?.value, 'dns-persist-01'],
    [`${persistent?.value}; persistUntil=${START / 1_000 - 1}`, 'http-01'],
    [`${persistent?.value}0`, 'http-01'],
    [persistent?.value.replace('authority.example', 'other.example'), 'http-01'],
  ] as const) {
    host.dns.setZone(`${ZONE}\n_validation-persist.${HOSTNAME} TXT "${value}"`);
    types.length = 0;
    await host.renew();
    assert.deepEqual(types, [type]);
  }
});

test('an account that the authority no longer knows is made again with the same key', async () => {
  await using host = await attempted({});
  const { directory } = host.authority;
  await host.app.db.commit(setAccountUrl, {
    directory,
    url: `${new URL(directory).origin}/account/9`,
    issuer: null,
  });
  await host.renew();
  assert.match((await host.row()).lastError ?? '', /accountDoesNotExist/);
  await host.clock.advance(5 * MINUTE_MS);
  await host.run();
  assert.equal((await host.row()).lastError, null);
  assert.equal(host.authority.accounts, 1);
});
