import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const run = promisify(execFile);
const LAUNCHER = fileURLToPath(new URL('../../bin/postrider', import.meta.url));

/** Prints its pid, the size of its thread pool, the settings of its memory, and its arguments one a line. */
const TALKING_NODE =
  '#!/bin/sh\necho "$$"; echo "$UV_THREADPOOL_SIZE"; echo "$MALLOC_ARENA_MAX $MALLOC_MMAP_THRESHOLD_ $MALLOC_TRIM_THRESHOLD_"; printf "%s\\n" "$@"\n';
const PAST = new Date('2026-01-01T00:00:00Z');
const LATER = new Date('2026-01-02T00:00:00Z');

/** An installation whose Node only talks, in a folder with the characters that a URL must encode. */
function installation(): { root: string; write(path: string, text: string): string } {
  const root = join(temporaryDirectory('launcher'), 'a folder #1 50%');
  const write = (path: string, text: string) => {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { mode: 0o755 });
    return file;
  };
  for (const cpu of ['x64', 'arm64']) write(`node_modules/node-linux-${cpu}/bin/node`, TALKING_NODE);
  write('node_modules/esbuild/package.json', '{}');
  write('src/cli/main.ts', '');
  mkdirSync(join(root, 'bin'));
  copyFileSync(LAUNCHER, join(root, 'bin/postrider'));
  chmodSync(join(root, 'bin/postrider'), 0o755);
  return { root, write };
}

/** Compiled now, from sources that are older. */
function compile({ root, write }: ReturnType<typeof installation>): void {
  const compiled = write('dist/main.js', '');
  for (const path of ['src/cli/main.ts', 'src/cli', 'src']) utimesSync(join(root, path), PAST, PAST);
  utimesSync(compiled, LATER, LATER);
}

async function launch(program: string, args: string[] = [], env: Record<string, string> = {}) {
  const own = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => name !== 'UV_THREADPOOL_SIZE' && !name.startsWith('MALLOC_'),
    ),
  );
  const { stdout } = await run(program, args, { cwd: tmpdir(), env: { ...own, ...env } });
  const [pid, pool, memory, heap, ...nodeArgs] = stdout.trimEnd().split('\n');
  return { pid, pool, memory, heap, nodeArgs };
}

test('runs the sources with a loader given by URL, from any folder and through symlinks', async () => {
  const { root } = installation();
  const links = temporaryDirectory('links');
  symlinkSync(join(root, 'bin/postrider'), join(links, 'first'));
  symlinkSync('first', join(links, 'second'));
  const { nodeArgs } = await launch(join(links, 'second'), ['serve', '--config', 'a b']);
  assert.equal(nodeArgs[0], '--import');
  assert.equal(fileURLToPath(nodeArgs[1] ?? ''), join(root, 'bin/typescript.ts'));
  assert.deepEqual(nodeArgs.slice(2), [join(root, 'src/cli/main.ts'), 'serve', '--config', 'a b']);
});

test('bin/postrider becomes the daemon, and its process id stays', async () => {
  const { root } = installation();
  const child = spawn(join(root, 'bin/postrider'));
  let output = '';
  for await (const part of child.stdout) output += part;
  assert.equal(output.split('\n')[0], String(child.pid));
});

test('prefers compiled code that is newer than every source', async () => {
  const place = installation();
  compile(place);
  const { nodeArgs } = await launch(join(place.root, 'bin/postrider'));
  assert.equal(nodeArgs.at(-1), join(place.root, 'dist/main.js'));
});

test('runs the sources again when one was changed or removed after compiling', async () => {
  const sources = (root: string) => join(root, 'src/cli/main.ts');
  const changed = installation();
  compile(changed);
  utimesSync(sources(changed.root), new Date(), new Date());
  assert.equal((await launch(join(changed.root, 'bin/postrider'))).nodeArgs.at(-1), sources(changed.root));

  const removed = installation();
  removed.write('src/old.ts', '');
  compile(removed);
  rmSync(join(removed.root, 'src/old.ts'));
  assert.equal((await launch(join(removed.root, 'bin/postrider'))).nodeArgs.at(-1), sources(removed.root));
});

test('runs the sources when a package was changed after compiling', async () => {
  const place = installation();
  compile(place);
  const installed = place.write('node_modules/.package-lock.json', '{}');
  for (const [time, program] of [
    [PAST, 'dist/main.js'],
    [new Date(), 'src/cli/main.ts'],
  ] as const) {
    utimesSync(installed, time, time);
    const { nodeArgs } = await launch(join(place.root, 'bin/postrider'));
    assert.equal(nodeArgs.at(-1), join(place.root, program));
  }
});

test('runs compiled code where there are no sources', async () => {
  const place = installation();
  compile(place);
  rmSync(join(place.root, 'src'), { recursive: true });
  const { nodeArgs } = await launch(join(place.root, 'bin/postrider'));
  assert.equal(nodeArgs.at(-1), join(place.root, 'dist/main.js'));
});

