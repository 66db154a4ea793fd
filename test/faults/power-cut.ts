/**
 * Power cuts. The daemon keeps its data on a disk with a volatile cache, while many clients send mail and others make
 * changes. The disk repeatedly writes an image of what a cut at that moment would leave: during the first start, under
 * load, while it drains, during the start after another cut, and during a migration. On every such image a new daemon
 * must start, and everything acknowledged before the cut must be there with its bytes. The same test with commits that
 * are not flushed must find losses, or it proves nothing.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DaemonProcess, startDaemonProcess } from '../support/daemon.ts';
import { openPreviousDatabase, previousVersion, writePreviousVersion } from '../support/previous-version.ts';
import { WITHOUT_RECIPIENTS } from './audit.ts';
import { type CutVerdict, judgeCut, lostIn } from './cut-judge.ts';
import { type Cut, createVolatileDisk, type VolatileDisk } from './disk/volatile-disk.ts';
import type { Place, Result } from './part.ts';
import { describeCuts } from './report.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';
import { MIXED } from './submission.ts';
import {
  type Clients,
  createClients,
  daemonEnvironment,
  type Moment,
  type TakenCut,
  takeCut,
} from './taken-cut.ts';

const DISK_BYTES = 1024 * 1024 * 1024;
const CLIENTS = 24;
/** Maximum number of requests of one run, which keeps the disk from filling. */
const MAX_SUBMISSIONS = 20_000;
const MAX_CHANGES = 300;
/** The flush of an attachment's file takes the database's unflushed commits along and would spoil the control. */
const MIXES = { FULL: MIXED, NORMAL: { ...MIXED, file: 0 } };
/** From a disk with a battery to a slow one, in turn. */
const FLUSH_LATENCIES_US = [0, 1_000, 4_000];
const SURVIVALS = [0, 0.5, 0.95];
const MAX_DELAY_WRITES = 30;
const GAP_MS = { low: 50, high: 900 };
/** About as long as a first start takes. */
const START_MS = 1_500;
/** A drain under this load takes about this long, in milliseconds. */
const DRAIN_MS = 400;

/** Each run has a new disk, with one cut during the first start, one while it drains, and one after another cut. */
type Run = Place & { synchronous: 'FULL' | 'NORMAL'; random: SeededRandom; latencyUs: number };

export async function cutPower(place: Place): Promise<Result> {
  const verdicts: CutVerdict[] = [];
  for await (const run of runsOf(place, place.runs, 'FULL')) {
    const cuts = await cutOneLife(run);
    cuts.push(await cutMigration(run), await cutAgain(run, cuts));
    for (const cut of cuts) verdicts.push(await judgeCut(cut, join(run.directory, 'after')));
  }
  return describeCuts(verdicts);
}

/** The instrument's proof: with commits that are not flushed, the same cuts must find losses. One is enough. */
export async function cutPowerUnsafely(place: Place): Promise<Result> {
  let cuts = 0;
  for await (const run of runsOf(place, place.controlRuns, 'NORMAL')) {
    for (const cut of await cutOneLife(run)) {
      if (cut.moment !== 'load') continue;
      cuts += 1;
      const lost = lostIn(await judgeCut(cut, join(run.directory, 'after')));
      if (lost === 0) continue;
      return { lines: [`synchronous=NORMAL lost ${lost} acknowledged emails in cut ${cuts}`], faults: [] };
    }
  }
  return { lines: [], faults: [`synchronous=NORMAL lost nothing in ${cuts} cuts`] };
}

async function* runsOf(place: Place, runs: number, synchronous: Run['synchronous']): AsyncGenerator<Run> {
  const random = seededRandom(place.seed);
  for (let number = 0; number < runs; number++) {
    const directory = join(place.directory, `cuts-${synchronous.toLowerCase()}-${number}`);
    mkdirSync(directory);
    try {
      const latencyUs = FLUSH_LATENCIES_US[number % FLUSH_LATENCIES_US.length] ?? 0;
      yield { ...place, synchronous, directory, random, latencyUs };
    } finally {
      rmSync(directory, { recursive: true });
    }
  }
}

/** Takes cuts during the first start, under load, and while the daemon drains. */
async function cutOneLife(run: Run): Promise<TakenCut[]> {
  const clients = createClients(run.random, MIXES[run.synchronous]);
  const cuts: TakenCut[] = [];
  await withDisk(run, { name: 'life', content: { sizeBytes: DISK_BYTES } }, async (disk, dataDir) => {
    const take = async (moment: Moment, daemon: DaemonProcess | undefined) => {
      const cut = randomCut(imageOf(run, `cut-${cuts.length}`), run.random, moment === 'load');
      cuts.push(await takeCut(disk, cut, { moment, daemon, clients }));
    };
    const starting = startDaemonProcess({ dataDir, env: daemonEnvironment(run.synchronous) });
    try {
      await Promise.race([sleep(run.random.between(0, START_MS)), starting]);
      await take('start', undefined);
      await cutUnderLoad(await starting, clients, { ...run, take });
    } finally {
      const daemon = await starting.catch(() => undefined);
      await daemon?.kill('SIGKILL');
    }
  });
  return cuts;
}

