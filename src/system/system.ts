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
import { EgressGate } from './egress.ts';
import { createFetch, type Fetch } from './fetch.ts';
import {
  createLog,
  type Log,
  type LogFormat,
  type LogLevel,
  textDestination,
  writtenTogether,
} from './log.ts';
import { createLru } from './lru.ts';
import { type Machine, realMachine } from './machine.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { type Random, realRandom } from './random.ts';
import { createTlsProbe, type TlsProbe } from './tls-probe.ts';
import { createWakeups, type Wakeups } from './wakeups.ts';

/** Maximum number of addresses in a line. */
const MAX_LOGGED_ADDRESSES = 5;
/** Minimum time between two lines about the same host. */
const MIN_INTERVAL_MS = 60_000;
/** Maximum number of hosts that are remembered. */
const MAX_HOSTS = 1_000;

export type System = {
  clock: Clock;
  dns: Dns;
  /** Is held while nothing may leave this machine. `dial` and `fetch` use it too. */
  egress: EgressGate;
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
  machine: Machine;
  /** Shows the certificate that readers see at a public name of this machine. */
  probeTls: TlsProbe;
};

export type SystemOptions = {
  dnsServers: readonly string[];
  /** Resolvers that are believed about DNSSEC although they are not on loopback. */
  trustedResolvers?: readonly string[];
  /** CIDRs that may be connected to although they are not public. */
  allowTargets: readonly string[];
  logLevel: LogLevel;
  /** Form of the lines of the log; JSON unless it is given. */
  logFormat?: LogFormat | undefined;
  crashAt: string | undefined;
  /** Memory of the gate of the main thread, in another one. */
  egress?: SharedArrayBuffer;
};

/** Returns the system of a process. Each value in `overrides` replaces the real one. */
export function createSystem(options: SystemOptions, overrides: Partial<System> = {}): System {
  const clock = overrides.clock ?? realClock;
  const dns =
    overrides.dns ??
    createDns({ clock, servers: options.dnsServers, trusted: options.trustedResolvers ?? [] });
  const log = overrides.log ?? openLog(options);
  const egress = overrides.egress ?? new EgressGate(options.egress);
  const targets = createTargetGuard({
    allow: options.allowTargets,
    own: ownAddresses(),
    onRefused: createRefusalLog(clock, log),
  });
  return {
    clock,
    dns,
    egress,
    targets,
    dial: createDial(targets, clock, egress),
    fetch: createFetch(targets, dns, { egress }),
    log,
    random: realRandom,
    wakeups: createWakeups(),
    metrics: overrides.metrics ?? createMetrics(clock),
    crashPoint: createCrashPoint(options.crashAt),
    statDisk,
    machine: realMachine,
    probeTls: createTlsProbe({ clock, dns }),
    ...overrides,
  };
}

function openLog({ logLevel, logFormat }: SystemOptions): Log {
  const output = writtenTogether();
  return createLog(logLevel, logFormat === 'text' ? textDestination(output) : output);
}

/** Returns the addresses of this machine. Even a public one is not a target, because mail to it would loop. */
function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((entries) =>
    (entries ?? []).map((entry) => entry.address),
  );
}

/**
 * Returns the function that logs the refused addresses of a host. Tenants choose hosts and addresses, so the log
 * volume of one request is limited: a few addresses, and each host once a minute.
 */
export function createRefusalLog(
  clock: Clock,
  log: Pick<Log, 'info'>,
): (host: string, addresses: readonly string[]) => void {
  const loggedAt = createLru<string, number>(MAX_HOSTS);
  return (host, addresses) => {
    const now = clock.elapsed();
    const last = loggedAt.get(host);
    if (last !== undefined && now - last < MIN_INTERVAL_MS) return;
    loggedAt.set(host, now);
    log.info(
      { host, addresses: addresses.slice(0, MAX_LOGGED_ADDRESSES), refused: addresses.length },
      'addresses that are not public were refused',
    );
  };
}
