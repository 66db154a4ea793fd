/**
 * kill -9 again and again, at every named point of `src/system/crash-point.ts` and at random times, while clients send
 * mail and the daemon delivers it to a sink. Clients whose request got no answer repeat it under the same key. In the
 * end every acknowledged email must have arrived, one email for each key, and twice only what a kill caught between
 * its dot and the record of it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { CRASH_POINTS, type CrashPointName } from '../../src/system/crash-point.ts';
import { shuffle } from '../../src/system/random.ts';
import { type DaemonProcess, DaemonStartError } from '../support/daemon.ts';
import { auditDataDirectory } from './audit.ts';
import { judgeKills, type KillJudgement } from './kill-judge.ts';
import { createKillWorld, type KillWorld } from './kill-world.ts';
import type { Submission } from './load.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';

export type KillOptions = { seed: number; kills: number };

export type Death = {
  /** A crash point, or `random time`. */
  at: string;
  /** False when a named point was not reached in time and the daemon was killed by hand. */
  asPlanned: boolean;
  /** Undefined when it died before it listened. */
  startMs: number | undefined;
};

export type KillVerdict = {
  deaths: Death[];
  acknowledged: number;
  acknowledgedLarge: number;
  /** Requests sent again because they got no answer. */
  repeated: number;
  received: number;
  judgement: KillJudgement;
  /** Everything else that is wrong in the end, in words. */
  faults: string[];
};

const CLIENTS = 4;
const CLIENT_PAUSE_MS = 25;
const MOST_SUBMISSIONS_OF_A_LIFE = 150;
/** Share of kills at named points; the others come at random times. */
const NAMED_SHARE = 0.6;
const KILL_AFTER_MS = { low: 100, high: 1_500 };
const KILLS_BETWEEN_RESTS = 4;
const REST_TIMEOUT_MS = 30_000;
const REACH_TIMEOUT_MS = 15_000;
const DRAIN_TIMEOUT_MS = 120_000;
const DRAIN_PAUSE_MS = 200;
const ASKING_CLIENTS = 16;

type Plan =
  | { kind: 'point'; name: CrashPointName }
  /** `rested`: first everything open is delivered, then there is load, then the kill. */
  | { kind: 'time'; afterMs: number; rested: boolean };

export async function runKills(options: KillOptions): Promise<KillVerdict> {
  const random = seededRandom(options.seed);
  const world = await createKillWorld(random);
  try {
    const deaths: Death[] = [];
    for (const plan of planKills(options.kills, random)) deaths.push(await liveAndDie(world, plan));
    const faults = await finish(world);
    const { acknowledged, submittedRecipients, refusals, repeated } = world.load;
    const judgement = judgeKills({
      acknowledged: acknowledged.map((submission) => submission.recipient),
      submitted: submittedRecipients,
      receipts: world.receipts,
      endOfLifeMs: world.endOfLifeMs,
    });
    return {
      deaths,
      acknowledged: acknowledged.length,
      acknowledgedLarge: acknowledged.filter((submission) => submission.large).length,
      repeated,
      received: world.receipts.length,
      judgement,
      faults: [...faults, ...refusals.map((refusal) => `refused under load: ${refusal}`)],
    };
  } finally {
    await world.close();
  }
}

/**
 * Named points in turn, each as often as the others and at least once, mixed with random times. Whatever a fifth crash
 * finds in flight is held for the operator (`queue/claim.ts`), so after every fourth the daemon may rest.
 */
