import assert from 'node:assert/strict';
import { type AddressInfo, connect, createServer } from 'node:net';
import { after, test } from 'node:test';
import type { Check } from '../../../src/doctor/check.ts';
import { certificates } from '../../../src/doctor/checks/certificates.ts';
import { clock } from '../../../src/doctor/checks/clock.ts';
import { disk } from '../../../src/doctor/checks/disk.ts';
import { outboundPort } from '../../../src/doctor/checks/outbound-port.ts';
import { pages } from '../../../src/doctor/checks/pages.ts';
import { saveOutboundRoute } from '../../../src/outbound-routes/save.ts';
import { DAY_MS, isoTime } from '../../../src/system/clock.ts';
import { EgressGate } from '../../../src/system/egress.ts';
import { lines, openDoctorWorld } from '../support.ts';

const world = await openDoctorWorld();
after(() => world.close());

async function findings(check: Check, change: Partial<typeof world.context> = {}): Promise<string> {
  return lines(await check.run({ ...world.context, ...change })).join('\n');
}

const GIGABYTE = 2 ** 30;

test('a disk that is nearly full warns, and one below the reserve fails', async () => {
  const withFree = (freeBytes: number) =>
    findings(disk, { statDisk: async () => ({ freeBytes, totalBytes: 100 * GIGABYTE }) });
  assert.match(await withFree(50 * GIGABYTE), /^ok .*: 51200 MB of 102400 MB are free$/);
  assert.match(await withFree(GIGABYTE), /^warn /);
  assert.match(await withFree(GIGABYTE / 4), /^fail /);
});

test('a clock that was set back fails', async () => {
  const behind = { behindMs: 120_000, check: () => 0 };
  assert.match(await findings(clock), /^ok clock: it shows /);
  assert.match(await findings(clock, { clockWatch: behind }), /^fail clock: .* 120 seconds before a time/);
});

test('certificates that end soon warn, and those that have ended or cannot be read fail', async () => {
  const status = {
    certificate: 'chain.pem',
    key: 'key.pem',
    names: ['mx.example'],
    keyType: 'rsa',
    tlsa: null,
    order: null,
  };
  const withOne = (change: {
    kind?: 'self_signed';
    days?: number;
    problem?: { file: string; reason: string };
  }) => {
    const expiresAt = isoTime(world.app.clock.now() + (change.days ?? 60) * DAY_MS);
    const { kind = 'configured', problem = null } = change;
    return findings(certificates, {
      certificates: { list: async () => [{ ...status, kind, expiresAt, problem }] },
    });
  };
  assert.match(await withOne({}), /^ok mx\.example \(rsa\): /);
  assert.match(await withOne({ days: 5 }), /^warn mx\.example \(rsa\): the certificate expires on /);
  assert.match(await withOne({ days: -5 }), /^fail mx\.example \(rsa\): the certificate expired on /);
  assert.match(await withOne({ kind: 'self_signed' }), /^warn mx\.example \(rsa\): .* self-signed/);
  const problem = { file: 'chain.pem', reason: 'does not exist' };
  assert.match(await withOne({ problem }), /^fail mx\.example \(rsa\): chain\.pem does not exist$/);
});

test('a certificate by ACME warns when its renewal fails, and fails when there is none', async () => {
  const kind = 'acme' as const;
  const status = { kind, certificate: null, key: null, tlsa: null, problem: null, keyType: null };
  const withOrder = (lastError: string | null, days?: number, tenantId: string | null = null) => {
    const expiresAt = days === undefined ? null : isoTime(world.app.clock.now() + days * DAY_MS);
    const times = { renewAt: null, nextAttemptAt: null, lastErrorAt: null };
    const order = {
      name: 'mx.example',
      tenantId,
      authority: 'https://ca.example',
      failures: 1,
      lastError,
      ...times,
    };
    return findings(certificates, {
      certificates: { list: async () => [{ ...status, names: null, expiresAt, order }] },
    });
  };
  assert.match(await withOrder(null), /^ok mx\.example: the certificate is being ordered$/);
  assert.match(await withOrder(null, 3), /^ok mx\.example: the certificate is valid until /);
  const failed = {
    name: 'mx.example',
    tenantId: null,
    authority: 'https://ca.example',
    failures: 1,
    lastError: 'port closed',
    ...{ renewAt: null, nextAttemptAt: null, lastErrorAt: null },
  };
  const list = async () => [{ ...status, names: null, expiresAt: null, order: failed }];
  const [finding] = await certificates.run({ ...world.context, certificates: { list } });
  assert.match(finding?.advice ?? '', /"postrider certificates renew mx\.example"$/);
  assert.match(await withOrder('port closed', 3), /^warn mx\.example: the renewal failed, .*: port closed$/);
  assert.match(
    await withOrder('port closed'),
    /^fail mx\.example: there is no valid certificate, .*: port closed$/,
  );
  assert.equal(await withOrder('port closed', undefined, 'ten_1'), '');
  const waiting = { ...failed, failures: 0, lastError: 'mx.example has no address in DNS' };
  assert.match(
    await findings(certificates, {
      certificates: { list: async () => [{ ...status, names: null, expiresAt: null, order: waiting }] },
    }),
    /^warn mx\.example: no certificate is ordered yet, because mx\.example has no address in DNS; /,
  );
});

test('pages without https, or with a certificate that browsers refuse, fail', async () => {
  const at = (url: string) => ({ ...world.app.config, links: { url } });
  assert.match(await findings(pages), /^ok https:\/\/track\.mx\.postrider\.example: /);
  assert.match(
    await findings(pages, { config: at('http://track.example') }),
    /^fail http:\/\/track\.example: /,
  );
  const invalid = async () => ({ kind: 'invalid' as const, reason: 'CERT_HAS_EXPIRED' });
  assert.match(await findings(pages, { probeTls: invalid }), /^fail .* \(CERT_HAS_EXPIRED\)$/);
});

/** Starts a server on loopback that sends this text, and returns a `dial` that leads to it. */
async function serverThatSays(text: string) {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return async () => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    return socket;
  };
}

const PROVIDERS = `gmail.com MX 5 mx.gmail.example
  mx.gmail.example A 192.0.2.10
  outlook.com MX 5 mx.outlook.example
  mx.outlook.example A 192.0.2.11`;

test('port 25 is open when one of two providers greets, and blocked when none does', async () => {
  assert.match(await findings(outboundPort), /^warn port 25: nothing is known/);
  world.dns.setZone(PROVIDERS);
  const dial = await serverThatSays('220 mx ESMTP\r\n');
  assert.match(await findings(outboundPort, { dial }), /^ok port 25: mx\.gmail\.example answers$/);
  const closing = await serverThatSays('554 no\r\n');
  assert.match(
    await findings(outboundPort, { dial: closing }),
    /^fail port 25: .*mx\.gmail\.example: 554 no; /,
  );
  const blocked = async () => Promise.reject(new Error('connect took longer than 2000 ms'));
  assert.match(
    await findings(outboundPort, { dial: blocked }),
    /^fail port 25: no mail server can be reached/,
  );
  const egress = new EgressGate();
  egress.hold();
  assert.match(
    await findings(outboundPort, { dial: blocked, egress }),
    /^warn port 25: nothing is dialled, because this installation was restored$/,
  );
  await saveOutboundRoute(world.app, 'provider', { hosts: ['smtp.provider.example'] });
  assert.match(
    await findings(outboundPort, { dial: blocked }),
    /^ok port 25: it is not needed: .*"provider"$/,
  );
});
