/** The checks of a set-up before there is a daemon. */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { connectToDaemon } from '../../../src/cli/control-client.ts';
import { readAnswers, type SetupOptions } from '../../../src/cli/setup/answers.ts';
import { checkMachine } from '../../../src/cli/setup/machine.ts';
import { checkNetwork, checkOutbound, findOwnAddresses } from '../../../src/cli/setup/network.ts';
import { loadConfig } from '../../../src/config/config.ts';
import { openControlSocket } from '../../../src/control-socket.ts';
import { createNameServerFinder } from '../../../src/system/authority.ts';
import { lines } from '../../doctor/support.ts';
import { ANY_TARGET } from '../../support/any-target.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { fakeTerminal } from '../../support/fake-terminal.ts';
import { listenOnLoopback } from '../../support/loopback.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { openTestApp } from '../../support/test-app.ts';
import { zoneDns } from '../../support/zone-dns.ts';

function answersTo(options: SetupOptions) {
  return readAnswers('you@example.com', { yes: true, ...options }, fakeTerminal());
}

const NO_PORTS = Object.fromEntries(
  ['HTTP', 'SMTP', 'IMAP', 'POP3', 'MANAGESIEVE'].map((name) => [`POSTRIDER_${name}_PORT`, '0']),
);

function configOf(env: Record<string, string>) {
  return loadConfig({
    env: {
      ...NO_PORTS,
      POSTRIDER_HOSTNAME: 'mail.example.com',
      POSTRIDER_DATA_DIR: `${temporaryDirectory('setup')}/not/there`,
      POSTRIDER_HTTPS_ENABLED: 'false',
      POSTRIDER_SUBMISSION_ENABLED: 'false',
      POSTRIDER_STORAGE_RESERVE_MEGABYTES: '0',
      ...env,
    },
  });
}

test('a busy port names the process that holds it, and what to do', async (t) => {
  const server = createServer();
  const port = await listenOnLoopback(server);
  t.after(() => server.close());
  const config = configOf({ POSTRIDER_SMTP_ADDRESS: '127.0.0.1', POSTRIDER_SMTP_PORT: String(port) });
  const busy = (await checkMachine(config, false)).filter(({ check }) => check === 'ports');
  assert.deepEqual(
    busy.map(({ level, subject, says }) => `${level} ${subject}: ${says.replace(/by \S+,/, 'by NAME,')}`),
    [`fail port ${port}: in use by NAME, pid ${process.pid}`],
  );
  assert.match(busy[0]?.advice ?? '', /^(?:stop it|systemctl disable --now) .*, or set smtp\.port$/);
  const web = configOf({
    ...{ POSTRIDER_HTTPS_ENABLED: 'true', POSTRIDER_HTTPS_ADDRESS: '127.0.0.1' },
    ...{ POSTRIDER_HTTPS_PORT: String(port), POSTRIDER_HTTPS_REDIRECT_PORT: '0' },
  });
  const [proxied] = (await checkMachine(web, false)).filter(({ check }) => check === 'ports');
  assert.match(proxied?.advice ?? '', /or keep it as a proxy: postrider setup --behind-proxy/);
  const [ours] = (await checkMachine(config, true)).filter(({ check }) => check === 'ports');
  assert.equal(ours?.level, 'ok');
});

test('memory, disk and clock are looked at before the data directory exists', async () => {
  const findings = await checkMachine(configOf({}), false);
  assert.deepEqual(
    findings.map(({ check }) => check),
    ['memory', 'disk', 'clock', 'ports'],
  );
});

test('the addresses are those that the operator names', async () => {
  const { found, findings } = await findOwnAddresses(answersTo({ address: ['192.0.2.1'] }));
  assert.deepEqual([found, lines(findings)], [['192.0.2.1'], ['ok this machine: 192.0.2.1']]);
});

function worldOf(zone: string) {
  const dns = zoneDns(zone);
  return {
    dns,
    authority: dns,
    clock: createFakeClock(0),
    probeTls: () => assert.fail('no page is looked at'),
  };
}

const PROVIDERS =
  'gmail.com MX 10 mx.example.net\noutlook.com MX 10 mx.example.net\nmx.example.net A 192.0.2.9';

test('each family is checked, and where a check fails, the option that leads on is named', async () => {
  const world = worldOf(
    `mail.example.com A 192.0.2.1\nmail.example.com AAAA 2001:db8::1\n1.2.0.192.in-addr.arpa PTR mail.example.com`,
  );
  const config = configOf({ POSTRIDER_DNS_SERVERS: '127.0.0.1' });
  const findings = await checkNetwork(world, config, answersTo({}));
  const advice = (subject: string) => findings.find((one) => one.subject === subject)?.advice;
  assert.deepEqual(lines(findings).slice(0, 3), [
    'ok mail.example.com: it leads to 192.0.2.1 and 2001:db8::1',
    'ok 192.0.2.1: it leads back to mail.example.com',
    'fail 2001:db8::1: it has no reverse DNS',
  ]);
  assert.match(advice('2001:db8::1') ?? '', /or send over IPv4 alone: postrider setup --ipv4-only$/);
});

test('the daemon says whether mail can leave, and a relay is the way on', async (t) => {
  const dns = zoneDns(PROVIDERS);
  const dial = () => Promise.reject(Object.assign(new Error('connect ETIMEDOUT'), { code: 'ETIMEDOUT' }));
  const { app, dataDir, close } = await openTestApp({ system: { dns, dial, targets: ANY_TARGET } });
  const listener = await openControlSocket(app);
  const control = (await connectToDaemon(dataDir)) ?? assert.fail('no daemon answers');
  t.after(async () => {
    await control.close();
    await listener.close();
    await close();
  });
  const [blocked, ...others] = await checkOutbound(control);
  assert.deepEqual(others, []);
  assert.equal(blocked?.level, 'fail');
  assert.match(blocked.advice, /or send through a relay: postrider setup --relay smtp:/);
  await control.request('PUT', '/outbound-routes/relay', { hosts: ['relay.example'] });
  assert.deepEqual(lines(await checkOutbound(control)), [
    'ok port 25: it is not needed: mail goes through the relay of the route "relay"',
  ]);
});

test('blocklists that answer through a public resolver are not known, and no listing', async () => {
  const world = worldOf('mail.example.com A 192.0.2.1\n1.2.0.192.zen.spamhaus.org A 127.255.255.254');
  const config = configOf({ POSTRIDER_DNS_SERVERS: '8.8.8.8' });
  const findings = await checkNetwork(world, config, answersTo({}));
  assert.deepEqual(
    findings.filter(({ check }) => check === 'blocklists').map(({ level, says }) => `${level} ${says}`),
    ['warn not known: 8.8.8.8 is a public resolver, which the lists do not answer'],
  );
});

test('a zone whose name servers cannot be found has none', async () => {
  const find = createNameServerFinder(createFakeClock(0), ['127.0.0.1:1']);
  assert.deepEqual(await find('example.invalid'), []);
});
