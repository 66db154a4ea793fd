import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { LockedError } from '../../src/db/lock.ts';
import { openTestDatabase, temporaryDirectory } from './open.ts';

const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url));

/** `fileBlocks`: no file may grow beyond that many blocks of 512 bytes; a write that would is an I/O error (EFBIG). */
function startChild(options: { directory: string; sizeBytes: number; count: number; fileBlocks?: number }) {
  const limit = options.fileBlocks === undefined ? '' : `ulimit -f ${options.fileBlocks}; `;
  const child = spawn('/bin/sh', [
    '-c',
    `${limit}exec "$0" "$@"`,
    process.execPath,
    CHILD,
    options.directory,
    String(options.sizeBytes),
    String(options.count),
  ]);
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (part) => {
    output.stdout += part;
  });
  child.stderr.on('data', (part) => {
    output.stderr += part;
  });
  // The end is awaited from the beginning, because it may come in the same turn as the last output.
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  return { child, output, closed };
}

/** Waits for a line of the child's output. */
async function awaitLine(
  { child, output, closed }: ReturnType<typeof startChild>,
  line: string,
): Promise<void> {
  const found = new Promise<void>((resolve) => {
    const look = () => {
      if (output.stdout.includes(line)) resolve();
    };
    child.stdout.on('data', look);
    look();
  });
  const ended = closed.then((end) => assert.fail(`the child ended by itself: ${end}`));
  await Promise.race([found, ended]);
}

test('the directory of a running process is refused, and free as soon as the process was killed', async (t) => {
  const directory = temporaryDirectory();
  const started = startChild({ directory, sizeBytes: 10, count: 3 });
  await awaitLine(started, 'n2\n');
  await assert.rejects(openTestDatabase(t, { directory }), LockedError);
  started.child.kill('SIGKILL');
  await started.closed;
  const db = await openTestDatabase(t, { directory });
  const rows = await db.read.selectFrom('blobs').select('sha256').orderBy('sha256').execute();
  assert.deepEqual(
    rows.map(({ sha256 }) => sha256),
    ['n0', 'n1', 'n2'],
  );
});

test('an I/O error ends the process at once, and everything acknowledged before it is there', async (t) => {
  const directory = temporaryDirectory();
  // Two MiB: the schema fits, and the WAL fills after some twenty commits.
  const { output, closed } = startChild({ directory, sizeBytes: 100_000, count: 1_000, fileBlocks: 4_096 });
  const [code, signal] = await closed;
  assert.deepEqual({ code, signal }, { code: null, signal: 'SIGKILL' });
  assert.match(output.stderr, /"code":"SQLITE_IOERR_WRITE","msg":"storage failed: /);
  const acknowledged = output.stdout.split('\n').filter((line) => line.startsWith('n'));
  assert.ok(acknowledged.length > 5, output.stdout);
  const db = await openTestDatabase(t, { directory });
  const rows = await db.read.selectFrom('blobs').select('sha256').execute();
  const stored = new Set(rows.map(({ sha256 }) => sha256));
  assert.deepEqual(
    acknowledged.filter((id) => !stored.has(id)),
    [],
  );
});
