/** Runs the simulation of one plan from its beginning to the end of its mail. */
import type { Config } from '../../src/config/config.ts';
import type { Tx } from '../../src/db/operation.ts';
import { startWarmUp } from '../../src/queue/sources/warm-up/store.ts';
import type { System } from '../../src/system/system.ts';
import { prepareMail } from './accept-mail.ts';
import type { Machine } from './daemon.ts';
import type { SimulatedDatabase } from './database.ts';
import { Host } from './host.ts';
import type { Observation, Observe } from './observation.ts';
import type { MailPlan, Plan } from './plan.ts';
import { choicesOf } from './random.ts';
import { scriptedDns } from './scripted-dns.ts';
import { seedIds } from './seeded-ids.ts';
import { rulesOf, SPAM_REST_MS, settingsOf } from './settings.ts';
import { Supervisor } from './supervisor.ts';
import type { Certificates } from './tls-end.ts';
import { VERIFIED_HOST } from './verified-host.ts';
import { VirtualTime } from './virtual-time.ts';

/** Wall time at which every simulation begins, in Unix milliseconds. */
export const WALL_START_MS = Date.parse('2026-03-01T12:00:00.000Z');
const HOUR_MS = 3_600_000;
/** The curve of config/warm-up.yaml with the least mail on its first day. */
const WARM_UP_CURVE = 'careful';
/** Time that a policy of MTA-STS takes to be fetched. */
const FETCH_MS = 50;
/** Time after the last expiry at which a simulation ends, whatever has not ended then. */
const GRACE_MS = 3 * HOUR_MS;

/** Tools that simulations of a process share, one after another. */
export type Workshop = { database: SimulatedDatabase; certificates: Certificates };

/** A fault that is planted in a simulation (planted.ts). */
export type Tamper = {
  /** Replaces the settings that the daemon is given. */
  settings?(settings: Config): Config;
  /** Time for which a tenant rests after refusals as spam, instead of that of the rule. */
  spamRestMs?: number;
  /** True when neither DANE nor MTA-STS of any domain can be seen. */
  hidesPolicies?: true;
  /** True when several threads deliver, each of which serves all sites as if it were the only one. */
  isUndealt?: true;
  /** Replaces mail as it is stored. */
  mail?(mail: MailPlan): MailPlan;
  /** A write that runs after each commit of the daemon. */
  afterCommit?: Machine['afterCommit'];
  /** Time after which a dial that failed is repeated, without the daemon. */
  redialMs?: number;
};

export type Watcher = {
  observe(observation: Observation, at: number): void;
  /** Returns true when nothing more can happen, or a check has failed. */
  hasEnded(at: number): boolean;
  /** Sees the stored rows once the simulation has ended. */
  finish(read: Tx): Promise<void>;
};

