/** Tests of deliveries go the way of mail, and send none. */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { runProgram } from '../../../src/cli/program.ts';
import { openControlSocket } from '../../../src/control-socket.ts';
import { saveOutboundRoute } from '../../../src/outbound-routes/save.ts';
import { createTargetGuard } from '../../../src/system/blocklist.ts';
import { PASSWORD, startRelay, USER } from '../../outbound-routes/relay-server.ts';
import { closeAfterTests } from '../../support/close-after.ts';
import { startCommandServer } from '../../support/command-server.ts';
import { fakeTerminal } from '../../support/fake-terminal.ts';
import { type Hosts, listenOnLoopback } from '../../support/loopback.ts';
import { openSpool, type Spool } from '../../support/spool.ts';
import { TRUSTED_HOST } from '../../support/trusted-certificate.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { openRoutedSpool } from '../routed-spool.ts';

const closing = closeAfterTests();
const hosts: Hosts = {};
const spool = closing(await openRoutedSpool(hosts));
closing(await openControlSocket(spool.app));
/** Commands that the server of `rcpt.example` has got. */
const commands: string[] = [];
const server = closing(
  await startCommandServer((line) => {
    commands.push(line);
    if (line.startsWith('RCPT TO:<nobody@')) return '550 5.1.1 No such user';
    if (line.startsWith('RCPT TO:<hangs@')) return '';
    if (line === 'QUIT') return '221 bye';
    return '250 2.0.0 ok';
  }),
);
hosts['192.0.2.1'] = server.port;
spool.addZone(`rcpt.example MX 10 mx.rcpt.example\nmx.rcpt.example A 192.0.2.1
_mta-sts.rcpt.example TXT "v=STSv1; id=20260301;"`);

async function deliverTest(
  address: string,
  args: readonly string[] = [],
  { dataDir }: Pick<Spool, 'dataDir'> = spool,
) {
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: dataDir });
  const ended = runProgram(['deliver-test', address, ...args], terminal);
  return { terminal, ended, code: await (args.includes('--wait') ? undefined : ended) };
}

test('the route, DNS, the policy and each reply are shown, and no message is sent', async () => {
  commands.length = 0;
  const { terminal, code } = await deliverTest('Bob@RCPT.example');
  assert.equal(code, 0, terminal.errors);
  assert.match(
    terminal.output,
    /^route: the hosts of the domain\ndns: rcpt\.example has MX 10 mx\.rcpt\.example\ndns: mx\.rcpt\.example has 192\.0\.2\.1\npolicy: TLS is used .*\n +0 ms \* connecting to mx\.rcpt\.example \[192\.0\.2\.1\], port 25\n/,
  );
  assert.match(
    terminal.output,
    /> RCPT TO:<Bob@rcpt\.example>\n.*< 250 2\.0\.0 ok\n.*> RSET\n.*\nOK: 250 2\.0\.0 ok\n$/,
  );
  await waitUntil(() => commands.includes('QUIT'));
  const own = spool.app.config.hostname;
  assert.deepEqual(commands, [
    `EHLO ${own}`,
    `MAIL FROM:<postmaster@bounce.${own}>`,
    'RCPT TO:<Bob@rcpt.example>',
    'RSET',
    'QUIT',
  ]);
});

test('a refusal is shown with its meaning, and is the failure of the command', async () => {
  const { terminal, code } = await deliverTest('nobody@rcpt.example');
  assert.equal(code, 1);
  assert.match(terminal.output, /^FAIL, mail would be bounced \(bad-mailbox\): 550 5\.1\.1 No such user$/m);
  assert.match(terminal.errors, /mail to this address would not be delivered now/);
  const json = (await deliverTest('nobody@rcpt.example', ['--json'])).terminal.output;
  const events = json
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(events.at(-1).class, 'bad-mailbox');
  assert.ok(events.some(({ kind, direction }) => kind === 'line' && direction === 'received'));
  const rows = await spool.app.db.read.selectFrom('suppressions').selectAll().execute();
  assert.deepEqual(rows, [], 'a test changes nothing');
});

test('what DNS rules out, and what is no address, is said without a connection', async () => {
  spool.dialled.length = 0;
  const missing = await deliverTest('bob@missing.example');
  assert.match(missing.terminal.output, /^dns: the domain is looked up again after an hour/m);
  assert.match(missing.terminal.output, /^FAIL, mail would be deferred .*missing\.example does not exist/m);
  assert.match((await deliverTest('bob')).terminal.errors, /`address` must be an email address/);
  assert.match((await deliverTest('bob@sandbox.mx.postrider.example')).terminal.output, /^OK: /m);
  assert.deepEqual(spool.dialled, []);
});

