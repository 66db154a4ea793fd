/**
 * Power cuts under load. The daemon keeps its data on a disk with a volatile cache and is sent mail by many clients;
 * again and again the disk writes what a cut at that moment would leave. On every such image a new daemon must
 * start, and every email acknowledged before the cut must be there with its bytes. The same test with commits that are
 * not flushed must find losses, or it proves nothing.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DaemonProcess, startDaemonProcess } from '../support/daemon.ts';
import { type CutVerdict, judgeCut } from './cut-judge.ts';
import { type Cut, createVolatileDisk } from './disk/volatile-disk.ts';
import type { Load } from './load.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';
import { MIXED } from './submission.ts';
import { createTestKeyLoad, daemonEnvironment, type TakenCut, takeCut } from './taken-cut.ts';

export type PowerCutOptions = {
  /** The compiled disk. */
  program: string;
  /** For images; needs a few hundred megabytes. */
  directory: string;
  seed: number;
  /** Each on a new disk, with one cut during the first start. */
  runs: number;
  /** Cuts under load in each run. */
  cutsPerRun: number;
  synchronous: 'FULL' | 'NORMAL';
};

const DISK_BYTES = 1024 * 1024 * 1024;
const CLIENTS = 24;
/** Of one run; keeps the disk from filling. */
const MOST_SUBMISSIONS = 20_000;
/** The flush of an attachment's file takes the database's unflushed commits along and would spoil the control. */
const MIXES = { FULL: MIXED, NORMAL: { ...MIXED, file: 0 } };
/** From a disk with a battery to a slow one, in turn. */
const FLUSH_LATENCIES_US = [0, 1_000, 4_000];
const SURVIVALS = [0, 0.5, 0.95];
const MOST_DELAY_WRITES = 30;
const GAP_MS = { low: 50, high: 900 };
/** About as long as a first start takes. */
const START_MS = 1_500;

export async function runPowerCuts(options: PowerCutOptions): Promise<CutVerdict[]> {
  const random = seededRandom(options.seed);
  const verdicts: CutVerdict[] = [];
  for (let run = 0; run < options.runs; run++) {
    const directory = join(options.directory, `cuts-${options.synchronous.toLowerCase()}-${run}`);
    mkdirSync(directory);
    const latencyUs = FLUSH_LATENCIES_US[run % FLUSH_LATENCIES_US.length] ?? 0;
    const cuts = await collectCuts({ ...options, directory }, latencyUs, random);
    for (const cut of cuts) verdicts.push(await judgeCut(cut, join(directory, 'after')));
    rmSync(directory, { recursive: true });
  }
  return verdicts;
}

async function collectCuts(
  options: PowerCutOptions,
  latencyUs: number,
  random: SeededRandom,
): Promise<TakenCut[]> {
  const disk = await createVolatileDisk(options.program, join(options.directory, 'disk'), DISK_BYTES);
  const load = createTestKeyLoad(random, MIXES[options.synchronous]);
  const cuts: TakenCut[] = [];
  const take = async (daemon: DaemonProcess | undefined) => {
    const image = join(options.directory, `cut-${cuts.length}.image`);
    cuts.push(await takeCut(disk, randomCut(image, random, daemon !== undefined), daemon, load));
  };
  await disk.setFlushLatency(latencyUs);
  const dataDir = join(disk.mountPoint, 'data');
  const starting = startDaemonProcess({ dataDir, env: daemonEnvironment(options.synchronous) });
  try {
    await Promise.race([sleep(random.between(0, START_MS)), starting]);
    await take(undefined);
    const daemon = await starting;
    await cutUnderLoad(daemon, load, options.cutsPerRun, random, () => take(daemon));
  } finally {
    const daemon = await starting.catch(() => undefined);
    await daemon?.kill('SIGKILL');
    disk.remove();
  }
  return cuts;
}

async function cutUnderLoad(
  daemon: DaemonProcess,
  load: Load,
  cuts: number,
  random: SeededRandom,
  take: () => Promise<void>,
): Promise<void> {
  if (daemon.testKey === undefined) throw new Error(`no test key was shown:\n${daemon.output()}`);
  const enough = new AbortController();
  const running = load.run({
    daemon,
    key: daemon.testKey,
    clients: CLIENTS,
    pauseMs: 0,
    signal: enough.signal,
    most: MOST_SUBMISSIONS,
  });
  try {
    for (let cut = 0; cut < cuts; cut++) {
      await sleep(random.between(GAP_MS.low, GAP_MS.high));
      await take();
    }
  } finally {
    enough.abort();
    await running;
  }
  if (load.refusals.length > 0) throw new Error(`refused under load: ${load.refusals[0]}`);
}

function randomCut(path: string, random: SeededRandom, underLoad: boolean): Cut {
  return {
    path,
    survival: SURVIVALS[Math.floor(random.share() * SURVIVALS.length)] ?? 0,
    grainBytes: random.share() < 0.5 ? 512 : 4096,
    seed: random.seed(),
    // Half of the cuts fall into the middle of a flush, where the disk has the most to forget.
    delayWrites: underLoad && random.share() < 0.5 ? Math.ceil(random.between(0, MOST_DELAY_WRITES)) : 0,
  };
}