async function cutUnderLoad(
  daemon: DaemonProcess,
  { load, ledger }: Clients,
  options: Run & { take: (moment: Moment, daemon: DaemonProcess) => Promise<void> },
): Promise<void> {
  if (daemon.testKey === undefined) throw new Error(`no test key was shown:\n${daemon.output()}`);
  const enough = new AbortController();
  const work = { daemon, key: daemon.testKey, signal: enough.signal };
  const running = Promise.all([
    load.run({ ...work, clients: CLIENTS, pauseMs: 0, most: MAX_SUBMISSIONS }),
    ledger.run({ ...work, most: MAX_CHANGES }),
  ]);
  const { random, take } = options;
  try {
    for (let cut = 0; cut < options.cutsPerRun; cut++) {
      await sleep(random.between(GAP_MS.low, GAP_MS.high));
      await take('load', daemon);
    }
    const drained = daemon.kill('SIGTERM');
    await Promise.race([drained, sleep(random.between(0, DRAIN_MS))]);
    await take('drain', daemon);
    await drained;
  } finally {
    enough.abort();
    await running;
  }
  const [refusal] = [...load.refusals, ...ledger.refusals];
  if (refusal !== undefined) throw new Error(`refused under load: ${refusal}`);
}

/** Takes a second cut, during the start on the data that the first one left. */
async function cutAgain(run: Run, cuts: readonly TakenCut[]): Promise<TakenCut> {
  const loaded = cuts.filter(({ moment }) => moment === 'load');
  const first = loaded[Math.floor(run.random.share() * loaded.length)];
  if (!first) throw new Error('there is no cut under load to cut again after');
  const { load, ledger } = first;
  const cut = await cutStart(run, { name: 'second', content: { image: first.image } }, { load, ledger });
  const { acknowledged, promised, testKey, masterKey } = first;
  return { ...cut, acknowledged, promised, testKey, masterKey };
}

/** Takes a cut during the start on a database that the previous version wrote. */
async function cutMigration(run: Run): Promise<TakenCut> {
  const clients = createClients(run.random, MIXED, 'migrated');
  const prepare = (dataDir: string) => {
    writePreviousVersion(dataDir);
    execFileSync('sync', ['--file-system', dataDir]);
  };
  const start: Start = { name: 'migration', content: { sizeBytes: DISK_BYTES }, prepare };
  const { keys, answers } = previousVersion();
  const ofKey = answers.filter(({ key }) => key === 'test').map(({ path }) => path);
  // Imports and exports are deleted after a week, and those of this database are older.
  const stored = ofKey.filter((path) => !/^\/v1\/(?:imports|exports)\//.test(path));
  const database = openPreviousDatabase();
  const bareMessages = database.prepare(WITHOUT_RECIPIENTS).pluck().all() as string[];
  database.close();
  return { ...(await cutStart(run, start, clients)), testKey: keys.test, stored, bareMessages };
}

type Start = {
  name: 'second' | 'migration';
  content: { sizeBytes: number } | { image: string };
  /** Fills the data directory before the daemon starts. */
  prepare?: (dataDir: string) => void;
};

async function cutStart(run: Run, start: Start, clients: Clients): Promise<TakenCut> {
  return withDisk(run, start, async (disk, dataDir) => {
    start.prepare?.(dataDir);
    const starting = startDaemonProcess({ dataDir, env: daemonEnvironment(run.synchronous) });
    try {
      await Promise.race([sleep(run.random.between(0, START_MS)), starting]);
      const cut = randomCut(imageOf(run, start.name), run.random, false);
      return await takeCut(disk, cut, { moment: start.name, daemon: undefined, clients });
    } finally {
      const daemon = await starting.catch(() => undefined);
      await daemon?.kill('SIGKILL');
    }
  });
}

async function withDisk<Result>(
  run: Run,
  { name, content }: { name: string; content: Start['content'] },
  use: (disk: VolatileDisk, dataDir: string) => Promise<Result>,
): Promise<Result> {
  using disk = await createVolatileDisk(join(run.directory, `disk-${name}`), content);
  await disk.setFlushLatency(run.latencyUs);
  return await use(disk, join(disk.mountPoint, 'data'));
}

function imageOf({ directory }: Run, name: string): string {
  return join(directory, `${name}.image`);
}

function randomCut(path: string, random: SeededRandom, underLoad: boolean): Cut {
  return {
    path,
    survival: SURVIVALS[Math.floor(random.share() * SURVIVALS.length)] ?? 0,
    grainBytes: random.share() < 0.5 ? 512 : 4096,
    seed: random.seed(),
    // Half of the cuts fall into the middle of a flush, where the disk has the most to forget.
    delayWrites: underLoad && random.share() < 0.5 ? Math.ceil(random.between(0, MAX_DELAY_WRITES)) : 0,
  };
}
