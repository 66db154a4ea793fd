/**
 * A fault that the daemon must not live through: its storage has failed in a way after which nothing can be promised. It
 * ends by itself, at once and without a word to those who wait; started again when the storage is mended, it has all it
 * had promised. Again and again, under load.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DaemonProcess } from '../support/daemon.ts';
import { auditDataDirectory } from './audit.ts';
import { finish, untilSettled } from './finish.ts';
import type { Result } from './part.ts';
import { describeReckoning } from './report.ts';
import { firstId, type Submission } from './submission.ts';
import type { World } from './world.ts';

type Deadly = {
  cycles: number;
  /** Breaks the storage under the running daemon. */
  begin(daemon: DaemonProcess): Promise<void>;
  /** Called when the daemon is gone: what it finds wrong, in words. Mends the storage. */
  mend(): Promise<string[]>;
  /**
   * Whether a flush that runs at the moment of the fault may succeed without effect, so that a promise made after the
   * fault began counts only if it was kept.
   */
  mayForgetLast: boolean;
};

const CLIENTS = 8;
const PAUSE_MS = 30;
const LOAD_MS = { before: 800, quiet: 120_000 };
/** Far more than are made before the fault: without load nothing is written, and nothing fails. */
const MAX_SUBMISSIONS = 2_000;
const END_TIMEOUT_MS = 60_000;
/** Mail whose delivery five crashes in a row have interrupted is held for the operator (`queue/state/suspect.ts`). */
const CYCLES_BETWEEN_RESTS = 3;

export async function dieAgainAndAgain(world: World, deadly: Deadly): Promise<Result> {
  const faults: string[] = [];
  /** The longest time from the fault to the daemon's end. */
  let slowestEndMs = 0;
  /** Accepted after the fault began, before the end; and how many of them were forgotten. */
  let acceptedAfter = 0;
  let forgotten = 0;
  for (let cycle = 0; cycle < deadly.cycles; cycle++) {
    const daemon = await world.start();
    if (cycle % CYCLES_BETWEEN_RESTS === 0) await rest(world, daemon);
    const death = await die(world, deadly, daemon);
    slowestEndMs = Math.max(slowestEndMs, death.endMs);
    acceptedAfter += death.acceptedAfter.length;
    faults.push(...death.faults, ...(await deadly.mend()));
    if (deadly.mayForgetLast) forgotten += forgetLost(world, death.acceptedAfter);
  }
  const reckoned = describeReckoning(await finish(world, await world.start()));
  return {
    lines: [
      `${deadly.cycles} times; slowest end: ${Math.round(slowestEndMs)} ms`,
      `accepted between the fault and the end: ${acceptedAfter}, of which forgotten: ${forgotten}`,
      ...reckoned.lines,
    ],
    faults: [...faults, ...reckoned.faults],
  };
}

/** Answers how many of the promises are not in the tables. */
function forgetLost({ dataDir, load }: World, promised: readonly Submission[]): number {
  const missing = new Set(auditDataDirectory(dataDir, promised).missing);
  const lost = promised.filter((submission) => missing.has(firstId(submission)));
  for (const submission of lost) load.forget(submission);
  return lost.length;
}

async function rest(world: World, daemon: DaemonProcess): Promise<void> {
  const due = world.load.acknowledged.filter(({ scheduledAtMs }) => (scheduledAtMs ?? 0) <= Date.now());
  await untilSettled(world, daemon, due, AbortSignal.timeout(LOAD_MS.quiet));
}

async function die(world: World, deadly: Deadly, daemon: DaemonProcess) {
  const { load, key } = world;
  const over = new AbortController();
  const { signal } = over;
  const running = load.run({
    daemon,
    key,
    clients: CLIENTS,
    pauseMs: PAUSE_MS,
    signal,
    most: MAX_SUBMISSIONS,
  });
  await sleep(LOAD_MS.before);
  const accepted = load.acknowledged.length;
  const canceled = new Set(load.acknowledged.filter(isCanceled));
  const began = performance.now();
  await deadly.begin(daemon);
  const endedByItself = await Promise.race([daemon.exited.then(() => true), sleep(END_TIMEOUT_MS, false)]);
  const endMs = performance.now() - began;
  if (!endedByItself) await daemon.kill('SIGKILL');
  const endedAtMs = Date.now();
  over.abort();
  await running;
  await world.endLife(endedAtMs);
  if (deadly.mayForgetLast) {
    const late = load.acknowledged.filter((one) => isCanceled(one) && !canceled.has(one));
    for (const submission of late) submission.cancellation = 'asked';
  }
  return {
    endMs,
    acceptedAfter: load.acknowledged.slice(accepted),
    faults: endedByItself ? [] : [`the daemon lived on for ${END_TIMEOUT_MS} ms`],
  };
}

function isCanceled({ cancellation }: Submission): boolean {
  return cancellation === 'confirmed';
}
