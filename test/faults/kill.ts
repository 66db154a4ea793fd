/**
 * kill -9 again and again, at every named point of `src/crash-points.ts` and at random times, while clients send
 * mail and the daemon delivers it to a sink. Clients whose request got no answer repeat it under the same key. In the
 * end every acknowledged email must have arrived, one email for each key, and twice only what a kill caught between
 * its dot and the record of it.
 */
import { CRASH_POINTS, type CrashPointName } from '../../src/crash-points.ts';
import { shuffle } from '../../src/system/random.ts';
import type { DaemonProcess } from '../support/daemon.ts';
import { finish, untilSettled } from './finish.ts';
import type { Place, Result } from './part.ts';
import { requireKill, startUntil, untilDeath } from './planned-end.ts';
import { describeReckoning } from './report.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';
import { createWorld, type World } from './world.ts';

type Death = {
  /** A crash point, or `random time`. */
  at: string;
  /** False when a named point was not reached in time and the daemon was killed by hand. */
  asPlanned: boolean;
  /** Undefined when it died before it listened. */
  startMs: number | undefined;
};

const CLIENTS = 4;
const CLIENT_PAUSE_MS = 25;
const MAX_SUBMISSIONS_OF_A_LIFE = 150;
const MAX_CHANGES_OF_A_LIFE = 10;
/** Share of kills at named points; the others come at random times. */
const NAMED_SHARE = 0.6;
const KILL_AFTER_MS = { low: 100, high: 1_500 };
const KILLS_BETWEEN_RESTS = 4;
const REST_TIMEOUT_MS = 60_000;
const REACH_TIMEOUT_MS = 60_000;

/**
 * Points that the load of this part does not reach. They have parts of their own (retention.ts, certificate-orders.ts, key-rotations.ts, queue-actions.ts, approvals.ts,
 * tenant-deletion.ts, backups.ts, broadcast/, inbound/, mailboxes/, submission/, scripts/, standby.ts); those of imports are reached by test/accounts/crash.test.ts.
 */
const OTHER_POINTS =
  /^(retention|compact|approval|certificate|key|queue-action|tenant-erase|backup|restore|broadcast|mailbox|private|receive|inbound|forward|notification|sender-report|dmarc-report|submission|report|script|standby|shipping|import)-/;
/** Points that work of any kind reaches. Here it is the posts of webhooks. */
const POINTS_OF_KINDS: readonly CrashPointName[] = ['task-leased', 'task-settled', 'post-made'];
type Point = CrashPointName | `${CrashPointName}/webhooks`;
const POINTS = CRASH_POINTS.filter((name) => !OTHER_POINTS.test(name)).map(
  (name): Point => (POINTS_OF_KINDS.includes(name) ? `${name}/webhooks` : name),
);

type Plan =
  | { kind: 'point'; name: Point }
  /** `rested`: first everything open is delivered, then there is load, then the kill. */
  | { kind: 'time'; afterMs: number; rested: boolean };

export async function killAgainAndAgain({ seed, kills }: Place): Promise<Result> {
  const random = seededRandom(seed);
  await using world = await createWorld({ random, name: 'kill' });
  const deaths: Death[] = [];
  for (const plan of planKills(kills, random)) deaths.push(await liveAndDie(world, plan));
  const reckoned = describeReckoning(await finish(world, await world.start()));
  const byPlace = Object.entries(Object.groupBy(deaths, ({ at }) => at));
  const slowest = Math.max(...deaths.map(({ startMs }) => startMs ?? 0));
  const unreached = deaths.filter(({ asPlanned }) => !asPlanned);
  return {
    lines: [
      `${deaths.length} kills: ${byPlace.map(([at, some]) => `${at} ${some?.length}`).join(', ')}`,
      `slowest start: ${Math.round(slowest)} ms`,
      ...reckoned.lines,
    ],
    faults: [...unreached.map(({ at }) => `not reached in time: ${at}`), ...reckoned.faults],
  };
}

/**
 * Plans kills at named points, each as often as the others and at least once, mixed with random times. Mail whose
 * delivery five crashes have interrupted is held for the operator (`queue/state/suspect.ts`), so after every fourth
 * crash the daemon may rest.
 */
function planKills(wanted: number, random: SeededRandom): Plan[] {
  const kills = Math.max(wanted, Math.ceil(POINTS.length / (1 - 1 / KILLS_BETWEEN_RESTS)));
  const resting = Math.ceil(kills / KILLS_BETWEEN_RESTS);
  const named = Math.max(Math.round(kills * NAMED_SHARE), POINTS.length);
  const others = shuffle(
    random.share,
    Array.from({ length: kills - resting }, (_, index): Plan => {
      const name = POINTS[index % POINTS.length];
      return index < named && name !== undefined ? { kind: 'point', name } : randomTime(random, false);
    }),
  );
  return Array.from({ length: kills }, (_, index) =>
    index % KILLS_BETWEEN_RESTS === 0 ? randomTime(random, true) : (others.pop() ?? randomTime(random, true)),
  );
}

function randomTime(random: SeededRandom, rested: boolean): Plan {
  return { kind: 'time', afterMs: random.between(KILL_AFTER_MS.low, KILL_AFTER_MS.high), rested };
}

async function liveAndDie(world: World, plan: Plan): Promise<Death> {
  const at = plan.kind === 'point' ? plan.name : 'random time';
  const began = performance.now();
  const daemon = await startUntil(world, plan.kind === 'point' ? plan.name : undefined);
  if (!daemon) return { at, asPlanned: plan.kind === 'point', startMs: undefined };
  const startMs = performance.now() - began;
  if (plan.kind === 'time' && plan.rested) {
    const due = world.load.acknowledged.filter(({ scheduledAtMs }) => (scheduledAtMs ?? 0) <= Date.now());
    await untilSettled(world, daemon, due, AbortSignal.timeout(REST_TIMEOUT_MS));
  }
  const endedByItself = await workUntilEnd(world, daemon, plan);
  return { at, asPlanned: endedByItself === (plan.kind === 'point'), startMs };
}

/** Gives the daemon mail until it is dead. Resolves with whether it died at its crash point. */
async function workUntilEnd(world: World, daemon: DaemonProcess, plan: Plan): Promise<boolean> {
  const over = new AbortController();
  const running = world.load.run({
    daemon,
    key: world.key,
    clients: CLIENTS,
    pauseMs: CLIENT_PAUSE_MS,
    signal: over.signal,
    most: MAX_SUBMISSIONS_OF_A_LIFE,
  });
  const changing = world.ledger.run({
    daemon,
    key: world.key,
    signal: over.signal,
    most: MAX_CHANGES_OF_A_LIFE,
  });
  const waitMs = plan.kind === 'point' ? REACH_TIMEOUT_MS : plan.afterMs;
  const { atMs, atPoint } = await untilDeath(daemon, waitMs);
  over.abort();
  await Promise.all([running, changing]);
  await requireKill(daemon);
  await world.endLife(atMs);
  return atPoint;
}
