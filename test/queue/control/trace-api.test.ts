/** Attempts at a site are shown while they happen, to those who watch, and nothing is kept for others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspectCertificates } from '../../../src/certificates/certificates.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { openControlSocket } from '../../../src/control-socket.ts';
import { DeliveryTrace } from '../../../src/queue/conversation/trace.ts';
import { startDelivering } from '../../../src/queue/worker.ts';
import { closeAfterTests } from '../../support/close-after.ts';
import { acceptEverything, startCommandServer } from '../../support/command-server.ts';
import { fakeTerminal } from '../../support/fake-terminal.ts';
import type { Hosts } from '../../support/loopback.ts';
import { noReceiver, PACKAGED } from '../../support/spool.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { openRoutedSpool } from '../routed-spool.ts';

const closing = closeAfterTests();
const hosts: Hosts = {};
const spool = closing(await openRoutedSpool(hosts));
const trace = new DeliveryTrace();
const parts = { certificates: inspectCertificates(spool.app), trace };
const control = closing(await openControlSocket(spool.app, parts));
const server = closing(
  await startCommandServer((line) => (line.startsWith('RCPT') ? '450 4.2.0 later' : acceptEverything(line))),
);
hosts['192.0.2.1'] = server.port;
hosts['192.0.2.2'] = server.port;
spool.addZone('one.example MX 10 mx.one.example\nmx.one.example A 192.0.2.1');
spool.addZone('two.example MX 10 mx.two.example\nmx.two.example A 192.0.2.2');

function watch(...args: string[]) {
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: spool.dataDir });
  return { terminal, ended: runProgram(['queue', 'trace', ...args], terminal) };
}

async function deliver(): Promise<void> {
  const dispatcher = startDelivering(spool.app, noReceiver, { replies: PACKAGED, trace });
  await spool.settled();
  await dispatcher.stop(30_000);
}

test('the lines and the outcome of each attempt at the site are shown, and Ctrl-C ends the trace', async () => {
  const text = watch('MX.one.example');
  const json = watch('mx.one.example', '--json');
  await waitUntil(() => trace.watchers === 2);
  const id = await spool.accept('bob@one.example');
  const other = await spool.accept('bob@two.example');
  await deliver();
  await waitUntil(
    () => /deferred: /.test(text.terminal.output) && json.terminal.output.includes('"outcome"'),
  );
  for (const { terminal, ended } of [text, json]) {
    terminal.interrupt();
    assert.equal(await ended, 0, terminal.errors);
    assert.ok(!terminal.output.includes(other), 'mail at another site is not shown');
  }
  await waitUntil(() => !trace.isWatched);
  const lines = text.terminal.output.trim().split('\n');
  assert.match(
    lines[0] ?? '',
    new RegExp(`^2026-03-01T12:00:00.000Z ${id} +0 ms \\* connecting to mx.one.example`),
  );
  assert.match(lines.at(-1) ?? '', / deferred: bob@one\.example at mx\.one\.example: 450 4\.2\.0 later$/);
  assert.ok(lines.some((line) => /< 450 4\.2\.0 later$/.test(line)));
  const events = json.terminal.output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.ok(events.every(({ emailId }) => emailId === id));
  assert.deepEqual([...new Set(events.map(({ kind }) => kind))], ['line', 'outcome']);
  assert.doesNotMatch(text.terminal.output, /Hello/);
  assert.deepEqual(
    [text.terminal.errors, json.terminal.errors],
    ['Attempts at MX.one.example from now on; Ctrl-C ends this\n', ''],
  );
});

test('a site is found by a domain whose mail was deferred there', async () => {
  const { terminal, ended } = watch('two.example');
  await waitUntil(() => trace.watchers === 1);
  await spool.clock.advance(1);
  const id = await spool.accept('cid@two.example');
  await deliver();
  await waitUntil(() => terminal.output.includes('deferred: cid@two.example'));
  assert.ok(terminal.output.includes(id));
  terminal.interrupt();
  await ended;
  await waitUntil(() => !trace.isWatched);
});

test('at most eight traces run at the same time', async () => {
  const open = Array.from({ length: 8 }, () => watch('mx.one.example'));
  await waitUntil(() => trace.watchers === 8);
  const ninth = watch('mx.one.example');
  assert.equal(await ninth.ended, 1);
  assert.match(ninth.terminal.errors, /At most 8 traces/);
  for (const { terminal, ended } of open) {
    terminal.interrupt();
    await ended;
  }
  await waitUntil(() => !trace.isWatched);
});

test('a daemon that stops ends its traces', async () => {
  const { terminal, ended } = watch('mx.one.example');
  await waitUntil(() => trace.watchers === 1);
  await control.close();
  assert.equal(await ended, 1);
  assert.match(terminal.errors, /the daemon has ended the trace/);
  assert.equal(trace.isWatched, false);
});

test('without a daemon nothing is traced', async () => {
  const alone = closing(await openControlSocket(spool.app));
  const { terminal, ended } = watch('mx.one.example');
  assert.equal(await ended, 1);
  assert.match(terminal.errors, /No daemon runs/);
  await alone.close();
});
