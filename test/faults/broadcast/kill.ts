/**
 * kill -9 again and again while broadcasts are sent: at every named point of a broadcast's work, and at random times, also
 * right after a pause or a resume. The counts of every ledger hold at every start. In the end each contact got each broadcast
 * once, and twice only what a kill caught between its dot and the record of it: at most one message of each session.
 */
import { CRASH_POINTS, type CrashPointName } from '../../../src/crash-points.ts';
import type { DaemonProcess } from '../../support/daemon.ts';
import { killRepeatedly, planKills, withFaults } from '../kills.ts';
import type { Place, Result } from '../part.ts';
import { describeBroadcasts } from '../report.ts';
import { type SeededRandom, seededRandom } from '../seeded-random.ts';
import { beginWorld, type World } from '../world.ts';
import { auditCounts } from './audit.ts';
import {
  type Campaign,
  control,
  createCampaign,
  ENVIRONMENT,
  faultsOfSum,
  finishBroadcasts,
  Refusal,
  SESSIONS,
  sendBroadcast,
  show,
} from './campaign.ts';

/** Points of a broadcast's work, and those of the delivery of its copies. */
const POINTS: readonly CrashPointName[] = CRASH_POINTS.filter((name) =>
  /^(broadcast|claim|settle)-|^smtp-after-dot$/.test(name),
);
const PAUSE_POINT: CrashPointName = 'broadcast-pause-after-commit';
const KILL_AFTER_MS = { low: 50, high: 1_200 };
/** A broadcast reaches its last point when every copy has ended. */
const REACH_TIMEOUT_MS = 120_000;
const REACH_MS_PER_CONTACT = 20;
/** Share of lives that pause a broadcast and resume it. */
const CONTROLLED_SHARE = 0.3;

export async function killBroadcasts({ seed, broadcast: { contacts, kills } }: Place): Promise<Result> {
  const random = seededRandom(seed);
  const options = { random, name: 'broadcast', env: ENVIRONMENT, isSubscribed: false };
  const { world, daemon } = await beginWorld(options);
  await using _ = world;
  const faults: string[] = [];
  const campaign = await createCampaign(world, daemon, contacts);
  await daemon.stop();
  await world.endLife(Date.now());
  const killed = await killRepeatedly(world, planKills(POINTS, kills, random), {
    random,
    killAfterMs: KILL_AFTER_MS,
    reachTimeoutMs: REACH_TIMEOUT_MS + REACH_MS_PER_CONTACT * contacts,
    prepare: () => void faults.push(...auditCounts(world.dataDir)),
    use: async (plan, life) => {
      const found = await work(world, life.daemon, { plan, campaign, random }).catch((error: unknown) =>
        // Without an answer, the daemon was killed.
        error instanceof Refusal ? [error.message] : [],
      );
      faults.push(...found);
    },
  });
  faults.push(...killed.faults, ...auditCounts(world.dataDir));
  const verdict = await finishBroadcasts(world, await world.start(), { campaign, contacts });
  if (verdict.maxDuplicatesOfAnEnd > SESSIONS)
    faults.push(`${verdict.maxDuplicatesOfAnEnd} duplicates after one kill`);
  return withFaults(describeBroadcasts([verdict], killed.done), faults);
}

type Life = { plan: string; campaign: Campaign; random: SeededRandom };

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