test('gives the thread pool two more than the cores, unless it is set', async () => {
  const program = join(installation().root, 'bin/postrider');
  const pool = Number((await launch(program)).pool);
  assert.ok(pool >= availableParallelism() + 2, `${pool}`);
  assert.equal((await launch(program, [], { UV_THREADPOOL_SIZE: '3' })).pool, '3');
});

test('bounds the memory arenas and the young generation, of the sources and of compiled code', async () => {
  const place = installation();
  const program = join(place.root, 'bin/postrider');
  const sources = await launch(program);
  const expected = ['2 131072 131072', '--max-semi-space-size=16'];
  assert.deepEqual([sources.memory, sources.heap], expected);
  const own = { MALLOC_ARENA_MAX: '4', MALLOC_MMAP_THRESHOLD_: '65536', MALLOC_TRIM_THRESHOLD_: '1048576' };
  assert.equal((await launch(program, [], own)).memory, '4 65536 1048576');
  compile(place);
  const compiled = await launch(program);
  assert.deepEqual([compiled.memory, compiled.heap], expected);
});

test('takes the Node of the system when none came with it, and refuses an old one by name', async () => {
  const { root, write } = installation();
  for (const cpu of ['x64', 'arm64'])
    rmSync(join(root, `node_modules/node-linux-${cpu}`), { recursive: true });
  const withNode = async (version: string) => {
    write(
      'path/node',
      `#!/bin/sh\n[ "$1" = --version ] && echo ${version} && exit\n${TALKING_NODE.slice(10)}`,
    );
    return launch(join(root, 'bin/postrider'), [], { PATH: `${join(root, 'path')}:/usr/bin:/bin` });
  };
  for (const version of ['v24.15.0', 'v24.21.0', 'v25.0.0', 'v100.1.0']) {
    assert.equal((await withNode(version)).nodeArgs.at(-1), join(root, 'src/cli/main.ts'), version);
  }
  for (const version of ['v24.14.9', 'v20.20.2', 'v8.0.0']) {
    await assert.rejects(withNode(version), (error: Error & { code: number; stderr: string }) => {
      assert.equal(error.code, 1);
      assert.match(
        error.stderr,
        /^postrider: needs Node 24\.15 or newer, found v[\d.]+\. Run "npm ci" in .+\n$/,
      );
      return true;
    });
  }
});

test('says what to do when nothing is installed', async () => {
  const { root } = installation();
  rmSync(join(root, 'node_modules/esbuild'), { recursive: true });
  await assert.rejects(launch(join(root, 'bin/postrider')), /there is nothing to run: run "npm ci" in/);
});

test('compiled code is kept in the folder of the service or of the checkout, and a package keeps none', async () => {
  const place = installation();
  compile(place);
  const { root, write } = place;
  for (const cpu of ['x64', 'arm64']) {
    write(`node_modules/node-linux-${cpu}/bin/node`, '#!/bin/sh\nprintenv NODE_COMPILE_CACHE || echo none\n');
  }
  const { NODE_COMPILE_CACHE: _, ...env } = process.env;
  const kept = async (more: Record<string, string> = {}) =>
    (await run(join(root, 'bin/postrider'), [], { env: { ...env, ...more } })).stdout.trim();
  assert.equal(await kept(), join(root, 'node_modules/.cache/compiled'));
  assert.equal(await kept({ CACHE_DIRECTORY: '/var/cache/postrider' }), '/var/cache/postrider/compiled');
  rmSync(join(root, 'src'), { recursive: true });
  assert.equal(await kept(), 'none');
});

test('the real one starts from a folder whose tsconfig.json would lead its imports astray', async () => {
  const folder = temporaryDirectory('elsewhere');
  writeFileSync(join(folder, 'commander.ts'), 'throw new Error("not this one");\n');
  const paths = { commander: ['./commander.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { baseUrl: '.', paths } }));
  const { stdout } = await run(LAUNCHER, ['version', '--json'], { cwd: folder });
  assert.match(JSON.parse(stdout).node, /^2\d\./);
});

test('ending `npm start` ends the daemon', async () => {
  const { root, write } = installation();
  copyFileSync(new URL('../../package.json', import.meta.url), join(root, 'package.json'));
  for (const cpu of ['x64', 'arm64'])
    write(
      `node_modules/node-linux-${cpu}/bin/node`,
      '#!/bin/sh\n[ "$1" = --version ] && exit\necho "$$"\nexec sleep 60\n',
    );
  write('node_modules/esbuild/package.json', '{}');
  const npm = spawn('npm', ['start', '--silent'], { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = (await once(npm.stdout, 'data')) as [Buffer];
  const daemon = Number(line.toString().trim());
  assert.ok(Number.isSafeInteger(daemon), line.toString());
  // The pipe closes when the daemon ends, since it holds the same pipe as npm.
  const closed = once(npm.stdout, 'close');
  npm.kill('SIGTERM');
  await closed;
  assert.throws(() => process.kill(daemon, 0), /ESRCH/);
});
