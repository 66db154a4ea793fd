import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { type CertificateFiles, parseCertificate } from '../../src/certificates/certificate.ts';
import { inspectCertificates, logExpiry, openCertificates } from '../../src/certificates/certificates.ts';
import { keepSelfSigned } from '../../src/certificates/self-signed.ts';
import { loadConfig } from '../../src/config/config.ts';
import { DAY_MS } from '../../src/system/clock.ts';
import { listen } from '../../src/system/listen.ts';
import { createMetrics } from '../../src/system/metrics.ts';
import { createSealer } from '../../src/system/seal.ts';
import { createWakeups } from '../../src/system/wakeups.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openMemoryDatabase } from '../support/memory-database.ts';
import { recordLog } from '../support/record-log.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { waitUntil } from '../support/wait-until.ts';
import { EC_PAIR, RSA_PAIR, WILDCARD_PAIR } from '../system/certificate-pairs.ts';
import { NOW, renewed, writePair } from './files.ts';

const LOOK_MS = 10_000;

function appOf(pairs: readonly CertificateFiles[], now = NOW) {
  const dataDir = temporaryDirectory('certificates');
  const file = join(dataDir, 'config.yaml');
  const settings = { hostname: 'mx.example', dataDir, tls: { certificates: pairs } };
  writeFileSync(file, JSON.stringify(settings));
  const clock = createFakeClock(now);
  return {
    clock,
    config: loadConfig({ file, env: {} }),
    metrics: createMetrics(clock),
    wakeups: createWakeups(),
    db: { read: openMemoryDatabase().tx },
    sealer: createSealer(Buffer.alloc(32, 1)),
    ...recordLog(),
  };
}

async function open(t: TestContext, pairs: readonly CertificateFiles[], now?: number) {
  const app = appOf(pairs, now);
  const certificates = await openCertificates(app);
  t.after(() => certificates[Symbol.asyncDispose]());
  return { ...app, ...certificates, certificates };
}

const folder = () => temporaryDirectory('certificates');

/** Moves the clock until the condition holds. Looks at files take real time. */
async function advanceUntil(
  clock: { advance(ms: number): Promise<void> },
  condition: () => boolean,
): Promise<void> {
  await waitUntil(async () => {
    await clock.advance(LOOK_MS);
    return condition();
  });
}

test('certificates of the configuration are used, and no others are made', async (t) => {
  const { store, list, config, clock, db, log, sealer } = await open(t, [
    writePair(folder(), RSA_PAIR),
    writePair(folder(), WILDCARD_PAIR),
  ]);
  assert.deepEqual(
    store.pairsFor('unknown.example').map(({ key }) => key),
    [RSA_PAIR.key],
  );
  assert.deepEqual(
    (await list()).map(({ kind, keyType, problem }) => [kind, keyType, problem]),
    [
      ['configured', 'rsa', null],
      ['configured', 'ec', null],
    ],
  );
  assert.deepEqual(await inspectCertificates({ clock, config, db, log, sealer }).list(), await list());
});

test('changed files are read within two looks, and a bad file changes nothing and is logged once', async (t) => {
  const place = folder();
  const { clock, store, lines, list } = await open(t, [writePair(place, RSA_PAIR)]);
  const shown = () => store.pairsFor('mx.example').map(({ key }) => key);
  writePair(place, EC_PAIR);
  await advanceUntil(clock, () => shown()[0] === EC_PAIR.key);
  lines.length = 0;
  writeFileSync(join(place, 'key.pem'), 'x');
  await advanceUntil(clock, () => lines.length > 0);
  for (let look = 0; look < 5; look += 1) await advanceUntil(clock, () => true);
  assert.deepEqual(
    lines.map(({ msg, file }) => [msg, file]),
    [['certificate cannot be used', join(place, 'key.pem')]],
  );
  assert.deepEqual(shown(), [EC_PAIR.key]);
  const [status] = await list();
  assert.deepEqual([status?.keyType, status?.problem?.file], ['ec', join(place, 'key.pem')]);
});

