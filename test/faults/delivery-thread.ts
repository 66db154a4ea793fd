/**
 * One of two threads that deliver dies, at points of a delivery, while clients send mail. Each death must end the daemon with its exit
 * code and a line in its log, so that a supervisor starts it again. In the end nothing is lost, and twice arrives only what a death
 * caught between its dot and the record of it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CrashPointName } from '../../src/crash-points.ts';
import type { DaemonProcess } from '../support/daemon.ts';
import { finish } from './finish.ts';
import type { Place, Result } from './part.ts';
import { describeReckoning } from './report.ts';
import { seededRandom } from './seeded-random.ts';
import { createWorld, type World } from './world.ts';

/** Points that this thread reaches: fewer than the deaths after which mail is held (`queue/state/suspect.ts`). */
const POINTS: readonly CrashPointName[] = [
  'claim-after-commit',
  'smtp-connected',
  'smtp-mid-data',
  'smtp-after-dot',
];
const CLIENTS = 4;
const CLIENT_PAUSE_MS = 25;
const MAX_SUBMISSIONS_OF_A_LIFE = 150;
/** Maximum time until a point is reached and the daemon has ended. */
const DEATH_TIMEOUT_MS = 60_000;
const EXIT_CODE = 1;
const LOGGED = 'a thread has died';

export async function killDeliveryThread({ seed }: Place): Promise<Result> {
  const random = seededRandom(seed);
  await using world = await createWorld({
    random,
    name: 'delivery-thread',
    env: { POSTRIDER_DELIVERY_THREADS: '2' },
  });
  const faults: string[] = [];
  let slowestEndMs = 0;
  for (const point of POINTS) {
    const { fault, endMs } = await liveUntil(world, point);
    if (fault !== undefined) faults.push(`${point}: ${fault}`);
    slowestEndMs = Math.max(slowestEndMs, endMs);
  }
  const reckoned = describeReckoning(await finish(world, await world.start()));
  return {
    lines: [`deaths: ${POINTS.join(', ')}; longest life: ${Math.round(slowestEndMs)} ms`, ...reckoned.lines],
    faults: [...faults, ...reckoned.faults],
  };
}

/** Gives the daemon mail until its thread has died at the point, and the daemon with it. */
async function liveUntil(
  world: World,
  point: CrashPointName,
): Promise<{ fault: string | undefined; endMs: number }> {
  const daemon = await world.start(`thread:${point}`);
  const began = performance.now();
  const over = new AbortController();
  const running = world.load.run({
    ...{ daemon, key: world.key, clients: CLIENTS, pauseMs: CLIENT_PAUSE_MS },
    ...{ signal: over.signal, most: MAX_SUBMISSIONS_OF_A_LIFE },
  });
  const exit = await Promise.race([daemon.exited, sleep(DEATH_TIMEOUT_MS, undefined)]);
  if (!exit) await daemon.kill('SIGKILL');
  const endMs = performance.now() - began;
  over.abort();
  await running;
  await world.endLife(Date.now());
  return { fault: faultOf(daemon, exit), endMs };
}

type Exit = Awaited<DaemonProcess['exited']>;

function faultOf(daemon: DaemonProcess, exit: Exit | undefined): string | undefined {
  if (!exit) return 'the daemon goes on';
  if (exit.code !== EXIT_CODE) return `the daemon ended with ${JSON.stringify(exit)}`;
  return daemon.output().includes(LOGGED) ? undefined : 'nothing in the log';
}
