import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Agent, request } from 'undici';
import { controlSocketPath, openControlSocket } from '../src/control-socket.ts';
import { temporaryDirectory } from './support/temporary-directory.ts';
import { openTestApp, type TestApp } from './support/test-app.ts';

const opened: TestApp[] = [];
after(async () => {
  for (const one of opened) await one.close();
});

async function testApp(dataDir?: string): Promise<TestApp> {
  const test = await openTestApp(dataDir === undefined ? {} : { env: { POSTRIDER_DATA_DIR: dataDir } });
  opened.push(test);
  return test;
}

async function get(dataDir: string, path: string): Promise<{ status: number; body: unknown }> {
  const place = controlSocketPath(dataDir);
  const agent = new Agent({ connect: { socketPath: place.path } });
  try {
    const response = await request(`http://localhost${path}`, { dispatcher: agent });
    return { status: response.statusCode, body: await response.body.json() };
  } finally {
    await agent.close();
    place.release();
  }
}

async function listenOn(path: string): Promise<Server> {
  const server = createServer((socket) => socket.end());
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return server;
}

test('serves the admin API in the data directory, for its owner alone, and is gone when closed', async () => {
  const { app, dataDir, tenantId } = await testApp();
  const control = await openControlSocket(app);
  const socket = join(dataDir, 'control.sock');
  assert.equal(statSync(socket).mode & 0o777, 0o600);
  const { status, body } = await get(dataDir, '/tenants');
  assert.equal(status, 200);
  assert.ok((body as { id: string }[]).some(({ id }) => id === tenantId));
  await control.close();
  assert.equal(existsSync(socket), false);
});

test('takes the place of a socket nobody answers on', async () => {
  const { app, dataDir } = await testApp();
  const socket = join(dataDir, 'control.sock');
  const bindAndDie = `require('node:net').createServer().listen(${JSON.stringify(socket)}, () => process.kill(process.pid, 'SIGKILL'))`;
  assert.throws(() => execFileSync(process.execPath, ['-e', bindAndDie]));
  assert.ok(statSync(socket).isSocket());
  const control = await openControlSocket(app);
  assert.equal((await get(dataDir, '/plans')).status, 200);
  await control.close();
});

test('leaves a socket alone on which somebody answers', async () => {
  const { app, dataDir } = await testApp();
  const socket = join(dataDir, 'control.sock');
  const other = await listenOn(socket);
  await assert.rejects(openControlSocket(app), /another process answers on .*control\.sock/);
  assert.ok(existsSync(socket));
  await new Promise((resolve) => other.close(resolve));
});

test('leaves alone what is not a socket', async () => {
  const { app, dataDir } = await testApp();
  const socket = join(dataDir, 'control.sock');
  writeFileSync(socket, 'precious');
  await assert.rejects(openControlSocket(app), /is in the way: it is a file, not a socket\. Move it away/);
  assert.equal(statSync(socket).size, 8);
});

test('is found too when the data directory has a name longer than a socket may have', async () => {
  const base = temporaryDirectory('long');
  const dataDir = join(base, 'd'.repeat(120), 'data');
  mkdirSync(dataDir, { recursive: true });
  const { app } = await testApp(dataDir);
  const control = await openControlSocket(app);
  assert.ok(statSync(join(dataDir, 'control.sock')).isSocket());
  assert.equal((await get(dataDir, '/tenants')).status, 200);
  await control.close();
  assert.equal(existsSync(join(dataDir, 'control.sock')), false);
  rmSync(base, { recursive: true });
});

test('the public API is not on it, and it is not on the public API', async () => {
  const { app, dataDir, request: ask } = await testApp();
  const control = await openControlSocket(app);
  assert.equal((await get(dataDir, '/v1/emails')).status, 404);
  await control.close();
  for (const path of ['/tenants', '/plans', '/keys', '/v1/tenants', '/v1/keys']) {
    assert.equal((await ask('GET', path)).status, 404, path);
  }
});