test('while no file can be used, self-signed certificates stand in', async (t) => {
  const place = folder();
  const files = writePair(place, RSA_PAIR);
  rmSync(files.key);
  const { clock, store, lines, list, metrics } = await open(t, [files]);
  assert.deepEqual(lines, [
    { file: files.key, reason: 'does not exist', isEarlierUsed: false, msg: 'certificate cannot be used' },
  ]);
  assert.deepEqual(
    (await list()).map(({ kind, keyType }) => [kind, keyType]),
    [
      ['configured', null],
      ['self_signed', 'ec'],
      ['self_signed', 'rsa'],
    ],
  );
  assert.match((await metrics.show()).text, /^postrider_certificates_unusable 1$/m);
  assert.equal(store.pairsFor('mx.example').length, 2);
  writePair(place, RSA_PAIR);
  await advanceUntil(clock, () => store.pairsFor('mx.example').length === 1);
  assert.deepEqual(
    (await list()).map(({ kind }) => kind),
    ['configured'],
  );
  assert.match((await metrics.show()).text, /^postrider_certificates_unusable 0$/m);
});

test('a certificate that nears its end is a warning each day, and the metrics show the time that is left', async (t) => {
  const pair = await renewed(NOW + 14.5 * DAY_MS);
  const { clock, lines, metrics } = await open(t, [writePair(folder(), pair)]);
  const secondsLeft = async () =>
    /^postrider_certificate_expiry_seconds\{name="mx\.example",key_type="ec"\} (.*)$/m.exec(
      (await metrics.show()).text,
    )?.[1];
  assert.equal(await secondsLeft(), String(14.5 * 86_400));
  const life = /^postrider_certificate_lifetime_seconds\{name="mx\.example",key_type="ec"\} (.*)$/m;
  assert.ok(Number(life.exec((await metrics.show()).text)?.[1]) > 14.5 * 86_400);
  await clock.advance(DAY_MS - 1);
  assert.deepEqual(lines, []);
  await clock.advance(1);
  await waitUntil(() => lines.length > 0);
  assert.deepEqual(
    lines.map(({ msg, daysLeft }) => [msg, daysLeft]),
    [['certificate expires soon', 13]],
  );
  assert.equal(await secondsLeft(), String(13.5 * 86_400));
});

test('the log warns of a certificate during its last 14 days, and reports an expired one as an error', async () => {
  const expiresAt = NOW + 30 * DAY_MS;
  const pair = await renewed(expiresAt);
  const files = writePair(folder(), pair);
  const read = parseCertificate(files, { certificate: pair.chain, key: pair.key });
  assert.ok('certificate' in read);
  const listed = [{ kind: 'configured' as const, files, problem: undefined, ...read }];
  for (const [now, line] of [
    [expiresAt - 14 * DAY_MS, undefined],
    [expiresAt - 14 * DAY_MS + 1, ['certificate expires soon', 13]],
    [expiresAt - 1, ['certificate expires soon', 0]],
    [expiresAt, ['certificate has expired', 0]],
    [expiresAt + DAY_MS, ['certificate has expired', -1]],
  ] as const) {
    const { log, lines } = recordLog();
    logExpiry({ clock: createFakeClock(now), log }, listed);
    assert.deepEqual(
      lines.map(({ msg, daysLeft }) => [msg, daysLeft]),
      line ? [line] : [],
    );
  }
});

test('self-signed certificates are made again in time, with the same keys and TLSA records', async (t) => {
  const app = appOf([], NOW + 275 * DAY_MS - 1);
  const made = await keepSelfSigned({ ...app, clock: createFakeClock(NOW) });
  const { store, records, list, ...certificates } = await openCertificates(app);
  t.after(() => certificates[Symbol.asyncDispose]());
  const chains = () => store.pairsFor('mx.example').map(({ chain }) => chain);
  assert.deepEqual(
    chains(),
    made.map(({ certificate }) => certificate.chain),
  );
  const before = { records: await records(), keys: store.pairsFor('mx.example').map(({ key }) => key) };
  assert.deepEqual(
    before.records.map(({ type, name, value }) => [type, name, value]),
    (await list()).map(({ tlsa }) => ['TLSA', '_25._tcp.mx.example', tlsa]),
  );
  await app.clock.advance(DAY_MS);
  await waitUntil(() => chains()[0] !== made[0]?.certificate.chain);
  assert.deepEqual(
    store.pairsFor('mx.example').map(({ key }) => key),
    before.keys,
  );
  assert.deepEqual(await records(), before.records);
  assert.deepEqual(app.lines, []);
});

