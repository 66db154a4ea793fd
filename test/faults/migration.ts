/**
 * Migrations that are cut short. A process that opens a database of the previous version is killed at a write, or finds
 * its disk full. The database is then either as that version left it or migrated completely, and the next start shows
 * every resource as that version showed it.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writePreviousVersion } from '../support/previous-version.ts';
import { fill, mountMemory } from './full-disk.ts';
import { createMigrationJudge, type MigrationJudge } from './migration-judge.ts';
import { type Exit, openApart } from './open-apart.ts';
import type { Place, Result } from './part.ts';
import { seededRandom } from './seeded-random.ts';

type MigrationVerdict = {
  kills: number;
  /** Starts that a full disk has ended. */
  fullDisks: number;
  /** Databases that were as the previous version left them. The others were migrated. */
  untouched: number;
  migrated: number;
  faults: string[];
};

/** The call with which SQLite writes to files. A process that is killed at one does not make it. */
const WRITE = 'pwrite64';
const KILLS_PER_CYCLE = 3;
const FULL_DISKS_PER_CYCLE = 2;
const DISK_MEGABYTES = 64;
/** A start that has this much space succeeds. */
const ENOUGH_BYTES = 768 * 1024;

type Run = { judge: MigrationJudge; verdict: MigrationVerdict };

export async function stopMigrations({ seed, cycles, directory: parent }: Place): Promise<Result> {
  const random = seededRandom(seed);
  const directory = join(parent, 'migration');
  mkdirSync(directory);
  const verdict: MigrationVerdict = { kills: 0, fullDisks: 0, untouched: 0, migrated: 0, faults: [] };
  const complete = join(directory, 'complete');
  writePreviousVersion(complete);
  const writes = await countWrites(complete, join(directory, 'writes'));
  const run = { judge: await createMigrationJudge(complete), verdict };
  const kills = KILLS_PER_CYCLE * cycles;
  for (let kill = 0; kill < kills; kill++) {
    // Most writes of a start copy the WAL back, after the migration is committed: more kills come early.
    const write = Math.ceil(((kill + random.share()) / kills) ** 2 * writes);
    await killAt(run, join(directory, `kill-${kill}`), write);
  }
  const fullDisks = FULL_DISKS_PER_CYCLE * cycles;
  for (let disk = 0; disk < fullDisks; disk++) {
    const spaceBytes = Math.floor(((disk + random.share()) / fullDisks) * ENOUGH_BYTES);
    await openOnFullDisk(run, join(directory, `disk-${disk}`), spaceBytes);
  }
  if (verdict.kills < kills / 2) verdict.faults.push(`only ${verdict.kills} kills were reached`);
  if (verdict.fullDisks === 0) verdict.faults.push('no start found its disk full');
  if (verdict.untouched === 0 || verdict.migrated === 0)
    verdict.faults.push('no start was cut short before the migration was committed, or none after it');
  const ends = `${verdict.kills} kills and ${verdict.fullDisks} full disks`;
  const line = `${ends} left ${verdict.untouched} untouched, ${verdict.migrated} migrated`;
  return { lines: [line], faults: verdict.faults };
}

/** Migrates a data directory to the end. Returns the number of writes of the thread that makes the most. */
async function countWrites(dataDir: string, traceFile: string): Promise<number> {
  const { code } = await open(dataDir, ['-o', traceFile]);
  if (code !== 0) throw new Error(`a start without a fault ended with ${code}`);
  const threads = readFileSync(traceFile, 'utf8').matchAll(/^(\d+) +\w+\(/gm);
  const counts = Object.values(Object.groupBy(threads, ([, thread = '']) => thread));
  return Math.max(...counts.map((some) => some?.length ?? 0));
}

async function killAt({ judge, verdict }: Run, dataDir: string, write: number): Promise<void> {
  writePreviousVersion(dataDir);
  // strace counts the writes of each thread by itself, and kills the process at the first thread that gets there.
  const { signal } = await open(dataDir, [
    '-o',
    '/dev/null',
    '-e',
    `inject=${WRITE}:signal=KILL:when=${write}`,
  ]);
  if (signal === 'SIGKILL') verdict.kills++;
  await judgeRun({ judge, verdict }, dataDir, `killed at write ${write}`);
  rmSync(dataDir, { recursive: true });
}

async function openOnFullDisk({ judge, verdict }: Run, disk: string, spaceBytes: number): Promise<void> {
  using mounted = mountMemory(disk, DISK_MEGABYTES);
  const { dataDir, filler } = mounted;
  const reserve = join(disk, 'reserve');
  writePreviousVersion(dataDir);
  execFileSync('fallocate', ['--length', String(Math.max(spaceBytes, 1)), reserve]);
  fill(filler);
  rmSync(reserve);
  const { code } = await open(dataDir, ['-o', '/dev/null']);
  if (code !== 0) verdict.fullDisks++;
  rmSync(filler);
  await judgeRun({ judge, verdict }, dataDir, `${spaceBytes} bytes of space`);
}

async function judgeRun({ judge, verdict }: Run, dataDir: string, what: string): Promise<void> {
  const { state, faults } = await judge(dataDir);
  if (state !== undefined) verdict[state]++;
  verdict.faults.push(...faults.map((fault) => `${what}: ${fault}`));
}

/** Opens the app of the data directory under strace, with these options. */
function open(dataDir: string, options: readonly string[]): Promise<Exit> {
  return openApart(dataDir, ['strace', '-f', '-e', `trace=${WRITE}`, ...options]);
}
