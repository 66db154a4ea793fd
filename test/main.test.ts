import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, rmdirSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../src/config.ts';
import { startDaemon } from '../src/main.ts';
import { temporaryDirectory } from './support/temporary-directory.ts';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return new Promise((resolve) => {
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

test('a start that fails at its last listener closes what it opened, and the next start succeeds', async () => {
  const dataDir = temporaryDirectory('main');
  const port = await freePort();
  const env = {
    POSTRIDER_DATA_DIR: dataDir,
    POSTRIDER_HTTP_PORT: `${port}`,
    POSTRIDER_SMTP_PORT: '0',
    POSTRIDER_LOG_LEVEL: 'silent',
  };
  const config = loadConfig({ env });
  mkdirSync(join(dataDir, 'control.sock'));
  await assert.rejects(startDaemon(config), { name: 'ControlSocketError' });
  assert.equal(await isListening(port), false);
  rmdirSync(join(dataDir, 'control.sock'));
  const daemon = await startDaemon(config);
  assert.equal(daemon.address, `http://127.0.0.1:${port}`);
  assert.equal(await isListening(port), true);
  await daemon.stop();
  assert.equal(await isListening(port), false);
});
