/**
 * Certificates by ACME: pebble, the test authority of Let's Encrypt, issues them by HTTP-01, by TLS-ALPN-01 and by DNS-01, and the small authority of
 * the tests by what pebble lacks. openssl judges what comes of it.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createSecureContext, createServer as createTlsServer } from 'node:tls';
import { promisify } from 'node:util';
import { createOrderKind } from '../../src/certificates/acme/kind.ts';
import { updateNames } from '../../src/certificates/acme/names.ts';
import { findCertificate, renewNow } from '../../src/certificates/acme/store.ts';
import { type Certificates, openCertificates } from '../../src/certificates/certificates.ts';
import type { CertificateStatus } from '../../src/certificates/show.ts';
import { createFetch } from '../../src/system/fetch.ts';
import { startAuthority } from '../support/acme-authority.ts';
import { ANY_TARGET } from '../support/any-target.ts';
import { startDaemonProcess } from '../support/daemon.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { NO_TEXTS, PublishedTexts } from '../support/published-texts.ts';
import { runDueTasks } from '../support/tasks.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { openTestApp } from '../support/test-app.ts';
import { waitUntil } from '../support/wait-until.ts';
import { zoneDns } from '../support/zone-dns.ts';
import { freePort, startPebble } from './pebble.ts';

const run = promisify(execFile);
const HOSTNAME = 'mx.postrider.example';
const ZONE = `${HOSTNAME} A 127.0.0.1\ntrack.${HOSTNAME} A 127.0.0.1\nlocalhost A 127.0.0.1`;

/** Serves what orders offer, and the certificates: a port 80, and a port 443 that knows `acme-tls/1`. */
async function startListeners(t: TestContext) {
  let certificates: Certificates | undefined;
  const http = createHttpServer((request, response) => {
    const [, token = ''] = /^\/\.well-known\/acme-challenge\/([\w-]+)$/.exec(request.url ?? '') ?? [];
    const [host = ''] = (request.headers.host ?? '').split(':');
    response.end(certificates?.challenges.answerHttp(host, token) ?? '');
  });
  const tls = createTlsServer({
    ALPNProtocols: ['acme-tls/1'],
    SNICallback(name, done) {
      const pair = certificates?.challenges.findAlpn(name);
      done(
        null,
        pair ? createSecureContext({ cert: pair.chain, key: pair.key }) : certificates?.store.find(name),
      );
    },
  });
  tls.on('tlsClientError', () => {});
  for (const server of [http, tls]) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
  }
  const [httpPort, tlsPort] = [http, tls].map((server) => (server.address() as AddressInfo).port);
  return {
    httpPort: httpPort ?? 0,
    tlsPort: tlsPort ?? 0,
    serve(opened: Certificates) {
      certificates = opened;
    },
  };
}

type Authority = { directory: string; serverCertificate?: string };

/** Shows lines beside the zone of these tests to everybody who looks names up. */
type ShowTexts = (texts: readonly string[]) => void;

/** Opens an app that orders from an authority, with the listeners of the test in front. */
async function openHost(
  t: TestContext,
  authority: Authority,
  env: Record<string, string>,
  show: ShowTexts = () => {},
) {
  const dns = zoneDns(ZONE);
  const { directory, serverCertificate } = authority;
  const trusted = serverCertificate === undefined ? {} : { certificateAuthorities: serverCertificate };
  const host = await openTestApp({
    system: { dns, fetch: createFetch(ANY_TARGET, dns, trusted) },
    env: {
      POSTRIDER_HOSTNAME: HOSTNAME,
      POSTRIDER_ACME_DIRECTORY: directory,
      POSTRIDER_ACME_ACCEPT_TERMS: 'true',
      ...env,
    },
  });
  t.after(() => host.close());
  const certificates = await openCertificates(host.app);
  t.after(() => certificates[Symbol.asyncDispose]());
  const nameServer = new PublishedTexts(host.app, {
    suffix: `.${HOSTNAME}`,
    show(texts) {
      dns.setZone([ZONE, ...texts].join('\n'));
      show(texts);
    },
  });
  const parts = { ...host.app, certificates, nameServer, dnsUpdates: NO_TEXTS };
  const kind = createOrderKind(parts);
  return {
    app: host.app,
    dns,
    certificates,
    async order() {
      await updateNames(parts);
      await runDueTasks(host.app, kind);
      const row = await findCertificate(host.app.db.read, HOSTNAME);
      assert.equal(row?.lastError, null);
      assert.ok(row.chain);
      await waitUntil(() => certificates.store.pairsFor(HOSTNAME)[0]?.chain === row.chain);
      return row;
    },
  };
}

/** Has openssl check the chain and the name that a client is shown. Returns the text of the certificate. */
async function judge(root: string, port: number): Promise<string> {
  const rootFile = join(temporaryDirectory('root'), 'root.pem');
  await writeFile(rootFile, root);
  const child = run('openssl', [
    ...['s_client', '-connect', `127.0.0.1:${port}`, '-servername', HOSTNAME, '-verify_hostname', HOSTNAME],
    ...['-CAfile', rootFile, '-verify_return_error', '-showcerts'],
  ]);
  child.child.stdin?.end();
  const { stdout } = await child;
  assert.match(stdout, /Verify return code: 0 \(ok\)/);
  const x509 = run('openssl', ['x509', '-noout', '-text']);
  x509.child.stdin?.end(stdout);
  return (await x509).stdout;
}

