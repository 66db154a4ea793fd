import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { test } from 'node:test';
import { openControl } from '../../src/cli/control-client.ts';
import { loadConfig } from '../../src/config/config.ts';
import { controlSocketPath } from '../../src/control-socket.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

test('a request is given up after a time, and work that takes long is waited for', async (t) => {
  const dataDir = temporaryDirectory('control');
  const waiting: ServerResponse[] = [];
  const server = createServer((request, response) => {
    if (request.method === 'POST') waiting.push(response);
  });
  const socket = controlSocketPath(dataDir);
  server.listen(socket.path);
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
    socket.release();
  });
  const open = () => openControl(loadConfig({ env: { POSTRIDER_DATA_DIR: dataDir } }), 20);
  const [control, other] = [await open(), await open()];
  const work = control.startWork('/mailboxes/ann/repair');
  await assert.rejects(other.request('POST', '/mailboxes/ann/check'), /does not answer as a daemon does/);
  for (const response of waiting) response.end('{"messages":7}');
  assert.deepEqual(await work, { messages: 7 });
  await Promise.all([control.close(), other.close()]);
});
