/**
 * Counts what each thread of the daemon does, for the group `message-cost`. Node preloads this module in every thread (`--import` in
 * NODE_OPTIONS). Twice a second each thread stores its counters since its start in a file of the folder `BENCH_COUNTERS`.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { GCProfiler, getHeapStatistics } from 'node:v8';
import { threadId } from 'node:worker_threads';
import type BetterSqlite from 'better-sqlite3';

/** What a thread has done since its start. */
export type ThreadCounters = {
  /** `main`, or the name of the module that the thread runs. */
  thread: string;
  /** Processor time of this thread alone, without the pool of Node. */
  cpuMs: number;
  /** Bytes of JavaScript objects, as garbage collections have found them. */
  allocatedBytes: number;
  /** Executed SQL statements, and the number of each text. */
  statements: number;
  bySql: Record<string, number>;
  commits: number;
  /** Frames of one page each that commits have appended to the WAL. */
  walFrames: number;
};

type Run = (this: BetterSqlite.Statement, ...values: unknown[]) => unknown;

const EVERY_MS = 500;
/** The writer asks for the length of the WAL after each commit (src/db/connection.ts). */
const WAL_STATE = 'PRAGMA wal_checkpoint(NOOP)';

const folder = process.env['BENCH_COUNTERS'];
const counters = { statements: 0, commits: 0, walFrames: 0, bySql: {} as Record<string, number> };
/** Length of the WAL of each connection after its last commit, in frames. */
const lengths = new WeakMap<BetterSqlite.Database, number>();

if (folder !== undefined) {
  countStatements();
  storeRegularly(folder);
}

function countStatements(): void {
  const { prototype } = createRequire(import.meta.url)('better-sqlite3') as typeof BetterSqlite;
  const { prepare, exec } = prototype;
  prototype.prepare = function (this: BetterSqlite.Database, sql: string) {
    const statement = prepare.call(this, sql);
    for (const name of ['run', 'get', 'all'] as const) {
      const original = statement[name] as Run;
      const counted: Run = (...values) => {
        const result = original.apply(statement, values);
        if (sql === WAL_STATE) countFrames(this, result as { log: number });
        else count(sql);
        return result;
      };
      Object.assign(statement, { [name]: counted });
    }
    return statement;
  } as typeof prepare;
  prototype.exec = function (this: BetterSqlite.Database, sql: string) {
    if (sql === 'COMMIT') counters.commits++;
    return exec.call(this, sql);
  };
}

function count(sql: string): void {
  counters.statements++;
  counters.bySql[sql] = (counters.bySql[sql] ?? 0) + 1;
}

/** A WAL that is shorter than before was started anew. */
function countFrames(database: BetterSqlite.Database, { log }: { log: number }): void {
  const before = lengths.get(database) ?? 0;
  counters.walFrames += log >= before ? log - before : log;
  lengths.set(database, log);
}

function storeRegularly(folder: string): void {
  const allocations = createAllocations();
  const thread = threadId === 0 ? 'main' : basename(process.argv[1] ?? '').replace(/\.[jt]s$/, '');
  const file = `${folder}/${thread}-${threadId}.json`;
  const store = () => {
    const { user, system } = process.threadCpuUsage();
    const cpuMs = (user + system) / 1_000;
    const figures: ThreadCounters = { thread, cpuMs, allocatedBytes: allocations(), ...counters };
    writeFileSync(`${file}.new`, JSON.stringify(figures));
    renameSync(`${file}.new`, file);
  };
  setInterval(store, EVERY_MS).unref();
}

/** Returns a function that adds up what was allocated since the start: what each garbage collection found, and what was added since. */
function createAllocations(): () => number {
  let profiler = startProfiler();
  let usedBytes = getHeapStatistics().used_heap_size;
  let sum = 0;
  const growTo = (bytes: number) => {
    sum += Math.max(0, bytes - usedBytes);
  };
  return () => {
    for (const { beforeGC, afterGC } of profiler.stop()?.statistics ?? []) {
      growTo(beforeGC.heapStatistics.usedHeapSize);
      usedBytes = afterGC.heapStatistics.usedHeapSize;
    }
    const now = getHeapStatistics().used_heap_size;
    growTo(now);
    usedBytes = now;
    profiler = startProfiler();
    return sum;
  };
}

function startProfiler(): GCProfiler {
  const profiler = new GCProfiler();
  profiler.start();
  return profiler;
}
