/**
 * kill -9 again and again while servers send mail to the daemon and clients send mail through it: before and after the commits that
 * store a message, forward it, tell its sender that this failed and send a report, within the tasks of each kind, and at random times.
 * One audit covers both sides: everything that was answered with 250 or 200 is there, once for each transmission or key. Each message to
 * a route was posted, and each message to the mailbox is in it once. Each message to the postmaster was forwarded, or its sender was told
 * once that this failed. Each answer of a reader has changed its email once.
 */
import { CRASH_POINTS, type CrashPointName } from '../../../src/crash-points.ts';
import { shuffle } from '../../../src/system/random.ts';
import type { DaemonProcess } from '../../support/daemon.ts';
import { requireKill, startUntil, untilDeath } from '../planned-end.ts';
import { letDelaysPass } from '../quiet.ts';
import { type SeededRandom, seededRandom } from '../seeded-random.ts';
import { makeReportDue } from './due-times.ts';
import { ANSWERS, type LetterKind } from './letter.ts';
import { createInboundWorld, finishInbound, type InboundReckoning, type InboundWorld } from './place.ts';

export type InboundKillOptions = {
  seed: number;
  /** Number of kills at each named point, and at random times. */
  kills: { named: number; random: number };
};

export type InboundKillVerdict = InboundReckoning & {
  /** Number of kills by the place where they came. */
  kills: Record<string, number>;
  /** Places that were not reached in time. */
  unreached: string[];
};

/** Kind of the tasks that post letters to routes. */
const ROUTE_POSTS = 'route-posts';

/** A point, for tasks with their kind. */
type Point =
  | CrashPointName
  | `${CrashPointName}/${LetterKind | `received-${LetterKind}` | typeof ROUTE_POSTS}`;

/** Kinds of letters whose tasks share their points. */
const TASK_KINDS: readonly LetterKind[] = [...ANSWERS, 'mailbox', 'forward', 'report'];
const POINTS: readonly Point[] = CRASH_POINTS.flatMap((name): Point[] => {
  if (name.startsWith('inbound-task-')) return TASK_KINDS.map((kind): Point => `${name}/${kind}`);
  if (name === 'post-made') return [`${name}/${ROUTE_POSTS}`];
  if (name === 'task-leased' || name === 'task-settled')
    return [`${name}/${ROUTE_POSTS}`, ...TASK_KINDS.map((kind): Point => `${name}/received-${kind}`)];
  return /^(receive|inbound|task|mailbox-delivery|forward|notification|dmarc-report)-/.test(name)
    ? [name]
    : [];
});
const RANDOM = 'random time';
const KILL_AFTER_MS = { low: 20, high: 700 };
const REACH_TIMEOUT_MS = 60_000;
/** In each life: letters, requests for emails, and other changes. */
const LETTERS = { clients: 3, pauseMs: 15, most: 24 };
const EMAILS = { clients: 2, pauseMs: 30, most: 8 };
const MAX_CHANGES = 3;
/** Maximum number of answers of readers in a life, besides the one that its point needs. */
const ANSWERS_PER_LIFE = 1;

type Plan = Point | typeof RANDOM;

export async function runInboundKills({ seed, kills }: InboundKillOptions): Promise<InboundKillVerdict> {
  const random = seededRandom(seed);
  const plans = planKills(kills, random);
  const needed = plans.filter((plan) => ANSWERS.some((kind) => kind === letterFor(plan))).length;
  const readers = needed + plans.length * ANSWERS_PER_LIFE;
  const place = await createInboundWorld({ random, name: 'inbound', readers });
  try {
    const reached: Record<string, number> = {};
    const unreached: string[] = [];
    for (const plan of plans) {
      if (await liveAndDie(place, plan, random)) reached[plan] = (reached[plan] ?? 0) + 1;
      else unreached.push(plan);
    }
    await letDelaysPass(place.world);
    const reckoning = await finishInbound(place, await place.world.start());
    return { ...reckoning, kills: reached, unreached };
  } finally {
    await place.close();
  }
}

function planKills({ named, random: others }: InboundKillOptions['kills'], random: SeededRandom): Plan[] {
  const points = Array.from({ length: named }, () => POINTS).flat();
  return shuffle<Plan>(random.share, [...points, ...Array.from({ length: others }, (): Plan => RANDOM)]);
}

/** Returns the kind of the letter that leads to the point; undefined when any does. */
function letterFor(plan: Plan): LetterKind | undefined {
  const kind = TASK_KINDS.find((one) => plan.endsWith(`/${one}`) || plan.endsWith(`/received-${one}`));
  if (kind) return kind;
  if (plan.startsWith('forward-')) return 'forward';
  if (plan.startsWith('notification-')) return 'returned';
  if (plan.startsWith('mailbox-')) return 'mailbox';
  return plan.endsWith(`/${ROUTE_POSTS}`) ? 'post' : undefined;
}

/** Runs the daemon until its planned end. Returns false when a named point was not reached in time. */
async function liveAndDie(place: InboundWorld, plan: Plan, random: SeededRandom): Promise<boolean> {
  const { world } = place;
  if (plan.startsWith('dmarc-report-')) await makeReportDue(place);
  const daemon = await startUntil(world, plan === RANDOM ? undefined : plan);
  if (!daemon) return true;
  const over = new AbortController();
  const working = work(place, daemon, { first: letterFor(plan), signal: over.signal });
  const waitMs = plan === RANDOM ? random.between(KILL_AFTER_MS.low, KILL_AFTER_MS.high) : REACH_TIMEOUT_MS;
  const { atMs, atPoint } = await untilDeath(daemon, waitMs);
  over.abort();
  await working;
  await requireKill(daemon);
  await world.endLife(atMs);
  return atPoint === (plan !== RANDOM);
}

type Work = { first: LetterKind | undefined; signal: AbortSignal };

/** Sends letters to the daemon, and emails and other changes through it, until all are sent or it is dead. */
async function work(
  { world, senders, port }: InboundWorld,
  daemon: DaemonProcess,
  { first, signal }: Work,
): Promise<void> {
  const { load, ledger, key } = world;
  await Promise.all([
    senders.run({ ...LETTERS, port, signal, persistent: true, first, answers: ANSWERS_PER_LIFE }),
    load.run({ ...EMAILS, daemon, key, signal }),
    ledger.run({ daemon, key, signal, most: MAX_CHANGES }),
  ]);
}
