/** Dynamic updates of a real daemon to Debian's Knot DNS and BIND, as primaries of the zone above the hostname. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { CertificateStatus } from '../../src/certificates/show.ts';
import { startAuthority } from '../support/acme-authority.ts';
import { type DaemonProcess, startDaemonProcess, temporaryDirectory } from '../support/daemon.ts';
import { freePort } from '../support/loopback.ts';
import { type DnsServer, startDnsServer } from './dns-servers.ts';
import { until } from './until.ts';

const ZONE = 'example.com';
const HOST = `mx.${ZONE}`;
const SECRET = Buffer.from('the secret of these tests, 32 by').toString('base64');
const ZONE_FILE = `$ORIGIN ${ZONE}.
$TTL 3600
@ SOA ns1 hostmaster 1 3600 600 1209600 60
@ NS ns1
ns1 A 127.0.0.1
mx TXT "site-verification=1"
_spf.mx TXT "v=spf1 ip4:198.51.100.1 -all"
`;
const run = promisify(execFile);

/** Each server shows that it serves the zone. */
const FIRST = { name: ZONE, type: 'SOA', answer: 'hostmaster' };

type Report = {
  problem: string | null;
  records: { name: string; type: string; state: string; detail: string }[];
};

for (const [name, start] of [
  ['Knot DNS', startKnot],
  ['BIND', startBind],
] as const) {
  describe(name, () => {
    const closers: (() => Promise<void>)[] = [];
    after(async () => {
      for (const close of closers) await close();
    });

    test(`${name} takes what is printed, keeps what others have, and loses what is not printed any more`, async () => {
      const peer = await start();
      closers.unshift(() => peer.stop());
      const lookUp = async (record: string, type: string) =>
        (await run('dig', ['@127.0.0.1', '-p', String(peer.port), '+short', record, type])).stdout.trim();
      const daemon = await startUpdating(peer.port, SECRET);
      closers.unshift(() => daemon.kill('SIGKILL'));
      const first = await update(daemon);
      assert.equal(first.problem, null);
      assert.equal(await lookUp(HOST, 'A'), '192.0.2.1');
      assert.equal(await lookUp(`bounce.${HOST}`, 'MX'), `10 ${HOST}.`);
      assert.equal(await lookUp(`track.${HOST}`, 'CNAME'), `${HOST}.`);
      assert.equal(await lookUp(`a.example._report._dmarc.${HOST}`, 'TXT'), '"v=DMARC1"');
      const texts = (await lookUp(HOST, 'TXT')).split('\n').toSorted();
      assert.deepEqual(texts, ['"site-verification=1"', `"v=spf1 include:_spf.${HOST} -all"`]);
      // A second SPF record would make both invalid.
      assert.equal(await lookUp(`_spf.${HOST}`, 'TXT'), '"v=spf1 ip4:198.51.100.1 -all"');
      const conflict = first.records.find(({ name: at }) => at === `_spf.${HOST}`);
      assert.match(conflict?.state ?? '', /conflict/);
      assert.match(conflict?.detail ?? '', /merge/);
      assert.match(await lookUp(`_postrider.track.${HOST}`, 'TXT'), /postrider-owner=.*type=CNAME/);

      // The second pass finds everything in place.
      const second = await update(daemon);
      const states = new Set(second.records.map(({ state }) => state));
      assert.deepEqual([...states].toSorted(), ['conflict', 'in_place']);

      // The key of a domain comes with it. It stays when the domain is deleted, until that is removed, because its mail may wait.
      const key = daemon.testKey;
      const made = await daemon.request('POST', '/v1/domains', key, { name: 'shop.example' });
      assert.equal(made.status, 201, JSON.stringify(made.body));
      const domain = made.body as { id: string; records: { record: string; value: string }[] };
      const target = domain.records.find(({ record }) => record === 'DKIM')?.value ?? '';
      await update(daemon);
      assert.match(await lookUp(target, 'TXT'), /v=DKIM1/);
      const deleted = await daemon.request('DELETE', `/v1/domains/${domain.id}`, key);
      assert.ok(deleted.status < 300);
      await update(daemon);
      assert.match(await lookUp(target, 'TXT'), /v=DKIM1/);

      await publishTenant(daemon, { port: peer.port, lookUp });
      await publishByOperator(daemon, lookUp);
      await daemon.stop();

      const wrong = await startUpdating(peer.port, Buffer.from('another secret').toString('base64'));
      closers.unshift(() => wrong.kill('SIGKILL'));
      assert.match((await update(wrong)).problem ?? '', /BADSIG|BADKEY|signature/);
      await wrong.stop();
    });

    test(`${name} shows the proof of a certificate while its order is open, and no longer after a kill -9`, async () => {
      const peer = await start();
      closers.unshift(() => peer.stop());
      const lookUpProof = async () =>
        (
          await run('dig', [
            '@127.0.0.1',
            '-p',
            String(peer.port),
            '+short',
            `_acme-challenge.${HOST}`,
            'TXT',
          ])
        ).stdout.trim();
      const proofs: string[] = [];
      let daemon: DaemonProcess | undefined;
      await using authority = await startAuthority({
        challengeTypes: ['dns-01'],
        async validate({ keyAuthorization }) {
          const digest = createHash('sha256').update(keyAuthorization).digest('base64url');
          proofs.push(await lookUpProof());
          await daemon?.kill('SIGKILL');
          return proofs.at(-1) === `"${digest}"` ? undefined : 'no such record';
        },
      });
      const dataDir = temporaryDirectory('proof');
      const env = {
        POSTRIDER_OUTBOUND_ALLOW_TARGETS: '127.0.0.0/8',
        POSTRIDER_ACME_DIRECTORY: authority.directory,
        POSTRIDER_ACME_ACCEPT_TERMS: 'true',
      };
      // A name is ordered only once it has an address, which the first pass publishes.
      const first = await startUpdating(peer.port, SECRET, { dataDir });
      await update(first);
      await first.stop();
      daemon = await startUpdating(peer.port, SECRET, { dataDir, env });
      await until('the authority has looked', async () => proofs.length > 0);
      assert.notEqual(await lookUpProof(), '');
      const next = await startUpdating(peer.port, SECRET, { dataDir, env });
      closers.unshift(() => next.kill('SIGKILL'));
      await until('the certificate is there', async () => {
        const listed = (await next.cli(['certificates', 'list'])) as CertificateStatus[];
        return listed.some(({ kind, expiresAt }) => kind === 'acme' && expiresAt !== null);
      });
      await until('the proof is gone', async () => (await lookUpProof()) === '');
      assert.equal(authority.orders.length, 1);
      await next.stop();
    });
  });
}

