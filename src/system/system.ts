/**
 * The outside world as one value. Functions name the part that they need, such as `Pick<System, 'clock' | 'dial'>`;
 * tests replace these parts and nothing else.
 */
import { networkInterfaces } from 'node:os';
import { createTargetGuard, type TargetGuard } from './blocklist.ts';
import { type Clock, realClock } from './clock.ts';
import { type CrashPoint, createCrashPoint } from './crash-point.ts';
import { createDial, type Dial } from './dial.ts';
import { type StatDisk, statDisk } from './disk-space.ts';
import { createDns, type Dns } from './dns.ts';
import { createFetch, type Fetch } from './fetch.ts';
import { createLog, type Log, type LogLevel } from './log.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { type Random, realRandom } from './random.ts';
import { createRefusalLog } from './refusal-log.ts';
import { createTlsProbe, type TlsProbe } from './tls-probe.ts';
import { createWakeups, type Wakeups } from './wakeups.ts';

export type System = {
  clock: Clock;
  dns: Dns;
  /** Checks addresses that DNS names before any of them is dialled. `dial` and `fetch` use it too. */
  targets: TargetGuard;
  dial: Dial;
  fetch: Fetch;
  log: Log;
  random: Random;
  wakeups: Wakeups;
  metrics: Metrics;
  crashPoint: CrashPoint;
  statDisk: StatDisk;
  /** Shows the certificate that readers see at a public name of this machine. */
  probeTls: TlsProbe;
};

export type SystemOptions = {
  dnsServers: readonly string[];
  /** CIDRs that may be connected to although they are not public. */
  allowTargets: readonly string[];
  logLevel: LogLevel;
  crashAt: string | undefined;
};

/** Returns the system of a process. Each value in `overrides` replaces the real one. */
export function createSystem(options: SystemOptions, overrides: Partial<System> = {}): System {
  const clock = overrides.clock ?? realClock;
  const dns = overrides.dns ?? createDns({ clock, servers: options.dnsServers });
  const log = overrides.log ?? createLog(options.logLevel);
  const targets = createTargetGuard({
    allow: options.allowTargets,
    own: ownAddresses(),
    onRefused: createRefusalLog(clock, log),
  });
  return {
    clock,
    dns,
    targets,
    dial: createDial(targets, clock),
    fetch: createFetch(targets, dns),
    log,
    random: realRandom,
    wakeups: createWakeups(),
    metrics: overrides.metrics ?? createMetrics(clock),
    crashPoint: createCrashPoint(options.crashAt),
    statDisk,
    probeTls: createTlsProbe({ clock, dns }),
    ...overrides,
  };
}

/** Returns the addresses of this machine. Even a public one is not a target, because mail to it would loop. */
function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((entries) =>
    (entries ?? []).map((entry) => entry.address),
  );
}