/** Runs the plan, and shows everything that happens to the watcher. Returns the number of events. */
export async function simulate(
  plan: Plan,
  { database, certificates }: Workshop,
  { watcher, tamper = {} }: { watcher: Watcher; tamper?: Tamper },
): Promise<number> {
  const ids = seedIds(plan.seed);
  const time = new VirtualTime();
  const observe = (observation: Observation) => watcher.observe(observation, time.now);
  database.begin({ time, observe, ...commitsOf(plan, time) });
  try {
    const world = { time, observe, nextId: counter() };
    const machine: Machine = {
      ...world,
      database,
      wall: { startMs: WALL_START_MS },
      dns: scriptedDns(plan, {
        ...world,
        daneRecord: tamper.hidesPolicies ? undefined : certificates.daneRecord,
      }),
      hosts: hostsOf(plan, { ...world, certificates }),
      random: choicesOf(plan.seed, 'daemon').fraction,
      threads: tamper.isUndealt ? Math.max(2, plan.threads) : plan.threads,
      isUndealt: tamper.isUndealt ?? false,
      settings: tamper.settings?.(settingsOf(plan)) ?? settingsOf(plan),
      rules: rulesOf(tamper.spamRestMs ?? SPAM_REST_MS),
      fetch: policyFetch(time),
      hasAddress: (address) => !isUnplugged(plan, address, time.now),
      afterCommit: tamper.afterCommit,
      redialMs: tamper.redialMs,
    };
    const accept = await prepareMail(database, { tenants: plan.tenants, now: WALL_START_MS });
    for (const { name: source } of plan.policies.sources.filter(({ isCold }) => isCold))
      await database.commitNow(startWarmUp, { source, curve: WARM_UP_CURVE, startedAt: WALL_START_MS });
    const supervisor = new Supervisor(machine);
    for (const mail of plan.mail) {
      time.after(mail.at, () => {
        const wallMs = Math.floor(machine.wall.startMs + time.now);
        void accept(tamper.mail?.(mail) ?? mail, wallMs).then((queues) => {
          const addresses = mail.recipients.map(({ address }) => address);
          observe({ kind: 'accepted', mail: mail.name, tenant: mail.tenant, addresses });
          supervisor.wake(queues);
        });
      });
    }
    for (const { at, byMs } of plan.faults.clockSteps) {
      time.after(at, () => {
        machine.wall.startMs += byMs;
        observe({ kind: 'clock-set', byMs });
      });
    }
    for (const end of plan.faults.ends) time.after(end.at, () => supervisor.end(end));
    supervisor.start();
    await time.run(lastExpiry(plan) + GRACE_MS, () => watcher.hasEnded(time.now));
    supervisor.kill();
    await watcher.finish(database.read);
    return time.ran;
  } finally {
    await database.end();
    ids.restore();
  }
}

/** Returns a web that has nothing but the policy of MTA-STS of each domain that has one. */
function policyFetch(time: VirtualTime): System['fetch'] {
  const body = Buffer.from(`version: STSv1\nmode: enforce\nmx: ${VERIFIED_HOST}\nmax_age: 86400\n`);
  const answer = { status: 200, headers: { 'content-type': 'text/plain' }, body, truncated: false };
  return () => new Promise((resolve) => void time.after(FETCH_MS, () => resolve(answer as never)));
}

function isUnplugged({ policies }: Plan, address: string, now: number): boolean {
  return policies.sources.some(
    (source) =>
      source.address === address &&
      source.unplugged.some(({ fromMs, untilMs }) => now >= fromMs && now < untilMs),
  );
}

function counter(): () => number {
  let last = 0;
  return () => ++last;
}

function commitsOf({ seed, faults }: Plan, time: VirtualTime) {
  const choices = choicesOf(seed, 'commits');
  return {
    drawCommitMs: () => choices.between(0, faults.commitMs),
    failsCommit: () =>
      faults.failingCommits.some(
        ({ fromMs, untilMs, share }) => time.now >= fromMs && time.now < untilMs && choices.chance(share),
      ),
  };
}

type HostsWorld = {
  time: VirtualTime;
  observe: Observe;
  nextId: () => number;
  certificates: Certificates;
};

function hostsOf({ seed, sites, mail, policies: { spam } }: Plan, world: HostsWorld): Machine['hosts'] {
  const spammed = new Set(mail.filter(({ tenant }) => tenant === spam?.tenant).map(({ name }) => name));
  const fates = new Map(mail.flatMap(({ recipients }) => recipients.map((one) => [one.address, one.fate])));
  const fateOf = (address: string) => fates.get(address) ?? 'unknown';
  return new Map(
    sites
      .flatMap(({ hosts }) => hosts)
      .map((plan) => {
        const choices = choicesOf(seed, plan.address);
        const isSpam = (message: string) => plan.site === spam?.site && spammed.has(message);
        return [plan.address, new Host(plan, { ...world, choices, fateOf, isSpam })];
      }),
  );
}

/** Returns the time by which the last mail has expired, however the clock is set. */
function lastExpiry({ mail, faults }: Plan): number {
  const last = Math.max(...mail.map(({ at, maxAgeMs }) => at + maxAgeMs));
  const setBackMs = faults.clockSteps.reduce((sum, { byMs }) => sum + Math.max(0, -byMs), 0);
  const downMs = faults.ends.reduce((sum, one) => sum + one.downMs, 0);
  return last + setBackMs + downMs;
}