type LookUp = (name: string, type: string) => Promise<string>;
type Domain = { id: string; status: string; records: { name: string; type: string; value: string }[] };

/**
 * A tenant adds a domain inside the zone. Nothing of it is published before the owner of the zone has published its three records; then its
 * tracking host and its return path come by themselves, and the tracking host goes when it is not wanted any more.
 */
async function publishTenant(
  daemon: DaemonProcess,
  { port, lookUp }: { port: number; lookUp: LookUp },
): Promise<void> {
  const name = `shop.${ZONE}`;
  const call = async (method: 'POST' | 'PATCH', path: string, body: object = {}) => {
    const answer = await daemon.request(method, path, daemon.testKey, body);
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    return answer.body as Domain;
  };
  const { id, records } = await call('POST', '/v1/domains', { name });
  const host = `links.${name}`;
  await call('PATCH', `/v1/domains/${id}`, { trackingSubdomain: host });
  await update(daemon);
  for (const [at, type] of [
    [host, 'CNAME'],
    [name, 'TXT'],
    [`bounce.${name}`, 'CNAME'],
  ] as const)
    assert.equal(await lookUp(at, type), '', `${at} is not verified`);
  await addByHand(port, records);
  assert.equal((await call('POST', `/v1/domains/${id}/verify`)).status, 'verified');
  await update(daemon);
  assert.equal(await lookUp(host, 'CNAME'), `track.${HOST}.`);
  assert.equal(await lookUp(`bounce.${name}`, 'CNAME'), `bounce.${HOST}.`);
  assert.match(await lookUp(`_postrider.${host}`, 'TXT'), /postrider-owner=.*type=CNAME/);
  assert.equal(await lookUp(`_postrider.${name}`, 'TXT'), '', 'the records of the owner have no mark');
  await call('PATCH', `/v1/domains/${id}`, { trackingSubdomain: null });
  await update(daemon);
  assert.equal(await lookUp(host, 'CNAME'), '');
  assert.equal(await lookUp(`_postrider.${host}`, 'TXT'), '');
}

