/**
 * Accepting mail while a backup of a large database is made, and the time until that backup is verified, restored and released.
 * `BENCH_GIGABYTES`, `BENCH_SECONDS` and `BENCH_RATE` make the row smaller for a first look.
 */
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { type DaemonProcess, startDaemonProcess } from '../support/daemon.ts';
import { RECIPIENT_DIGITS, sampleEmail } from './message.ts';
import { type PacedLoad, runPaced } from './paced-load.ts';
import { treeMemory } from './process-tree.ts';
import type { Group, Measure } from './row.ts';
import type { Workspace } from './workspace.ts';

const GIGABYTES = Number(process.env['BENCH_GIGABYTES'] ?? 5);
const UNDISTURBED_MS = Number(process.env['BENCH_SECONDS'] ?? 30) * 1_000;
const ACCEPTED_PER_SECOND = Number(process.env['BENCH_RATE'] ?? 200);
/** Size of the rows that fill the database. Larger contents are in files, which a backup links. */
const ROW_BYTES = 200_000;
const ROWS_PER_TRANSACTION = 100;
/** Time between two looks at the size of the WAL, in milliseconds. */
const WAL_INTERVAL_MS = 50;
const ENVIRONMENT = { POSTRIDER_HOSTNAME: 'postrider.test', POSTRIDER_LOG_LEVEL: 'error' };

export const backup: Group = {
  name: 'backup',
  prepare: async (workspace) => ({
    rows: [
      {
        name: `Postrider: accept p99 at ${ACCEPTED_PER_SECOND}/s while ${GIGABYTES} GB are backed up`,
        unit: 'ms',
        aim: 'at most twice the p99 before, none over 500 ms; its WAL bounded; verified, restored and released in under 120 s',
        measure: () => measureBackup(workspace),
      },
    ],
  }),
};

async function measureBackup(workspace: Workspace): Promise<Measure> {
  const dataDir = workspace.newFolder('backup');
  const first = await startDaemonProcess({ dataDir, env: ENVIRONMENT });
  const key = first.testKey ?? '';
  await first.stop();
  fill(dataDir);
  const daemon = await startDaemonProcess({ dataDir, env: ENVIRONMENT });
  try {
    const load = loadOf(daemon, key);
    const walBefore = watchWal(dataDir);
    const before = await runPaced(load, timer(UNDISTURBED_MS));
    walBefore.stop();
    const walDuring = watchWal(dataDir);
    let made: { path: string; facts: { tookMs: number } } | undefined;
    const making = daemon.cli(['backup', 'create']).then((answer) => {
      made = answer as typeof made;
    });
    const during = await runPaced(load, () => made !== undefined);
    await making;
    walDuring.stop();
    const memory = treeMemory([daemon.pid]);
    const back = await measureRestoration(workspace, daemon, made?.path ?? '');
    return {
      figure: during.p99Ms,
      p50Ms: during.p50Ms,
      p99Ms: during.p99Ms,
      memory,
      details: {
        'p99 before, ms': before.p99Ms,
        'ratio to before': during.p99Ms / before.p99Ms,
        'longest before, ms': before.maxMs,
        'longest while backed up, ms': during.maxMs,
        'refused while backed up': during.refused,
        'largest WAL before, MiB': walBefore.largestMebibytes(),
        'largest WAL while backed up, MiB': walDuring.largestMebibytes(),
        'seconds of the backup': (made?.facts.tookMs ?? 0) / 1_000,
        ...back,
      },
    };
  } finally {
    await daemon.kill('SIGKILL');
  }
}

/** Watches the size of the WAL, which only grows beyond its checkpoints while a reader keeps an old state of the database. */
function watchWal(dataDir: string): { stop(): void; largestMebibytes(): number } {
  const file = join(dataDir, 'postrider.db-wal');
  let largest = 0;
  const look = () => {
    largest = Math.max(largest, statSync(file, { throwIfNoEntry: false })?.size ?? 0);
  };
  look();
  const timer = setInterval(look, WAL_INTERVAL_MS);
  return { stop: () => clearInterval(timer), largestMebibytes: () => largest / 2 ** 20 };
}

/** Verifies the backup, restores it into another directory, starts a daemon there and releases it. */
async function measureRestoration(workspace: Workspace, daemon: DaemonProcess, path: string) {
  const dataDir = join(workspace.newFolder('restored'), 'data');
  const startedAt = performance.now();
  await daemon.cli(['backup', 'verify', path]);
  const verifiedAt = performance.now();
  await daemon.cli(['backup', 'restore', path, '--to', dataDir]);
  const restoredAt = performance.now();
  const restored = await startDaemonProcess({ dataDir, env: ENVIRONMENT });
  try {
    await restored.cli(['restore', 'release', '--yes']);
    return {
      'seconds to verify': (verifiedAt - startedAt) / 1_000,
      'seconds to restore': (restoredAt - verifiedAt) / 1_000,
      'seconds until released': (performance.now() - startedAt) / 1_000,
    };
  } finally {
    await restored.kill('SIGKILL');
  }
}

/** Fills the database with rows of random bytes. No daemon uses it. */
function fill(dataDir: string): void {
  const database = new Sqlite(join(dataDir, 'postrider.db'));
  database.pragma('synchronous = OFF');
  const insert = database.prepare(
    "INSERT INTO blobs (id, sha256, sizeBytes, eightBit, data, createdAt) VALUES (?, '', ?, 0, ?, 0)",
  );
  const rows = Math.ceil((GIGABYTES * 2 ** 30) / ROW_BYTES);
  const insertSome = database.transaction((from: number) => {
    for (let row = from; row < Math.min(from + ROWS_PER_TRANSACTION, rows); row++)
      insert.run(`blob_fill${String(row).padStart(10, '0')}`, ROW_BYTES, randomBytes(ROW_BYTES));
  });
  for (let from = 0; from < rows; from += ROWS_PER_TRANSACTION) insertSome(from);
  database.close();
}

function loadOf({ address }: DaemonProcess, key: string): PacedLoad {
  const [head = '', tail = ''] = JSON.stringify({
    ...sampleEmail('hello@sandbox.postrider.test'),
    to: [`delivered+${RECIPIENT_DIGITS}@simulator.postrider.test`],
  }).split(RECIPIENT_DIGITS);
  return {
    url: new URL('/v1/emails', address),
    headers: { authorization: `Bearer ${key}` },
    bodyOf: (index) => `${head}${String(index).padStart(RECIPIENT_DIGITS.length, '0')}${tail}`,
    perSecond: ACCEPTED_PER_SECOND,
  };
}

function timer(durationMs: number): () => boolean {
  const endsAt = performance.now() + durationMs;
  return () => performance.now() >= endsAt;
}
