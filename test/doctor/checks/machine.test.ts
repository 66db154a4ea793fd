import assert from 'node:assert/strict';
import { type AddressInfo, connect, createServer, isIP } from 'node:net';
import { after, test } from 'node:test';
import type { Check } from '../../../src/doctor/check.ts';
import { certificates } from '../../../src/doctor/checks/certificates.ts';
import { clock } from '../../../src/doctor/checks/clock.ts';
import { disk } from '../../../src/doctor/checks/disk.ts';
import { outboundPort } from '../../../src/doctor/checks/outbound-port.ts';
import { pages } from '../../../src/doctor/checks/pages.ts';
import { configuredPorts, ports } from '../../../src/doctor/checks/ports.ts';
import { saveOutboundRoute } from '../../../src/outbound-routes/save.ts';
import { DAY_MS, isoTime } from '../../../src/system/clock.ts';
import type { DialTarget } from '../../../src/system/dial.ts';
import { EgressGate } from '../../../src/system/egress.ts';
import type { ClockSync } from '../../../src/system/machine.ts';
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

test('a clock that NTP does not keep warns', async () => {
  const answering = (sync: ClockSync) =>
    findings(clock, { machine: { ...world.context.machine, askClockSync: async () => sync } });
  assert.match(await answering('unsynchronized'), /^warn clock: .*, and NTP does not set it$/);
  assert.match(await answering('synchronized'), /^ok clock: .*, set by NTP$/);
  assert.match(await answering('unknown'), /^ok clock: it shows \S+$/);
});

test('a port of the configuration on which the daemon does not listen fails', async () => {
  const { smtp, imap } = world.app.config;
  const all = configuredPorts(world.app.config).map(({ port }) => port);
  const listeningOn = (open: readonly number[] | undefined, change = {}) => {
    const listListeningPorts = async () => (open ? new Set(open) : undefined);
    return findings(ports, { machine: { ...world.context.machine, listListeningPorts }, ...change });
  };
  assert.match(await listeningOn(all), /^ok this machine: the daemon listens on /);
  assert.equal(
    await listeningOn(all.filter((port) => port !== imap.port)),
    `fail port ${imap.port}: the daemon does not listen on it, though imap.port names it`,
  );
  assert.match(await listeningOn([]), /^warn this machine: the daemon does not run: it listens on none of /);
  assert.match(await listeningOn(undefined), /^ok this machine: it does not say /);
  // Without a certificate and without an authority, HTTPS does not begin yet.
  const https = { ...world.app.config.https, enabled: true, port: 443, redirectPort: 80 };
  const acme = { ...world.app.config.acme, directory: '' };
  assert.match(
    await listeningOn([smtp.port, ...all], { config: { ...world.app.config, https, acme } }),
    /^ok /,
  );
  const ordering = { ...acme, directory: 'https://ca.example' };
  assert.match(
    await listeningOn(all, { config: { ...world.app.config, https, acme: ordering } }),
    /^fail port 80: .*\nfail port 443: /,
  );
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
    lifeDays?: number;
    problem?: { file: string; reason: string };
  }) => {
    const expiresAt = isoTime(world.app.clock.now() + (change.days ?? 60) * DAY_MS);
    const { kind = 'configured', problem = null, days = 60, lifeDays = 90 } = change;
    const validFrom = isoTime(world.app.clock.now() + (days - lifeDays) * DAY_MS);
    return findings(certificates, {
      certificates: { list: async () => [{ ...status, kind, validFrom, expiresAt, problem }] },
    });
  };
  assert.match(await withOne({}), /^ok mx\.example \(rsa\): /);
  assert.match(await withOne({ days: 5 }), /^warn mx\.example \(rsa\): the certificate expires on /);
  assert.match(await withOne({ days: 5, lifeDays: 6 }), /^ok /, 'a life of six days does not always warn');
  assert.match(await withOne({ days: 0.9, lifeDays: 6 }), /^warn /);
  assert.match(await withOne({ days: -5 }), /^fail mx\.example \(rsa\): the certificate expired on /);
  assert.match(await withOne({ kind: 'self_signed' }), /^warn mx\.example \(rsa\): .* self-signed/);
  const problem = { file: 'chain.pem', reason: 'does not exist' };
  assert.match(await withOne({ problem }), /^fail mx\.example \(rsa\): chain\.pem does not exist$/);
});

test('a certificate by ACME warns when its renewal fails, and fails when there is none', async () => {
  const kind = 'acme' as const;
  const status = {
    kind,
    certificate: null,
    key: null,
    tlsa: null,
    problem: null,
    keyType: null,
    validFrom: null,
  };
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
  const ofTenant = (name: string, tenantId: string, failures = 1) => {
    const order = { ...failed, name, tenantId, failures, lastError: `no ${name}` };
    return { ...status, names: null, expiresAt: null, order };
  };
  const flood = Array.from({ length: 1_000 }, (_, number) => ofTenant(`${number}.one.example`, 'ten_1'));
  const all = [...flood, ...['2', '3', '4'].map((number) => ofTenant(`${number}.example`, `ten_${number}`))];
  assert.equal(
    await findings(certificates, { certificates: { list: async () => all } }),
    'warn names of tenants: orders fail for 1003 (0.one.example: no 0.one.example; 2.example: no 2.example; 3.example: no 3.example)',
  );
  const unled = async () => [ofTenant('unled.example', 'ten_1', 0)];
  assert.equal(await findings(certificates, { certificates: { list: unled } }), '');
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
  world.dns.setZone(`${PROVIDERS}
    mx.gmail.example AAAA 2001:db8::10`);
  const half = (family: 4 | 6) => async (target: DialTarget) =>
    isIP(target.address) === family ? blocked() : dial();
  assert.equal(
    (await findings(outboundPort, { dial: half(6) })).split('\n')[1],
    'warn port 25 over IPv6: no mail server can be reached over IPv6 (mx.gmail.example: connect took longer than 2000 ms)',
  );
  assert.match(
    await findings(outboundPort, { dial: half(4) }),
    /\nwarn port 25 over IPv4: no mail server can be reached over IPv4 \(/,
  );
  const ipv4Only = { ...world.app.config, outbound: { ...world.app.config.outbound, ipv6: false } };
  assert.match(await findings(outboundPort, { dial: half(6), config: ipv4Only }), /^ok port 25: .*$/);
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