test('TLSA records name the keys that the hostname shows, and no others', async (t) => {
  const pairs = [writePair(folder(), WILDCARD_PAIR), writePair(folder(), EC_PAIR)];
  const { records, config, clock, db, log, sealer } = await open(t, pairs);
  // openssl x509 -noout -pubkey | openssl pkey -pubin -outform der | sha256sum
  const value = '3 1 1 1642004604457b486fabe1bb50a87ddfcece99e890d06c10890f47c4e5981325';
  assert.deepEqual(
    (await records()).map((record) => record.value),
    [value],
  );
  assert.deepEqual(await inspectCertificates({ config, clock, db, log, sealer }).records(), await records());
});

test('a daemon that does not run has no certificates before its first start, and makes none', async () => {
  const { config, clock, db, log, sealer } = appOf([]);
  const admin = inspectCertificates({ config, clock, db, log, sealer });
  assert.deepEqual([await admin.list(), await admin.reload(), await admin.records()], [[], [], []]);
});

test('a certificate that is replaced under load drops nobody', async (t) => {
  const place = folder();
  const { clock, store, certificates } = await open(t, [writePair(place, RSA_PAIR)]);
  const server = createServer((socket) => socket.pipe(socket).write('hello '));
  const at = { address: '127.0.0.1', port: 0 };
  const tls = { certificates: store, timeoutMs: 30_000 };
  const listener = await listen({ clock }, server, {
    section: 'smtp',
    at,
    limits: { total: 200, perAddress: 200 },
    tls,
  });
  const port = Number(listener.address.split(':').at(-1));
  const sockets: TLSSocket[] = [];
  const dial = async (): Promise<string | undefined> => {
    const socket = connect({ host: '127.0.0.1', port, servername: 'mx.example', rejectUnauthorized: false });
    sockets.push(socket);
    assert.equal(String((await once(socket, 'data'))[0]), 'hello ');
    return socket.getPeerX509Certificate()?.publicKey.asymmetricKeyType;
  };
  await Promise.all(Array.from({ length: 10 }, dial));
  // Half of these connections are in their handshakes while the certificate is replaced.
  writePair(place, EC_PAIR);
  const [types] = await Promise.all([Promise.all(Array.from({ length: 20 }, dial)), certificates.reload()]);
  assert.ok(types.every((type) => type === 'rsa' || type === 'ec'));
  assert.equal(await dial(), 'ec');
  const answers = await Promise.all(
    sockets.map(async (socket, number) => {
      socket.write(`${number}`);
      return String((await once(socket, 'data'))[0]);
    }),
  );
  assert.deepEqual(
    answers,
    sockets.map((_, number) => `${number}`),
  );
  for (const socket of sockets) socket.destroy();
  await listener.close();
});

test('a store that follows gets every change of the certificates, and of the key of tickets', async (t) => {
  const place = folder();
  const { clock, certificates, follow } = await open(t, [writePair(place, RSA_PAIR)]);
  const changes: unknown[] = [];
  const first = follow({
    replace: (pairs) => changes.push(pairs.map(({ key }) => key)),
    renewTicketKey: () => changes.push('ticket key'),
  });
  assert.deepEqual(
    first.map(({ key }) => key),
    [RSA_PAIR.key],
  );
  writePair(place, EC_PAIR);
  await certificates.reload();
  assert.deepEqual(changes, [[EC_PAIR.key]]);
  await clock.advance(DAY_MS);
  await waitUntil(() => changes.length === 2);
  assert.equal(changes[1], 'ticket key');
});

test('after the end nothing is looked at', async () => {
  const place = folder();
  const app = appOf([writePair(place, RSA_PAIR)]);
  const { store, ...certificates } = await openCertificates(app);
  await certificates[Symbol.asyncDispose]();
  writePair(place, EC_PAIR);
  for (let look = 0; look < 5; look += 1) await advanceUntil(app.clock, () => true);
  assert.deepEqual(
    store.pairsFor('mx.example').map(({ key }) => key),
    [RSA_PAIR.key],
  );
});