/** The operator publishes a domain that is not verified. Its records stay in later passes, verify it, and go with it. */
async function publishByOperator(daemon: DaemonProcess, lookUp: LookUp): Promise<void> {
  const name = `new.${ZONE}`;
  const made = (await daemon.cli(['domain', 'add', name, '--product-type', 'both'])) as Domain;
  await update(daemon);
  assert.equal(await lookUp(name, 'TXT'), '');
  const { problem, records } = (await daemon.cli(['domain', 'publish', name])) as Report;
  assert.equal(problem, null);
  assert.ok(
    records.every(({ state }) => state === 'written'),
    JSON.stringify(records),
  );
  await update(daemon);
  for (const record of made.records)
    assert.equal((await lookUp(record.name, record.type)).replaceAll(/"|\.$/g, ''), record.value);
  assert.equal(await lookUp(name, 'MX'), `10 ${HOST}.`);
  assert.match(await lookUp(`_postrider.${name}`, 'TXT'), /postrider-owner=.*type=TXT/);
  const verified = (await daemon.cli(['domain', 'verify', name])) as Domain;
  assert.equal(verified.status, 'verified', JSON.stringify(verified.records));
  await daemon.cli(['domain', 'delete', name, '--yes']);
  await update(daemon);
  assert.equal(await lookUp(name, 'TXT'), '');
}

/** Publishes records as the owner of the zone does, with the tool of BIND. */
async function addByHand(port: number, records: Domain['records']): Promise<void> {
  const lines = records.map(
    ({ name, type, value }) =>
      `update add ${name}. 3600 ${type} ${type === 'TXT' ? `"${value}"` : `${value}.`}`,
  );
  const tool = spawn('nsupdate', [], { stdio: ['pipe', 'inherit', 'inherit'] });
  const commands = [
    `server 127.0.0.1 ${port}`,
    `zone ${ZONE}`,
    `key hmac-sha256:postrider ${SECRET}`,
    ...lines,
    'send',
  ];
  tool.stdin.end(`${commands.join('\n')}\n`);
  const [code] = await once(tool, 'exit');
  assert.equal(code, 0);
}

async function update(daemon: DaemonProcess): Promise<Report> {
  return (await daemon.cli(['dns', 'update'])) as Report;
}

async function startUpdating(
  port: number,
  secret: string,
  { env, ...life }: { dataDir?: string; env?: Record<string, string> } = {},
): Promise<DaemonProcess> {
  const key = join(temporaryDirectory('key'), 'tsig.key');
  await writeFile(key, `key "postrider" { algorithm hmac-sha256; secret "${secret}"; };\n`);
  return startDaemonProcess({
    ...life,
    env: {
      POSTRIDER_HOSTNAME: HOST,
      POSTRIDER_DOMAINS_ADDRESSES: '192.0.2.1',
      POSTRIDER_DNS_SERVERS: `127.0.0.1:${port}`,
      POSTRIDER_DNS_UPDATE_SERVER: `127.0.0.1:${port}`,
      POSTRIDER_DNS_UPDATE_KEY: key,
      POSTRIDER_DNS_UPDATE_ZONES: ZONE,
      ...env,
    },
  });
}

async function startKnot(): Promise<DnsServer> {
  const home = temporaryDirectory('knot');
  const port = await freePort();
  await writeFile(join(home, `${ZONE}.zone`), ZONE_FILE);
  await writeFile(
    join(home, 'knot.conf'),
    `server:
    rundir: "${home}"
    listen: 127.0.0.1@${port}
database:
    storage: "${home}"
key:
  - id: postrider
    algorithm: hmac-sha256
    secret: ${SECRET}
acl:
  - id: update
    address: 127.0.0.1
    key: postrider
    action: update
zone:
  - domain: ${ZONE}
    storage: "${home}"
    file: ${ZONE}.zone
    acl: update
`,
  );
  return startDnsServer(['knotd', '-c', join(home, 'knot.conf')], port, FIRST);
}

async function startBind(): Promise<DnsServer> {
  const home = temporaryDirectory('bind');
  const port = await freePort();
  await writeFile(join(home, `${ZONE}.zone`), ZONE_FILE);
  await writeFile(
    join(home, 'named.conf'),
    `options {
  directory "${home}";
  pid-file "${home}/named.pid";
  session-keyfile "${home}/session.key";
  listen-on port ${port} { 127.0.0.1; };
  listen-on-v6 { none; };
  recursion no;
};
controls { };
key "postrider" { algorithm hmac-sha256; secret "${SECRET}"; };
zone "${ZONE}" {
  type primary;
  file "${home}/${ZONE}.zone";
  allow-update { key "postrider"; };
};
`,
  );
  return startDnsServer(['named', '-g', '-c', join(home, 'named.conf')], port, FIRST);
}
