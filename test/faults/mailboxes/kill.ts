/**
 * kill -9 again and again while clients change their mailboxes and letters come in: around the commits of deliveries, of each kind of
 * change and of checkpoints, and at random times. After each start all mailboxes are read and judged: what was answered with OK or
 * 250 is there once, a change without an answer was made or not, and no number goes back.
 */
import { CRASH_POINTS, type CrashPointName } from '../../../src/crash-points.ts';
import { shuffle } from '../../../src/system/random.ts';
import { requireKill, startUntil, untilDeath } from '../planned-end.ts';
import { letDelaysPass } from '../quiet.ts';
import { type SeededRandom, seededRandom } from '../seeded-random.ts';
import type { ChangeKind } from './model.ts';
import {
  createMailboxWorld,
  finishMailboxes,
  type MailboxReport,
  type MailboxWorld,
  reckon,
  send,
  work,
} from './place.ts';

export type MailboxKillOptions = {
  seed: number;
  /** Number of kills at each named point, and at random times. */
  kills: { named: number; random: number };
};

const POINTS = CRASH_POINTS.filter((name) => /^(mailbox|private)-/.test(name));
const RANDOM = 'random time';
const KILL_AFTER_MS = { low: 20, high: 1_200 };
const MAX_CHANGES_BEFORE = 12;
const REACH_TIMEOUT_MS = 60_000;
const MOST = { changes: 2_000, letters: 12 };

type Plan = CrashPointName | typeof RANDOM;

/** Changes that lead to a point. */
const WANTED: [beginning: string, kinds: readonly (ChangeKind | 'checkpoint')[]][] = [
  ['mailbox-append-', ['append']],
  ['mailbox-flags-', ['flags']],
  ['mailbox-copy-', ['move', 'copy']],
  ['mailbox-expunge-', ['expunge']],
  ['mailbox-quit-', ['quit']],
  ['mailbox-rename-', ['rename']],
  ['private-checkpoint-', ['checkpoint']],
];

export async function runMailboxKills({ seed, kills }: MailboxKillOptions): Promise<MailboxReport> {
  const random = seededRandom(seed);
  const place = await createMailboxWorld({ random, name: 'mailboxes' });
  try {
    const reached: Record<string, number> = {};
    const unreached: string[] = [];
    for (const plan of planKills(kills, random)) {
      if (await liveAndDie(place, plan, random)) reached[plan] = (reached[plan] ?? 0) + 1;
      else unreached.push(plan);
    }
    await letDelaysPass(place.world);
    const verdict = await finishMailboxes(place, await place.world.start());
    verdict.faults.push(...unreached.map((plan) => `not reached in time: ${plan}`));
    const places = Object.entries(reached).map(([plan, count]) => `${plan} ${count}`);
    return { ...verdict, done: `kills: ${places.join(', ')}` };
  } finally {
    await place.close();
  }
}

function planKills({ named, random: others }: MailboxKillOptions['kills'], random: SeededRandom): Plan[] {
  const points = Array.from({ length: named }, () => POINTS).flat();
  return shuffle<Plan>(random.share, [...points, ...Array.from({ length: others }, (): Plan => RANDOM)]);
}

function wantedFor(plan: Plan, random: SeededRandom): ChangeKind | 'checkpoint' | undefined {
  const kinds = WANTED.find(([beginning]) => plan.startsWith(beginning))?.[1] ?? [];
  return kinds[Math.floor(random.share() * kinds.length)];
}

/** Runs the daemon until its planned end. Returns false when a named point was not reached in time. */
async function liveAndDie(place: MailboxWorld, plan: Plan, random: SeededRandom): Promise<boolean> {
  const { world } = place;
  const daemon = await startUntil(world, plan === RANDOM ? undefined : plan);
  if (!daemon) return true;
  const over = new AbortController();
  const sending = send(place, { signal: over.signal, mostLetters: MOST.letters });
  await reckon(place);
  const anyFirst = Math.floor(random.share() * MAX_CHANGES_BEFORE);
  const working = work(place, {
    ...{ signal: over.signal, mostChanges: MOST.changes },
    ...{ anyFirst, wanted: wantedFor(plan, random) },
  });
  const waitMs = plan === RANDOM ? random.between(KILL_AFTER_MS.low, KILL_AFTER_MS.high) : REACH_TIMEOUT_MS;
  const { atPoint } = await untilDeath(daemon, waitMs);
  over.abort();
  await Promise.all([working, sending]);
  await requireKill(daemon);
  await world.endLife(Date.now());
  return atPoint === (plan !== RANDOM);
}
