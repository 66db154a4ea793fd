/** What this machine can do at all: flushes of the disk, grouped commits, RSA signatures on every core. */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { percentile } from './percentile.ts';
import type { Group, Measure } from './row.ts';
import type { Workspace } from './workspace.ts';

const DURATION_MS = 1_500;
const PAGE_BYTES = 4096;
const RSA_BITS = 2048;
/** Calls kept waiting for the thread pool: more than it has threads. */
const SIGNATURES_IN_FLIGHT = 32;
const ROWS_A_COMMIT = 32;

export const ceilings: Group = {
  name: 'ceilings',
  async prepare(workspace) {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: RSA_BITS });
    return {
      rows: [
        {
          name: 'ceiling: append 4 KiB + fdatasync, one at a time',
          unit: 'fdatasync/s',
          measure: async () => flushes(workspace),
        },
        {
          name: `ceiling: SQLite, ${ROWS_A_COMMIT} rows of 4 KiB a commit, WAL, FULL`,
          unit: 'commits/s',
          measure: async () => commits(workspace),
        },
        {
          name: 'ceiling: RSA-2048 crypto.sign with callback, all cores',
          unit: 'signatures/s',
          measure: () => signatures(privateKey),
        },
      ],
    };
  },
};

function flushes(workspace: Workspace): Measure {
  const file = openSync(join(workspace.newFolder('flushes'), 'file'), 'w');
  const page = randomBytes(PAGE_BYTES);
  const measure = repeat(() => {
    writeSync(file, page);
    fdatasyncSync(file);
  });
  closeSync(file);
  return measure;
}

function commits(workspace: Workspace): Measure {
  const database = new Sqlite(join(workspace.newFolder('commits'), 'commits.db'));
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.exec('CREATE TABLE message (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT');
  const insert = database.prepare('INSERT INTO message (body) VALUES (?)');
  const body = randomBytes(PAGE_BYTES);
  const group = database.transaction(() => {
    for (let row = 0; row < ROWS_A_COMMIT; row++) insert.run(body);
  });
  const measure = repeat(() => group());
  database.close();
  return measure;
}

function repeat(work: () => void): Measure {
  const times: number[] = [];
  const end = performance.now() + DURATION_MS;
  for (let before = performance.now(); before < end; ) {
    work();
    const after = performance.now();
    times.push(after - before);
    before = after;
  }
  const totalMs = times.reduce((sum, time) => sum + time, 0);
  return {
    figure: (times.length * 1000) / totalMs,
    p50Ms: percentile(times, 0.5),
    p99Ms: percentile(times, 0.99),
  };
}

/** The pool's size is set where this process is started (main.ts). */
async function signatures(key: KeyObject): Promise<Measure> {
  const data = randomBytes(512);
  const start = performance.now();
  const end = start + DURATION_MS;
  let signed = 0;
  const signUntilEnd = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const next = () => {
        if (performance.now() >= end) {
          resolve();
          return;
        }
        sign('sha256', data, key, (error) => {
          if (error) {
            reject(error);
            return;
          }
          signed += 1;
          next();
        });
      };
      next();
    });
  await Promise.all(Array.from({ length: SIGNATURES_IN_FLIGHT }, signUntilEnd));
  return { figure: (signed * 1000) / (performance.now() - start) };
}
