/**
 * kill -9 again and again while broadcasts are sent: at every named point of a broadcast's work, and at random times, also
 * right after a pause or a resume. The counts of every ledger hold at every start. In the end each contact got each broadcast
 * once, and twice only what a kill caught between its dot and the record of it: at most one message of each session.
 */
import { CRASH_POINTS, type CrashPointName } from '../../../src/crash-points.ts';
import { shuffle } from '../../../src/system/random.ts';
import type { DaemonProcess } from '../../support/daemon.ts';
import { requireKill, startUntil, untilDeath } from '../planned-end.ts';
import { type SeededRandom, seededRandom } from '../seeded-random.ts';
import { beginWorld, type World } from '../world.ts';
import { auditCounts, type BroadcastVerdict, judgeBroadcasts } from './audit.ts';
import {
  type Campaign,
  control,
  createCampaign,
  ENVIRONMENT,
  faultsOfSum,
  Refusal,
  SESSIONS,
  sendBroadcast,
  show,
  untilAllSent,
} from './campaign.ts';

export type BroadcastKillOptions = {
  seed: number;
  contacts: number;
  /** Number of kills at each named point, and at random times. */
  kills: { named: number; random: number };
};

export type BroadcastKillVerdict = BroadcastVerdict & {
  /** Number of kills by the place where they came. */
  kills: Record<string, number>;
};

/** Points of a broadcast's work, and those of the delivery of its copies. */
const POINTS: readonly CrashPointName[] = CRASH_POINTS.filter((name) =>
  /^(broadcast|claim|settle)-|^smtp-after-dot$/.test(name),
);
const PAUSE_POINT: CrashPointName = 'broadcast-pause-after-commit';
const RANDOM = 'random time';
const KILL_AFTER_MS = { low: 50, high: 1_200 };
/** A broadcast reaches its last point when every copy has ended. */
const REACH_TIMEOUT_MS = 120_000;
const REACH_MS_PER_CONTACT = 20;
const DRAIN_TIMEOUT_MS = 15 * 60_000;
/** Share of lives that pause a broadcast and resume it. */
const CONTROLLED_SHARE = 0.3;

type Plan = CrashPointName | typeof RANDOM;

export async function runBroadcastKills(options: BroadcastKillOptions): Promise<BroadcastKillVerdict> {
  const random = seededRandom(options.seed);
  const { world, daemon } = await beginWorld({
    random,
    name: 'broadcast',
    env: ENVIRONMENT,
    isSubscribed: false,
  });
  const faults: string[] = [];
  const kills: Record<string, number> = {};
  try {
    const campaign = await createCampaign(world, daemon, options.contacts);
    await daemon.stop();
    await world.endLife(Date.now());
    for (const plan of planKills(options.kills, random)) {
      faults.push(...(await liveAndDie(world, { plan, campaign, contacts: options.contacts, random })));
      faults.push(...auditCounts(world.dataDir));
      kills[plan] = (kills[plan] ?? 0) + 1;
    }
    const last = await world.start();
    const signal = AbortSignal.timeout(DRAIN_TIMEOUT_MS);
    faults.push(...(await untilAllSent(world, last, { campaign, signal })));
    await last.stop();
    await world.endLife(Date.now());
    const { endOfLifeMs, receipts, dataDir } = world;
    const ends = { endOfLifeMs, contacts: options.contacts, broadcasts: campaign.broadcasts };
    const verdict = judgeBroadcasts(dataDir, receipts, ends);
    if (verdict.maxDuplicatesOfAnEnd > SESSIONS)
      faults.push(`${verdict.maxDuplicatesOfAnEnd} duplicates after one kill`);
    return { ...verdict, kills, faults: [...faults, ...verdict.faults] };
  } finally {
    await world.close();
  }
}

function planKills({ named, random: others }: BroadcastKillOptions['kills'], random: SeededRandom): Plan[] {
  const points = Array.from({ length: named }, () => POINTS).flat();
  return shuffle<Plan>(random.share, [...points, ...Array.from({ length: others }, (): Plan => RANDOM)]);
}

type Life = { plan: Plan; campaign: Campaign; contacts: number; random: SeededRandom };

/** Runs the daemon until its planned end. Returns what was wrong, in words. */
async function liveAndDie(world: World, life: Life): Promise<string[]> {
  const { plan } = life;
  const daemon = await startUntil(world, plan === RANDOM ? undefined : plan);
  if (!daemon) return [];
  const working = work(world, daemon, life).catch((error: unknown): string[] => {
    // Without an answer, the daemon was killed.
    return error instanceof Refusal ? [error.message] : [];
  });
  const waitMs =
    plan === RANDOM
      ? life.random.between(KILL_AFTER_MS.low, KILL_AFTER_MS.high)
      : REACH_TIMEOUT_MS + REACH_MS_PER_CONTACT * life.contacts;
  const { atMs, atPoint } = await untilDeath(daemon, waitMs);
  const faults = await working;
  await requireKill(daemon);
  await world.endLife(atMs);
  if (atPoint !== (plan !== RANDOM)) faults.push(`not reached in time: ${plan}`);
  return faults;
}

/** Sees that something is being sent, and changes it. Rejects when the daemon dies meanwhile. */
async function work(
  world: World,
  daemon: DaemonProcess,
  { plan, campaign, random }: Life,
): Promise<string[]> {
  const faults: string[] = [];
  let sending: string | undefined;
  for (const id of campaign.broadcasts) {
    const shown = await show(world, daemon, id);
    faults.push(...faultsOfSum(shown));
    if (shown.status === 'draft') await control(world, daemon, { id, action: 'send' });
    if (shown.status === 'paused') await control(world, daemon, { id, action: 'resume' });
    if (shown.status !== 'sent') sending = id;
  }
  const isOfWalk = plan.startsWith('broadcast-slice');
  if (sending === undefined || isOfWalk) sending = await sendBroadcast(world, daemon, campaign);
  if (plan === PAUSE_POINT) await control(world, daemon, { id: sending, action: 'pause' });
  else if (random.share() < CONTROLLED_SHARE) faults.push(...(await interrupt(world, daemon, sending)));
  return faults;
}

/** Pauses a broadcast and resumes it. */
async function interrupt(world: World, daemon: DaemonProcess, id: string): Promise<string[]> {
  const paused = await control(world, daemon, { id, action: 'pause' });
  if (paused !== 200) return [];
  const { status } = await show(world, daemon, id);
  await control(world, daemon, { id, action: 'resume' });
  return status === 'paused' ? [] : [`a paused broadcast is ${status}`];
}