function planKills(kills: number, random: SeededRandom): Plan[] {
  const resting = Math.ceil(kills / KILLS_BETWEEN_RESTS);
  const named = Math.max(Math.round(kills * NAMED_SHARE), CRASH_POINTS.length);
  const others = shuffle(
    random.share,
    Array.from({ length: kills - resting }, (_, index): Plan => {
      const name = CRASH_POINTS[index % CRASH_POINTS.length];
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

async function liveAndDie(world: KillWorld, plan: Plan): Promise<Death> {
  const at = plan.kind === 'point' ? plan.name : 'random time';
  const began = performance.now();
  let daemon: DaemonProcess;
  try {
    daemon = await world.start(plan.kind === 'point' ? plan.name : undefined);
  } catch (error) {
    // Mail recovered from the life before can reach the point before the daemon listens.
    if (!(error instanceof DaemonStartError) || error.exit?.signal !== 'SIGKILL') throw error;
    await world.endLife(Date.now());
    return { at, asPlanned: plan.kind === 'point', startMs: undefined };
  }
  const startMs = performance.now() - began;
  if (plan.kind === 'time' && plan.rested) {
    await untilDelivered(world, daemon, AbortSignal.timeout(REST_TIMEOUT_MS));
  }
  const endedByItself = await workUntilEnd(world, daemon, plan);
  return { at, asPlanned: endedByItself === (plan.kind === 'point'), startMs };
}

/** Gives the daemon mail until it is dead. Resolves with whether it died at its crash point. */
async function workUntilEnd(world: KillWorld, daemon: DaemonProcess, plan: Plan): Promise<boolean> {
  const over = new AbortController();
  const running = world.load.run({
    daemon,
    key: world.key,
    clients: CLIENTS,
    pauseMs: CLIENT_PAUSE_MS,
    signal: over.signal,
    most: MOST_SUBMISSIONS_OF_A_LIFE,
  });
  const waitMs = plan.kind === 'point' ? REACH_TIMEOUT_MS : plan.afterMs;
  const endedByItself = await Promise.race([daemon.exited.then(() => true), sleep(waitMs, false)]);
  if (!endedByItself) await daemon.kill('SIGKILL');
  const endedAtMs = Date.now();
  over.abort();
  await running;
  const exit = await daemon.exited;
  if (exit.signal !== 'SIGKILL') throw new Error(`the daemon ended by itself:\n${daemon.output()}`);
  await world.endLife(endedAtMs);
  return endedByItself;
}

/** The last life: what is open is repeated and delivered; then everything is looked at. */
async function finish(world: KillWorld): Promise<string[]> {
  const daemon = await world.start();
  const signal = AbortSignal.timeout(DRAIN_TIMEOUT_MS);
  const { load, key } = world;
  while (load.unanswered.length > 0 && !signal.aborted) {
    await load.run({ daemon, key, clients: CLIENTS, pauseMs: 0, signal, most: 0 });
  }
  const faults = load.unanswered.length > 0 ? [`${load.unanswered.length} requests were never answered`] : [];
  faults.push(...(await untilDelivered(world, daemon, signal)));
  // A webhook that a kill caught on its way is sent again when its lease of a minute ends.
  while (untold(world).length > 0 && !signal.aborted) await sleep(DRAIN_PAUSE_MS);
  const silent = untold(world).length;
  if (silent > 0) faults.push(`${silent} acknowledged emails: no email.delivered at the webhook`);
  await daemon.stop();
  await world.endLife(Date.now());
  const audit = auditDataDirectory(world.dataDir, load.acknowledged.map(firstId));
  if (audit.missing.length > 0) faults.push(`${audit.missing.length} acknowledged emails are not stored`);
  if (audit.unreadable.length > 0) faults.push(`${audit.unreadable.length} stored emails are not readable`);
  if (audit.emails !== load.acknowledged.length) {
    faults.push(`${audit.emails} emails for ${load.acknowledged.length} keys`);
  }
  return [...faults, ...faultsOfKeys(load.acknowledged), ...audit.faults];
}

function firstId(submission: Submission): string {
  return submission.answeredIds[0] ?? '';
}

function faultsOfKeys(acknowledged: readonly Submission[]): string[] {
  const torn = acknowledged.filter((submission) => new Set(submission.answeredIds).size !== 1);
  return torn.map(({ idempotencyKey, answeredIds }) => `key ${idempotencyKey}: ${answeredIds.join(', ')}`);
}

/** Acknowledged emails whose delivery the webhook has not been told of. */
function untold({ load, webhooks }: KillWorld): Submission[] {
  const told = new Set(webhooks.received.map(({ body }) => emailIdOf(body)));
  return load.acknowledged.filter((submission) => !told.has(firstId(submission)));
}

function emailIdOf(body: string): string | undefined {
  const event = JSON.parse(body) as { data?: { emailId?: string } };
  return event.data?.emailId;
}

type ShownEmail = { status?: string; recipients?: { status: string; attempts: number }[] };

function describe(body: unknown): string {
  const { status, recipients } = body as ShownEmail;
  return `${status}, ${recipients?.map((one) => `${one.status} after ${one.attempts} attempts`).join(', ')}`;
}

/**
 * Asks the API for every acknowledged email until it is delivered, which it says only when that is on disk.
 * Resolves with those that were not when the time was up.
 */
async function untilDelivered(
  { load, key, delivered }: KillWorld,
  daemon: DaemonProcess,
  signal: AbortSignal,
): Promise<string[]> {
  const open = load.acknowledged.map(firstId).filter((id) => !delivered.has(id));
  const undelivered: string[] = [];
  const ask = async () => {
    for (let id = open.shift(); id !== undefined; id = open.shift()) {
      const { body } = await daemon.request('GET', `/v1/emails/${id}`, key);
      if ((body as ShownEmail).status === 'delivered') delivered.add(id);
      else if (signal.aborted) undelivered.push(`${id} is ${describe(body)}`);
      else {
        open.push(id);
        await sleep(DRAIN_PAUSE_MS);
      }
    }
  };
  await Promise.all(Array.from({ length: ASKING_CLIENTS }, ask));
  return undelivered;
}
