/** The operator sees the connections of a site and ends them: idle ones at once, others after their message, or in its middle by force. */
import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { after, beforeEach, test } from 'node:test';
import { inspectCertificates } from '../../../src/certificates/certificates.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { openControlSocket } from '../../../src/control-socket.ts';
import { startDelivering } from '../../../src/queue/worker.ts';
import { closeAfterTests } from '../../support/close-after.ts';
import { acceptEverything, startCommandServer } from '../../support/command-server.ts';
import { fakeTerminal } from '../../support/fake-terminal.ts';
import { type Hosts, listenOnLoopback } from '../../support/loopback.ts';
import { noReceiver, PACKAGED } from '../../support/spool.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { openRoutedSpool } from '../routed-spool.ts';

const closing = closeAfterTests();
const hosts: Hosts = {};
const spool = closing(await openRoutedSpool(hosts));
/** The command that the first host does not answer, and what it was sent. */
let silentAt: string | undefined;
let lines: string[] = [];
let peer: Socket | undefined;
const slow = closing(
  await startCommandServer((line, socket) => {
    peer = socket;
    lines.push(line);
    return line === silentAt ? '' : acceptEverything(line);
  }),
);
const quick = closing(await startCommandServer(acceptEverything));
/** A host that never greets. */
const mute = createServer((socket) => {
  peer = socket.on('error', () => {});
});
hosts['192.0.2.1'] = slow.port;
hosts['192.0.2.2'] = quick.port;
hosts['192.0.2.3'] = await listenOnLoopback(mute);
spool.addZone(`one.example MX 10 mx.one.example
mx.one.example A 192.0.2.1
two.example MX 10 mx.one.example
two.example MX 20 mx.two.example
mx.two.example A 192.0.2.2
mute.example MX 10 mx.mute.example
mx.mute.example A 192.0.2.3`);
const dispatcher = startDelivering(spool.app, noReceiver, { replies: PACKAGED });
const control = await openControlSocket(spool.app, {
  certificates: inspectCertificates(spool.app),
  sites: dispatcher.sites,
});
after(async () => {
  peer?.destroy();
  mute.close();
  await dispatcher.stop(0);
  await control.close();
});

beforeEach(() => {
  silentAt = undefined;
  lines = [];
});

async function ask(...args: string[]) {
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: spool.dataDir });
  const code = await runProgram(['queue', 'site', ...args], terminal);
  return { code, output: terminal.output, errors: terminal.errors };
}

async function connectionsOf(name: string) {
  const sites = await dispatcher.sites.explainSites({ name, siteOfDomain: undefined });
  return sites.flatMap(({ connections }) => connections);
}

const reaches = (name: string, state: string | undefined) =>
  waitUntil(async () => (await connectionsOf(name))[0]?.state === state, `${name} is ${state}`);
const hasStatus = (id: string, status: string) =>
  waitUntil(async () => (await spool.recipient(id)).status === status, `${id} is ${status}`);

test('an idle connection is shown, and ends at once', async () => {
  await hasStatus(await spool.accept('bob@one.example'), 'delivered');
  await reaches('mx.one.example', 'idle');
  const [shown] = await connectionsOf('mx.one.example');
  assert.deepEqual(shown, {
    id: 1,
    state: 'idle',
    host: 'mx.one.example',
    address: '192.0.2.1',
    tls: null,
    since: spool.clock.now(),
    messages: 1,
    tenantId: null,
  });
  const table = (await ask('one.example')).output;
  assert.match(table, /^1 +mx\.one\.example +192\.0\.2\.1 +none +2026-03-01T12:00:00Z +1 +idle +-$/m);
  const { output } = await ask('mx.one.example', '--disconnect');
  assert.equal(output, 'Connection 1 to mx.one.example [192.0.2.1]: closed\n');
  await waitUntil(() => lines.includes('QUIT'), 'the peer is told');
  await reaches('mx.one.example', undefined);
  assert.equal((await ask('mx.one.example', '--disconnect')).output, 'No connection is open.\n');
  const gone = await ask('mx.one.example', '--disconnect', '1');
  assert.equal(gone.code, 1);
  assert.match(gone.errors, /mx\.one\.example has no connection 1/);
});

test('a busy connection sends its message to the end, and other mail takes another connection', async () => {
  silentAt = '.';
  const before = slow.connections();
  const first = await spool.accept('bob@one.example');
  await reaches('mx.one.example', 'sending');
  await waitUntil(() => lines.includes('.'), 'the end of the message was sent');
  const id = String((await connectionsOf('mx.one.example'))[0]?.id);
  const { output } = await ask('mx.one.example', '--disconnect', id);
  assert.match(output, /: ends after the message that it sends \(--force cuts it off\)\n$/);
  assert.equal((await connectionsOf('mx.one.example'))[0]?.state, 'ending');
  const [ending] = lines.splice(0).slice(-1);
  assert.equal(ending, '.', 'nothing follows');
  silentAt = undefined;
  peer?.write('250 taken\r\n');
  await hasStatus(first, 'delivered');
  await waitUntil(() => lines.includes('QUIT'), 'it ends');
  await hasStatus(await spool.accept('bob@one.example'), 'delivered');
  assert.equal(slow.connections() - before, 2);
  await ask('mx.one.example', '--disconnect');
});

test('a connection that is cut off before the end of its message gives it to another host, and the site is none the worse', async () => {
  silentAt = 'DATA';
  const id = await spool.accept('bob@two.example');
  await reaches('two.example', 'sending');
  const { output } = await ask('mx.two.example', '--disconnect', '--force');
  assert.match(output, /to mx\.one\.example \[192\.0\.2\.1\]: cut off\n$/);
  await hasStatus(id, 'delivered');
  assert.equal(quick.connections(), 1);
  const { recipients } = await spool.email(id);
  assert.equal(recipients[0].attempts, 1);
  silentAt = undefined;
  await ask('mx.two.example', '--disconnect');
  await hasStatus(await spool.accept('bob@two.example'), 'delivered');
  assert.equal(quick.connections(), 1, 'the first host is not avoided');
});

test('mail whose end was sent waits for the next attempt when its connection is cut off', async () => {
  silentAt = '.';
  const id = await spool.accept('bob@one.example');
  await waitUntil(() => lines.includes('.'), 'the end of the message was sent');
  await ask('one.example', '--disconnect', '--force');
  await hasStatus(id, 'deferred');
  assert.match(
    (await spool.recipient(id)).diagnostic,
    /the operator of the sending server ended the connection/,
  );
  const [site] = await dispatcher.sites.explainSites({ name: 'mx.one.example', siteOfDomain: undefined });
  assert.equal(site?.binding.limit, 'none');
});

test('a connection to a host that does not greet is cut off, and no socket stays', async () => {
  peer = undefined;
  const id = await spool.accept('bob@mute.example');
  await reaches('mx.mute.example', 'connecting');
  await waitUntil(() => peer !== undefined, 'the host has the connection');
  const closed = new Promise((resolve) => peer?.once('close', resolve));
  const { output } = await ask('mx.mute.example', '--disconnect', '--force');
  assert.match(output, /to mx\.mute\.example \[192\.0\.2\.3\]: cut off\n$/);
  await closed;
  await hasStatus(id, 'deferred');
  assert.match((await spool.recipient(id)).diagnostic, /ended the connection/);
});

test('a connection that is being dialled is cut off', async () => {
  hosts['192.0.2.3'] = 'hangs';
  const id = await spool.accept('ann@mute.example');
  await reaches('mx.mute.example', 'connecting');
  await ask('mx.mute.example', '--disconnect', '--force');
  await hasStatus(id, 'deferred');
});