test('one test runs at a time, and a test that is stopped makes way', async () => {
  commands.length = 0;
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: spool.dataDir });
  const first = runProgram(['deliver-test', 'hangs@rcpt.example'], terminal);
  await waitUntil(() => commands.some((line) => line.startsWith('RCPT')));
  assert.match(
    (await deliverTest('bob@rcpt.example')).terminal.errors,
    /Another test of a delivery is running/,
  );
  terminal.interrupt();
  assert.equal(await first, 1);
  assert.match(terminal.errors, /the test has ended early/);
  let code: number | undefined = 1;
  await waitUntil(async () => {
    code = (await deliverTest('bob@rcpt.example')).code;
    return code === 0;
  });
  assert.equal(code, 0);
});

test('a test that is stopped ends the connection at once, also before the server has said a word', async () => {
  let connections = 0;
  let closed = 0;
  const silent = createServer((socket) => {
    connections += 1;
    socket.on('error', () => {});
    socket.on('close', () => {
      closed += 1;
    });
  });
  hosts['192.0.2.3'] = await listenOnLoopback(silent);
  spool.addZone('silent.example MX 10 mx.silent.example\nmx.silent.example A 192.0.2.3');
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: spool.dataDir });
  const ended = runProgram(['deliver-test', 'bob@silent.example'], terminal);
  await waitUntil(() => connections === 1);
  terminal.interrupt();
  assert.equal(await ended, 1);
  await waitUntil(() => closed === 1);
  assert.equal(connections, 1, 'no other way is tried');
  silent.close();
});

test('a test that gets no answer ends after 90 seconds', async () => {
  commands.length = 0;
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: spool.dataDir });
  const ended = runProgram(['deliver-test', 'hangs@rcpt.example'], terminal);
  await waitUntil(() => commands.some((line) => line.startsWith('RCPT')));
  await spool.clock.advance(90_000);
  assert.equal(await ended, 1);
  assert.match(terminal.output, /^FAIL, mail would be deferred .*\(RCPT TO\): the session was closed$/m);
});

test('the relay of the outbound route is tested, without its secrets', async () => {
  const relay = closing(await startRelay());
  hosts['192.0.2.50'] = relay.port;
  spool.addZone(`${TRUSTED_HOST} A 192.0.2.50`);
  const { tenantId } = spool;
  const route = { hosts: [TRUSTED_HOST], tenant: tenantId, user: USER, password: PASSWORD };
  await saveOutboundRoute(spool.app, 'main', route);
  const { terminal, code } = await deliverTest('bob@rcpt.example', ['--tenant', tenantId]);
  assert.equal(code, 0, terminal.output);
  assert.match(terminal.output, /^route: the relay of the outbound route "main"$/m);
  assert.match(terminal.output, /\* TLSv1\.3 .*; the certificate is valid\n/);
  assert.match(terminal.output, /> AUTH PLAIN \*\*\*\n/);
  assert.ok(!terminal.output.replaceAll(spool.app.config.hostname, '').includes(USER));
  assert.deepEqual([relay.logins.length, relay.messages.length], [1, 0]);
  assert.match((await deliverTest('bob@rcpt.example')).terminal.output, /^route: the hosts of the domain$/m);
});

test('private addresses are not dialled', async () => {
  const dialled: string[] = [];
  const guarded = closing(
    await openSpool({
      system: {
        targets: createTargetGuard({ allow: [], own: [] }),
        dial: ({ address }) => {
          dialled.push(address);
          return Promise.reject(new Error('dialled'));
        },
      },
    }),
  );
  closing(await openControlSocket(guarded.app));
  guarded.addZone(
    'inner.example MX 10 mx.inner.example\nmx.inner.example A 10.0.0.1\nmx.inner.example A 127.0.0.1',
  );
  const { terminal } = await deliverTest('bob@inner.example', [], guarded);
  assert.match(terminal.output, /^FAIL, mail would be deferred .*no public address/m);
  assert.deepEqual(dialled, []);
});

test('a restored installation tests nothing before its release', async () => {
  spool.dialled.length = 0;
  spool.app.egress.hold();
  const { terminal, code } = await deliverTest('bob@rcpt.example');
  spool.app.egress.release();
  assert.equal(code, 1);
  assert.match(terminal.errors, /nothing leaves this restored installation/);
  assert.deepEqual([terminal.output, spool.dialled], ['', []]);
});
