import assert from 'node:assert/strict';
import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../src/config/config.ts';
import { startDaemon } from '../src/main.ts';
import { freePort, listens } from './support/loopback.ts';
import { newDataDirectory } from './support/new-data-directory.ts';

test('a start that fails at its last listener closes what it opened, and the next start succeeds', async () => {
  const dataDir = newDataDirectory();
  const port = await freePort();
  const env = {
    POSTRIDER_DATA_DIR: dataDir,
    POSTRIDER_HTTP_PORT: `${port}`,
    POSTRIDER_SMTP_PORT: '0',
    POSTRIDER_SUBMISSION_ENABLED: 'false',
    POSTRIDER_LOG_LEVEL: 'silent',
  };
  const config = loadConfig({ env });
  mkdirSync(join(dataDir, 'control.sock'));
  await assert.rejects(startDaemon(config), { name: 'ControlSocketError' });
  assert.equal(await listens(port), false);
  rmdirSync(join(dataDir, 'control.sock'));
  const daemon = await startDaemon(config);
  assert.equal(daemon.address, `http://127.0.0.1:${port}`);
  assert.equal(await listens(port), true);
  await daemon.stop();
  assert.equal(await listens(port), false);
});
