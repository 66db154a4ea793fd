/**
 * A clock that jumps under the running daemon: a day forward, a day back, ten years forward, and each time back to where
 * it was. Timers and time-outs run on; mail sent then is delivered then, keys answer the same, and mail that is being
 * retried is not tried in a storm. Needs libfaketime, which leaves the monotonic clock alone.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DaemonProcess, temporaryDirectory } from '../support/daemon.ts';
import { runFaultCycles } from './fault-cycles.ts';
import { repeatUnanswered, untilSettled } from './finish.ts';
import { acceptedId } from './load.ts';
import type { Place, Result } from './part.ts';
import { clockLibrary } from './requirements.ts';
import { withRetries } from './retries.ts';
import { seededRandom } from './seeded-random.ts';
import { MIXED } from './submission.ts';
import { createWorld, DOWN_DOMAIN, SENDER, type World } from './world.ts';

const DAY_MS = 24 * 3_600_000;
const JUMPS = [
  { fake: '+1d', ms: DAY_MS },
  { fake: '-1d', ms: -DAY_MS },
  { fake: '+10y', ms: 3650 * DAY_MS },
] as const;
const LASTS_MS = 4_000;
const DELIVERY_TIMEOUT_MS = 60_000;
/** How exactly the daemon's clock must be where it was put. */
const TOLERANCE_MS = 60_000;
/** More attempts than this in the few seconds of a jump: the first and one more that fell due by the jump. */
const MAX_ATTEMPTS = 2;
/** Of one core while nothing is sent: a timer that is always due would take all of it. */
const MAX_IDLE_SHARE = 0.5;
const IDLE_MS = 2_000;
/** USER_HZ, the unit of /proc/PID/stat; 100 on every Linux Node runs on. */
const TICKS_PER_SECOND = 100;

export async function jumpClock({ cycles, seed }: Place): Promise<Result> {
  const control = join(temporaryDirectory('clock'), 'offset');
  const set = (fake: string) => {
    // In one step: it is read at every look at the clock.
    writeFileSync(`${control}.new`, `${fake}\n`);
    renameSync(`${control}.new`, control);
  };
  set('+0');
  const env = {
    LD_PRELOAD: clockLibrary() ?? '',
    FAKETIME_TIMESTAMP_FILE: control,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    NO_FAKE_STAT: '1',
  };
  // Scheduled mail waits for the clock it was scheduled by, wherever that jumps.
  const mix = { ...MIXED, scheduled: 0 };
  await using world = await createWorld({ random: seededRandom(seed), name: 'clock', env, mix });
  return await runFaultCycles(world, {
    cycles: Math.max(cycles, JUMPS.length),
    lastsMs: LASTS_MS,
    begin: async (daemon, cycle) => {
      await untilQuiet(world, daemon);
      set(jumpOf(cycle).fake);
    },
    inspect: (daemon, cycle) => inspectTime(world, daemon, cycle),
    end: async (daemon) => {
      await untilQuiet(world, daemon);
      set('+0');
    },
    mayBreakConnections: false,
    mustRefuse: false,
  });
}

function jumpOf(cycle: number): (typeof JUMPS)[number] {
  return JUMPS[cycle % JUMPS.length] ?? JUMPS[0];
}

async function untilQuiet(world: World, daemon: DaemonProcess): Promise<void> {
  const signal = AbortSignal.timeout(DELIVERY_TIMEOUT_MS);
  const faults = await repeatUnanswered(world, daemon, signal);
  faults.push(...(await untilSettled(world, daemon, world.load.acknowledged, signal)));
  if (faults.length > 0)
    throw new Error(`mail stands still: ${faults.length} x ${faults[0]}\n${daemon.output()}`);
}

async function inspectTime(world: World, daemon: DaemonProcess, cycle: number): Promise<string[]> {
  const [repeated, storm] = await Promise.all([
    inspectKey(world, daemon, cycle),
    inspectRetries(world, daemon, cycle),
  ]);
  return [...repeated, ...storm];
}

/** The daemon's time is the one it was given, and a key made in it answers the same at once. */
async function inspectKey(world: World, daemon: DaemonProcess, cycle: number): Promise<string[]> {
  const { key } = world;
  const send = () => sendToDown(daemon, key, `again-${cycle}`);
  const [first, second] = [await send(), await send()];
  world.others += 1;
  if (first === undefined || first !== second) return [`a repeated key answers ${first}, then ${second}`];
  const shown = await withRetries(() => daemon.request('GET', `/v1/emails/${first}`, key));
  const { createdAt } = shown.body as { createdAt: string };
  const awayMs = Date.parse(createdAt) - (Date.now() + jumpOf(cycle).ms);
  return Math.abs(awayMs) < TOLERANCE_MS
    ? []
    : [`${jumpOf(cycle).fake}: the daemon's clock says ${createdAt}`];
}

type Attempted = { recipients: { attempts: number }[] };

/** Mail to a host that is down is tried, and then left alone; the daemon's threads are idle when it is. */
async function inspectRetries(world: World, daemon: DaemonProcess, cycle: number): Promise<string[]> {
  const { key } = world;
  const id = await sendToDown(daemon, key, `down-${cycle}`);
  world.others += 1;
  await sleep(LASTS_MS);
  const before = cpuSeconds(daemon.pid);
  await sleep(IDLE_MS);
  const share = ((cpuSeconds(daemon.pid) - before) * 1_000) / IDLE_MS;
  const { body } = await withRetries(() => daemon.request('GET', `/v1/emails/${id}`, key));
  const attempts = Math.max(...(body as Attempted).recipients.map((recipient) => recipient.attempts));
  const { fake } = jumpOf(cycle);
  return [
    ...(attempts > MAX_ATTEMPTS ? [`${fake}: ${attempts} attempts within seconds`] : []),
    ...(share > MAX_IDLE_SHARE ? [`${fake}: ${Math.round(share * 100)} % of a core while idle`] : []),
  ];
}

async function sendToDown(daemon: DaemonProcess, key: string, name: string): Promise<string | undefined> {
  const to = [`${name}@${DOWN_DOMAIN}`];
  const body = { from: SENDER, to, subject: name, text: name, type: 'transactional' };
  const headers = { 'idempotency-key': name };
  return acceptedId(await withRetries(() => daemon.request('POST', '/v1/emails', key, body, headers)));
}

/** proc_pid_stat(5): fields 14 and 15, user and system time of all threads, after the name in parentheses. */
function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
