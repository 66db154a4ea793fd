/** The machine names the ports on which programs of this user listen. */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { listeningPortsOf, realMachine } from '../../src/system/machine.ts';
import { listenOnLoopback } from '../support/loopback.ts';

test('only ports that listen, and that belong to the user, are found in a table of the kernel', () => {
  const table = [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    '   0: 0100007F:0019 00000000:0000 0A 00000000:00000000 00:00000000 00000000   998        0 8379961 1 0 100 0 0 10 0',
    '   1: 00000000:01BB 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1076 1 0 100 0 0 10 0',
    '  12: 00000000:03E1 00000000:D431 01 00000000:00000000 02:00000000 00000000   998        0 1077 1 0 100 0 0 10 0',
    ' 123: 00000000000000000000000000000000:01D1 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000   998        0 1078 1 0',
  ].join('\n');
  assert.deepEqual(listeningPortsOf(table, 998), [25, 465]);
  assert.deepEqual(listeningPortsOf('', 998), []);
});

test('a port of this process is found while it listens', { skip: process.platform !== 'linux' }, async () => {
  const server = createServer();
  const port = await listenOnLoopback(server);
  assert.ok((await realMachine.listListeningPorts())?.has(port));
  await new Promise((resolve) => server.close(resolve));
  assert.ok(!(await realMachine.listListeningPorts())?.has(port));
});
