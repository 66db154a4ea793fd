import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { issueSelfSigned } from '../../src/certificates/issue.ts';
import { findSelfSigned, keepSelfSigned } from '../../src/certificates/self-signed.ts';
import { loadConfig } from '../../src/config/config.ts';
import { DAY_MS } from '../../src/system/clock.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { recordLog } from '../support/record-log.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { EC_PAIR } from '../system/certificate-pairs.ts';
import { NOW } from './files.ts';

type Options = { dataDir?: string; hostname?: string; now?: number };

function appOf({
  dataDir = temporaryDirectory('self-signed'),
  hostname = 'MX.example',
  now = NOW,
}: Options = {}) {
  const config = loadConfig({ env: { POSTRIDER_DATA_DIR: dataDir, POSTRIDER_HOSTNAME: hostname } });
  return { config, clock: createFakeClock(now), ...recordLog() };
}

/** Returns the certificates that are kept at this time, in the same directory, and what is the same as before. */
async function made(options: Options) {
  return (await keepSelfSigned(appOf(options))).map(({ certificate }) => certificate);
}

const same = <Item>(one: readonly Item[], other: readonly Item[]) =>
  one.map((item, index) => item === other[index]);

test('the first start makes certificates for P-256 and for RSA, for the owner alone, and the next one finds them', async () => {
  const app = appOf();
  const first = await keepSelfSigned(app);
  assert.deepEqual(
    first.map(({ certificate: { names, keyType } }) => [names, keyType]),
    [
      [['mx.example'], 'ec'],
      [['mx.example'], 'rsa'],
    ],
  );
  for (const { certificate, files } of first) {
    assert.deepEqual(readFileSync(files.certificate, 'utf8'), certificate.chain);
    assert.equal(statSync(files.key).mode & 0o777, 0o600, files.key);
    assert.equal(statSync(dirname(files.key)).mode & 0o777, 0o700);
    const x509 = new X509Certificate(certificate.chain);
    assert.ok(x509.verify(x509.publicKey));
    assert.deepEqual([x509.ca, x509.keyUsage], [false, ['1.3.6.1.5.5.7.3.1']]);
    assert.deepEqual([certificate.validFrom, certificate.expiresAt], [NOW - DAY_MS, NOW + 365 * DAY_MS]);
  }
  const details = first.map(({ certificate }) => createPrivateKey(certificate.key).asymmetricKeyDetails);
  assert.deepEqual([details[0]?.namedCurve, details[1]?.modulusLength], ['prime256v1', 2048]);
  assert.deepEqual(await keepSelfSigned(app), first);
  assert.deepEqual(findSelfSigned(app.config.dataDir), first);
  assert.deepEqual(findSelfSigned(temporaryDirectory('self-signed')), []);
});

test('keys outlive a certificate that nears its end, another hostname and a clock that was wrong', async () => {
  const dataDir = temporaryDirectory('self-signed');
  const first = await made({ dataDir });
  const changes: readonly [what: string, options: Options, isKept: boolean][] = [
    ['275 days later', { now: NOW + 274 * DAY_MS }, true],
    ['90 days before the end', { now: NOW + 275 * DAY_MS }, false],
    ['another hostname', { hostname: 'mail.example', now: NOW + 275 * DAY_MS }, false],
    ['a clock that was ahead', { hostname: 'mail.example', now: NOW }, false],
  ];
  let earlier = first;
  for (const [what, options, isKept] of changes) {
    const later = await made({ dataDir, ...options });
    assert.deepEqual(
      same(
        later.map(({ chain }) => chain),
        earlier.map(({ chain }) => chain),
      ),
      [isKept, isKept],
      what,
    );
    assert.deepEqual(
      same(
        later.map(({ publicKeyHash }) => publicKeyHash),
        first.map(({ publicKeyHash }) => publicKeyHash),
      ),
      [true, true],
      what,
    );
    assert.deepEqual(later[0]?.names, [options.hostname ?? 'mx.example'], what);
    earlier = later;
  }
});

test('a damaged certificate is made again with its key, and a damaged key is kept aside', async () => {
  const app = appOf();
  const [elliptic, rsa] = await keepSelfSigned(app);
  assert.ok(elliptic && rsa);
  writeFileSync(rsa.files.certificate, 'x');
  rmSync(elliptic.files.certificate);
  const again = await keepSelfSigned(app);
  assert.deepEqual(
    same(
      again.map(({ certificate }) => certificate.publicKeyHash),
      [elliptic.certificate.publicKeyHash, rsa.certificate.publicKeyHash],
    ),
    [true, true],
  );
  assert.deepEqual(app.lines, []);

  writeFileSync(elliptic.files.key, 'x');
  writeFileSync(rsa.files.key, EC_PAIR.key);
  const others = await keepSelfSigned(app);
  assert.deepEqual(
    others.map(({ certificate }) => certificate.keyType),
    ['ec', 'rsa'],
  );
  assert.notEqual(others[0]?.certificate.publicKeyHash, elliptic.certificate.publicKeyHash);
  const kept = readdirSync(dirname(rsa.files.key)).filter((name) => name.includes('damaged'));
  assert.deepEqual(kept.sort(), [`ec.key.damaged-${NOW}`, `rsa.key.damaged-${NOW}`]);
  assert.deepEqual(app.lines.map(({ file }) => file).sort(), [elliptic.files.key, rsa.files.key]);
  assert.equal(
    app.lines.find(({ file }) => file === rsa.files.key)?.['reason'],
    'is not a key of the type rsa',
  );
});

test('a host name that is longer than a common name stands in the extension alone, which is then critical', async () => {
  const hostname = `${'a'.repeat(60)}.mx.example`;
  const fields = { privateKey: createPrivateKey(EC_PAIR.key), validFrom: NOW, expiresAt: NOW + DAY_MS };
  const chain = await issueSelfSigned({ hostname, algorithm: 'ECDSA', ...fields });
  const certificate = new X509Certificate(chain);
  assert.equal(certificate.subject, undefined);
  assert.equal(certificate.checkHost(hostname), hostname);
  // The OID of subjectAltName, then the boolean TRUE.
  assert.ok(certificate.raw.includes(Buffer.from('0603551d110101ff', 'hex')));
});
