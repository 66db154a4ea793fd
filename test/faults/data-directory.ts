/**
 * Data directories that are wrong, old or damaged. After each, the right files are put back, and everything that was
 * acknowledged must still be there with its bytes: the daemon must not delete anything because of the wrong database. A
 * directory that cannot be used is refused in one line that names the file.
 */
import {
  cpSync,
  existsSync,
  globSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type DaemonProcess, DaemonStartError, startDaemonProcess } from '../support/daemon.ts';
import { auditDataDirectory } from './audit.ts';
import type { Place, Result } from './part.ts';
import { withRetries } from './retries.ts';
import { seededRandom } from './seeded-random.ts';
import { MIXED, type Submission } from './submission.ts';
import { type Clients, createClients, daemonEnvironment } from './taken-cut.ts';

type Case = {
  name: string;
  tamper(dataDir: string, others: { old: string; foreign: string }): void;
  /** Pattern in the output of a refused start, or of one that continues with a report. */
  refused?: RegExp;
  reported?: RegExp;
};

const MAX_SUBMISSIONS = 60;
const CLIENTS = 4;
/** Longer than the time for which a sweep spares a file that no row names yet. */
const FILE_AGE_MS = 3 * 3_600_000;
const PAGE_BYTES = 4_096;

const database = (dataDir: string) => join(dataDir, 'postrider.db');

const CASES: readonly Case[] = [
  {
    name: 'missing database',
    tamper: (dataDir) => rmSync(database(dataDir)),
    refused: /postrider\.db is missing/,
  },
  {
    name: 'emptied database',
    tamper: (dataDir) => truncateSync(database(dataDir)),
    refused: /postrider\.db is empty/,
  },
  {
    name: 'database of another installation',
    tamper: (dataDir, { foreign }) => cpSync(database(foreign), database(dataDir)),
    refused: /belongs to another installation/,
  },
  {
    name: 'old database',
    tamper: (dataDir, { old }) => cpSync(database(old), database(dataDir)),
    reported: /is an older copy/,
  },
  {
    name: 'damaged header',
    tamper: (dataDir) => overwrite(database(dataDir), 0),
    refused: /postrider\.db is not a database/,
  },
  {
    name: 'wrong master key',
    tamper: (dataDir) => writeFileSync(join(dataDir, 'master.key'), `${'ab'.repeat(32)}\n`),
    refused: /master\.key/,
  },
  {
    name: 'missing master key',
    tamper: (dataDir) => rmSync(join(dataDir, 'master.key')),
    refused: /master\.key/,
  },
];

export async function tamperWithData({ directory, seed }: Place): Promise<Result> {
  const random = seededRandom(seed);
  const at = (name: string) => join(directory, `data-${name}`);
  const clients = createClients(random, { ...MIXED, file: 6, scheduled: 0 }, 'directory');
  await live(at('foreign'), createClients(random, MIXED, 'foreign'));
  const key = await live(at('right'), clients);
  cpSync(at('right'), at('old'), { recursive: true });
  await live(at('right'), clients, key);
  const { acknowledged } = clients.load;
  const faults: string[] = [];
  for (const one of CASES) {
    cpSync(at('right'), at('case'), { recursive: true });
    ageFiles(at('case'));
    one.tamper(at('case'), { old: at('old'), foreign: at('foreign') });
    faults.push(...(await tryCase(one, at('case'))));
    for (const name of ['postrider.db', 'master.key', 'installation.json'])
      cpSync(join(at('right'), name), join(at('case'), name));
    for (const name of ['postrider.db-wal', 'postrider.db-shm'])
      rmSync(join(at('case'), name), { force: true });
    faults.push(...(await faultsAfter(one, { dataDir: at('case'), key, clients, acknowledged })));
    rmSync(at('case'), { recursive: true });
  }
  for (const name of ['foreign', 'old', 'right']) rmSync(at(name), { recursive: true });
  const cases = CASES.map(({ name }) => name);
  return { lines: [`${cases.length} cases: ${cases.join(', ')}`], faults };
}

/** Runs one daemon under a bounded load and stops it cleanly. Resolves with the key it used. */
async function live(dataDir: string, { load, ledger }: Clients, known?: string): Promise<string> {
  const daemon = await startDaemonProcess({ dataDir, env: daemonEnvironment('FULL') });
  const key = known ?? daemon.testKey ?? '';
  const { signal } = new AbortController();
  await Promise.all([
    load.run({ daemon, key, clients: CLIENTS, pauseMs: 0, signal, most: MAX_SUBMISSIONS, persistent: true }),
    ledger.run({ daemon, key, signal, most: MAX_SUBMISSIONS }),
  ]);
  await daemon.stop();
  return key;
}

/** Ages all files, so that the sweep spares none for being new. */
function ageFiles(dataDir: string): void {
  const then = new Date(Date.now() - FILE_AGE_MS);
  for (const file of globSync(join(dataDir, 'blobs/*/*'))) utimesSync(file, then, then);
}

async function tryCase({ name, refused, reported }: Case, dataDir: string): Promise<string[]> {
  let daemon: DaemonProcess;
  try {
    daemon = await startDaemonProcess({ dataDir, env: daemonEnvironment('FULL') });
  } catch (error) {
    if (!(error instanceof DaemonStartError) || error.exit === undefined) throw error;
    if (!refused) return [`${name}: the daemon does not start: ${error.message}`];
    const isClear = refused.test(error.message) && !/^ +at .+:\d+:\d+\)?$/m.test(error.message);
    if (!isClear) return [`${name}: the refusal is not clear: ${error.message}`];
    return error.exit.code === 1 ? [] : [`${name}: the exit code is ${error.exit.code}`];
  }
  await daemon.stop();
  if (refused) return [`${name}: the daemon starts`];
  return reported?.test(daemon.output()) ? [] : [`${name}: nothing is reported:\n${daemon.output()}`];
}

type Right = { dataDir: string; key: string; clients: Clients; acknowledged: readonly Submission[] };

/** Checks that everything acknowledged is there once the right files are back. */
async function faultsAfter(
  { name }: Case,
  { dataDir, key, clients, acknowledged }: Right,
): Promise<string[]> {
  const daemon = await startDaemonProcess({ dataDir, env: daemonEnvironment('FULL') });
  const faults = await clients.ledger.faults(daemon, key);
  const health = await withRetries(() => daemon.request('GET', '/healthz', undefined));
  if (health.status !== 200) faults.push(`GET /healthz answers ${health.status}`);
  await daemon.stop();
  const audit = auditDataDirectory(dataDir, acknowledged);
  faults.push(...audit.faults, ...audit.missing.map(() => 'a missing email'));
  faults.push(...audit.unreadable.map(() => 'an unreadable email'));
  return faults.map((fault) => `${name}, right files back: ${fault}`);
}

function overwrite(file: string, page: number): void {
  if (!existsSync(file)) throw new Error(`${file} is not there`);
  const bytes = readFileSync(file);
  bytes.fill(0xa5, page * PAGE_BYTES, (page + 1) * PAGE_BYTES);
  writeFileSync(file, bytes);
}