for (const challenge of ['http-01', 'tls-alpn-01', 'dns-01'])
  test(`pebble issues a certificate by ${challenge}, renews it with the same key, and openssl accepts it`, async (t) => {
    await using dns = await startDnsServer(ZONE);
    const listeners = await startListeners(t);
    await using pebble = await startPebble({ dns: dns.address, ...listeners });
    const env = { POSTRIDER_ACME_CHALLENGES: challenge };
    const host = await openHost(t, pebble, env, (texts) => dns.setZone([ZONE, ...texts].join('\n')));
    listeners.serve(host.certificates);
    const first = await host.order();
    const text = await judge(await pebble.root(), listeners.tlsPort);
    assert.match(text, new RegExp(`DNS:${HOSTNAME}`));
    assert.match(text, /ASN1 OID: prime256v1/);
    await host.app.db.commit(renewNow, { name: HOSTNAME, nextKeySealed: null, now: host.app.clock.now() });
    const second = await host.order();
    assert.notEqual(second.chain, first.chain);
    assert.equal(second.privateKeySealed, first.privateKeySealed);
    await judge(await pebble.root(), listeners.tlsPort);
  });

for (const challenge of ['http-01', 'tls-alpn-01'])
  test(`a daemon that starts without a certificate has one of pebble by ${challenge} a little later, for HTTPS and for mail`, async () => {
    await using dns = await startDnsServer(ZONE);
    const [httpPort, tlsPort, submissionPort] = [await freePort(), await freePort(), await freePort()];
    await using pebble = await startPebble({ dns: dns.address, httpPort, tlsPort });
    const daemon = await startDaemonProcess({
      env: {
        NODE_EXTRA_CA_CERTS: pebble.serverCertificateFile,
        POSTRIDER_HOSTNAME: HOSTNAME,
        POSTRIDER_DNS_SERVERS: dns.address,
        POSTRIDER_OUTBOUND_ALLOW_TARGETS: '127.0.0.0/8',
        POSTRIDER_HTTPS_ENABLED: 'true',
        POSTRIDER_HTTPS_PORT: String(tlsPort),
        POSTRIDER_HTTPS_REDIRECT_PORT: String(httpPort),
        POSTRIDER_SUBMISSION_ENABLED: 'true',
        POSTRIDER_SUBMISSION_PORT: '0',
        POSTRIDER_SUBMISSION_TLS_PORT: String(submissionPort),
        POSTRIDER_ACME_DIRECTORY: pebble.directory,
        POSTRIDER_ACME_ACCEPT_TERMS: 'true',
        POSTRIDER_ACME_CHALLENGES: challenge,
      },
    });
    try {
      await waitUntil(async () => {
        const listed = (await daemon.cli(['certificates', 'list'])) as CertificateStatus[];
        const own = listed.find(({ order }) => order?.name === HOSTNAME);
        assert.equal(own?.order?.lastError ?? null, null);
        return own?.expiresAt !== undefined && own.expiresAt !== null;
      });
      for (const port of [tlsPort, submissionPort]) await judge(await pebble.root(), port);
    } finally {
      await daemon.stop();
    }
  });

test('pebble makes an account that is bound to an external one', async (t) => {
  await using dns = await startDnsServer(ZONE);
  const listeners = await startListeners(t);
  const externalAccount = {
    keyId: 'kid-1',
    hmacKey: 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W',
  };
  const keyFile = join(temporaryDirectory('hmac'), 'hmac.key');
  await writeFile(keyFile, externalAccount.hmacKey);
  await using pebble = await startPebble({ dns: dns.address, ...listeners, externalAccount });
  const host = await openHost(t, pebble, {
    POSTRIDER_ACME_CHALLENGES: 'http-01',
    POSTRIDER_ACME_EXTERNAL_ACCOUNT_KEY_ID: externalAccount.keyId,
    POSTRIDER_ACME_EXTERNAL_ACCOUNT_HMAC_KEY_FILE: keyFile,
  });
  listeners.serve(host.certificates);
  await host.order();
  await judge(await pebble.root(), listeners.tlsPort);
});

test('an authority with profiles, renewal information and the persistent record issues what openssl accepts', async (t) => {
  const types: string[] = [];
  const now = Date.now();
  await using authority = await startAuthority({
    challengeTypes: ['http-01', 'dns-persist-01'],
    profiles: ['shortlived'],
    lifeMs: 6 * 86_400_000,
    window: () => ({ start: now + 3_600_000, end: now + 7_200_000 }),
    validate: ({ type }) => void types.push(type),
  });
  const listeners = await startListeners(t);
  const host = await openHost(t, authority, { POSTRIDER_ACME_PROFILE: 'shortlived' });
  listeners.serve(host.certificates);
  await host.order();
  await judge(authority.root, listeners.tlsPort);
  const records = await host.certificates.records();
  const persistent = records.find(({ name }) => name.startsWith('_validation-persist.'));
  host.dns.setZone(`${ZONE}\n${persistent?.name} TXT "${persistent?.value}"`);
  await host.app.db.commit(renewNow, { name: HOSTNAME, nextKeySealed: null, now: host.app.clock.now() });
  await host.order();
  assert.equal(types.at(-1), 'dns-persist-01');
  assert.equal(authority.orders.at(-1)?.profile, 'shortlived');
  assert.match(authority.orders.at(-1)?.replaces ?? '', /\./);
  await judge(authority.root, listeners.tlsPort);
});
