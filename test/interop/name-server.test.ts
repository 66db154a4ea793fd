/** The built-in name server of a real daemon, judged by the clients of BIND, Knot DNS and NLnet Labs, and by Unbound as a resolver. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { type DaemonProcess, startDaemonProcess, temporaryDirectory } from '../support/daemon.ts';
import { freePort } from '../support/loopback.ts';
import { type DnsServer, startUnbound } from './dns-servers.ts';

const HOST = 'mx.postrider.example';
const run = promisify(execFile);

let daemon: DaemonProcess;
let port = 0;
let resolver: DnsServer;
let key: { name: string; value: string };

before(async () => {
  port = await freePort();
  daemon = await startDaemonProcess({
    env: {
      POSTRIDER_HOSTNAME: HOST,
      POSTRIDER_DOMAINS_ADDRESSES: '192.0.2.1,2001:db8::1',
      POSTRIDER_NAMESERVER_ENABLED: 'true',
      POSTRIDER_NAMESERVER_PORT: String(port),
    },
  });
  const { records } = (await daemon.cli(['domain', 'records'])) as { records: (typeof key)[] };
  const found = records.find(({ value }) => value.startsWith('v=DKIM1'));
  assert.ok(found);
  key = found;
  resolver = await startResolver();
});

after(async () => {
  await resolver?.stop();
  await daemon?.stop();
});

const dig = async (...args: string[]) => (await run('dig', [...at(), '+tries=1', ...args])).stdout;
const kdig = async (...args: string[]) => (await run('kdig', [...at(), '+retry=0', ...args])).stdout;
const drill = async (...args: string[]) =>
  (await run('drill', ['-p', String(port), ...args.slice(0, 1), '@127.0.0.1', ...args.slice(1)])).stdout;
const at = () => ['@127.0.0.1', '-p', String(port)];

test('dig, kdig and drill read the same answers, with authority', async () => {
  for (const [name, type, data] of [
    [HOST, 'A', '192.0.2.1'],
    [HOST, 'AAAA', '2001:db8::1'],
    [HOST, 'NS', `ns.${HOST}.`],
    [`bounce.${HOST}`, 'MX', `10 ${HOST}.`],
    [`track.${HOST}`, 'CNAME', `${HOST}.`],
    [`_spf.${HOST}`, 'TXT', '"v=spf1 ip4:192.0.2.1 ip6:2001:db8::1 -all"'],
  ] as const) {
    for (const answer of [await dig(name, type), await kdig(name, type), await drill(name, type)]) {
      assert.match(answer, /NOERROR/i);
      assert.match(answer, /flags:? qr aa/i);
      assert.ok(answer.includes(data), answer);
    }
  }
});

test('a DKIM key in several strings comes whole over UDP with EDNS, and after truncation over TCP without it', async () => {
  for (const answer of [
    await dig(key.name, 'TXT'),
    await dig(key.name, 'TXT', '+noedns'),
    await kdig(key.name, 'TXT', '+tcp'),
  ]) {
    const text = [...answer.matchAll(/"([^"]*)"/g)].map(([, string]) => string).join('');
    assert.equal(text, key.value);
  }
});

test('names that are not there, types that are not there, and everything elsewhere', async () => {
  const absent = await dig(`nobody.${HOST}`, 'A');
  assert.match(absent, /status: NXDOMAIN/);
  assert.match(absent, /\t60\tIN\tSOA\t/);
  assert.match(await dig(HOST, 'SRV'), /status: NOERROR[\s\S]*ANSWER: 0, AUTHORITY: 1/);
  assert.match(await kdig('example.org', 'A'), /status: REFUSED/);
  assert.match(await drill('version.bind', 'TXT', 'CH'), /rcode: REFUSED/);
  assert.match(await dig(HOST, 'ANY'), /HINFO\t"RFC8482" ""/);
  assert.match(await dig(HOST, 'AXFR').catch((error) => error.stdout), /Transfer failed/);
  assert.match(await kdig(HOST, 'IXFR=1').catch((error) => error.stdout + error.stderr), /REFUSED/);
});

test('clients accept the cookies, and EDNS of a version that is not known is refused', async () => {
  assert.match(await dig(HOST, 'A'), /COOKIE: [0-9a-f]{56} \(good\)/);
  assert.match(await kdig(HOST, 'A', '+cookie'), /COOKIE: [0-9a-f]{16}[\s\S]*NOERROR|NOERROR[\s\S]*COOKIE/);
  assert.match(await dig(HOST, 'A', '+edns=1', '+noednsnegotiation'), /status: BADVERS/);
  assert.match(await dig(HOST, 'A', '+opcode=UPDATE'), /status: NOTIMP/);
});

test('Unbound resolves through it: an alias, a wildcard, and a name that is not there', async () => {
  const ask = async (name: string, type: string) =>
    (await run('dig', ['@127.0.0.1', '-p', String(resolver.port), name, type])).stdout;
  assert.match(
    await ask(`track.${HOST}`, 'A'),
    /NOERROR[\s\S]*CNAME\tmx\.postrider\.example\.[\s\S]*\tA\t192\.0\.2\.1/,
  );
  assert.match(await ask(`example.com._report._dmarc.${HOST}`, 'TXT'), /"v=DMARC1"/);
  assert.match(await ask(`Nobody.${HOST}`, 'A'), /status: NXDOMAIN/);
  assert.match(await ask(key.name, 'TXT'), /v=DKIM1/);
});

test('the parent zone of the report leads Unbound here', async () => {
  const report = (await daemon.cli(['nameserver'])) as { delegation: { type: string; value: string }[] };
  assert.deepEqual(
    report.delegation.map(({ type, value }) => `${type} ${value}`),
    [`NS ns.${HOST}`, 'A 192.0.2.1', 'AAAA 2001:db8::1'],
  );
});

/** Returns an Unbound that asks the daemon for the zone, with mixed case and small names (RFC 9156), and nobody else. */
function startResolver(): Promise<DnsServer> {
  const settings = {
    server: [
      'module-config: "iterator"',
      'qname-minimisation-strict: yes',
      'use-caps-for-id: yes',
      'harden-below-nxdomain: yes',
    ],
    sections: `stub-zone:\n  name: "${HOST}"\n  stub-addr: 127.0.0.1@${port}\n`,
  };
  return startUnbound(temporaryDirectory('unbound'), settings, {
    name: HOST,
    type: 'A',
    answer: '192.0.2.1',
  });
}
