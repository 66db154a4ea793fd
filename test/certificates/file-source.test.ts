import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { CertificateFiles } from '../../src/certificates/certificate.ts';
import { FileSource } from '../../src/certificates/file-source.ts';
import { DAY_MS } from '../../src/system/clock.ts';
import { recordLog } from '../support/record-log.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { EC_PAIR, RSA_PAIR, WILDCARD_PAIR } from '../system/certificate-pairs.ts';
import { NAMELESS, NOW, renewed, writePair } from './files.ts';

function open(files: CertificateFiles) {
  const { log, lines } = recordLog();
  return { source: new FileSource(files, log), lines };
}

async function opened(pair = EC_PAIR) {
  const folder = temporaryDirectory('certificates');
  const files = writePair(folder, pair);
  const { source, lines } = open(files);
  assert.equal(await source.read(NOW), true);
  return { folder, files, source, lines };
}

test('a usable pair is read with its names, its key and its end', async () => {
  const { source, lines } = await opened(WILDCARD_PAIR);
  const { names, keyType, publicKeyHash, expiresAt } = source.certificate ?? {};
  assert.deepEqual([names, keyType], [['*.mail.example', 'mail.example'], 'ec']);
  assert.equal(expiresAt, Date.UTC(2126, 9, 29, 17, 45, 8));
  // openssl x509 -noout -pubkey | openssl pkey -pubin -outform der | sha256sum
  assert.equal(publicKeyHash, '7451dbadeac684ad2c4d475f1aecb8881b3ec1936941d5aef098c2f6a993fa57');
  assert.deepEqual([source.problem, lines], [undefined, []]);
});

function replaceByFolder(path: string): void {
  rmSync(path);
  mkdirSync(path);
}

const UNUSABLE: readonly [
  what: string,
  break_: (files: CertificateFiles) => void,
  file: keyof CertificateFiles,
  reason: RegExp,
][] = [
  ['missing', ({ certificate }) => rmSync(certificate), 'certificate', /^does not exist$/],
  ['missing key', ({ key }) => rmSync(key), 'key', /^does not exist$/],
  ['empty', ({ certificate }) => truncateSync(certificate), 'certificate', /^has no certificate in PEM/],
  ['no key', ({ key }) => writeFileSync(key, 'x'), 'key', /^has no private key in PEM that can be used/],
  [
    'half written',
    ({ certificate }) => truncateSync(certificate, 300),
    'certificate',
    /^has no certificate in PEM/,
  ],
  ['half a key', ({ key }) => truncateSync(key, 100), 'key', /^has no private key in PEM that can be used/],
  [
    'half a chain',
    ({ certificate }) => writeFileSync(certificate, `${EC_PAIR.chain}\n${RSA_PAIR.chain.slice(0, 300)}`),
    'certificate',
    /^cannot be used: .*bad end line/,
  ],
  [
    'mismatching',
    ({ key }) => writeFileSync(key, WILDCARD_PAIR.key),
    'key',
    /^is not the key of the certificate in .*chain\.pem$/,
  ],
  ['no file', ({ key }) => replaceByFolder(key), 'key', /^is not a regular file$/],
  [
    'huge',
    ({ certificate }) => truncateSync(certificate, 1024 * 1024 + 1),
    'certificate',
    /^is larger than 1048576 bytes$/,
  ],
];

test('files that cannot be used leave the earlier certificate in use, and are logged with the file and the reason', async () => {
  for (const [what, break_, file, reason] of UNUSABLE) {
    const { files, source, lines } = await opened();
    const before = source.certificate;
    break_(files);
    assert.equal(await source.read(NOW), false, what);
    assert.equal(source.certificate, before, what);
    assert.equal(source.problem?.file, files[file], what);
    assert.match(source.problem?.reason ?? '', reason, what);
    assert.deepEqual(
      lines,
      [{ ...source.problem, isEarlierUsed: true, msg: 'certificate cannot be used' }],
      what,
    );
    rmSync(files.key, { recursive: true, force: true });
    writePair(join(files.key, '..'), RSA_PAIR);
    assert.equal(await source.read(NOW), true, what);
    assert.deepEqual([source.certificate?.keyType, source.problem], ['rsa', undefined], what);
  }
});

test('a certificate without names of hosts cannot be used', async () => {
  const folder = temporaryDirectory('certificates');
  const { source } = open(writePair(folder, NAMELESS));
  assert.equal(await source.read(NOW), false);
  assert.equal(source.problem?.reason, 'has no DNS name (subjectAltName)');
});

test('a change is read when two looks see the same, and once', async () => {
  const { folder, source } = await opened();
  assert.equal(await source.hasSettledChange(), false);
  assert.equal(await source.hasSettledChange(), false);
  writeFileSync(join(folder, 'chain.pem'), RSA_PAIR.chain);
  assert.equal(await source.hasSettledChange(), false);
  writeFileSync(join(folder, 'key.pem'), RSA_PAIR.key);
  assert.equal(await source.hasSettledChange(), false);
  assert.equal(await source.hasSettledChange(), true);
  assert.equal(await source.read(NOW), true);
  assert.equal(await source.hasSettledChange(), false);
  rmSync(join(folder, 'key.pem'));
  assert.deepEqual([await source.hasSettledChange(), await source.hasSettledChange()], [false, true]);
  await source.read(NOW);
  assert.equal(await source.hasSettledChange(), false);
});

test('links are followed, as certbot and Kubernetes replace them', async () => {
  const folder = temporaryDirectory('certificates');
  for (const [name, pair] of [
    ['one', EC_PAIR],
    ['two', RSA_PAIR],
  ] as const) {
    mkdirSync(join(folder, name));
    writePair(join(folder, name), pair);
  }
  const link = join(folder, 'live');
  symlinkSync('one', link);
  const { source } = open({ certificate: join(link, 'chain.pem'), key: join(link, 'key.pem') });
  await source.read(NOW);
  assert.equal(await source.hasSettledChange(), false);
  symlinkSync('two', `${link}.new`);
  renameSync(`${link}.new`, link);
  assert.deepEqual([await source.hasSettledChange(), await source.hasSettledChange()], [false, true]);
  assert.equal(await source.read(NOW), true);
  assert.equal(source.certificate?.keyType, 'rsa');
});

test('a renewal with the same key is silent, and another key is a warning, because TLSA records name it', async () => {
  const { folder, source, lines } = await opened();
  writePair(folder, await renewed(NOW + 80 * DAY_MS));
  assert.equal(await source.read(NOW), true);
  assert.deepEqual(lines, []);
  writePair(folder, RSA_PAIR);
  assert.equal(await source.read(NOW), true);
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ['the key of a certificate has changed: its TLSA record must change, too'],
  );
});

test('an expired certificate replaces only another one', async () => {
  const expired = await renewed(NOW - DAY_MS);
  const { folder, source, lines } = await opened();
  writePair(folder, expired);
  assert.equal(await source.read(NOW), false);
  assert.match(source.problem?.reason ?? '', /^has a certificate that expired at 2029-12-31T00:00:00\.000Z$/);
  assert.equal(lines.length, 1);
  const first = open(writePair(temporaryDirectory('certificates'), expired));
  assert.equal(await first.source.read(NOW), true);
});

test('two reads at the same time end with the files as they are', async () => {
  const { folder, source } = await opened();
  const reads = [source.read(NOW)];
  writePair(folder, RSA_PAIR);
  reads.push(source.read(NOW));
  await Promise.all(reads);
  assert.equal(source.certificate?.keyType, 'rsa');
});
