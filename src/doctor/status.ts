/** Sums up the state of the installation for the operator, from what is stored. Nothing is looked up. */
import type { App } from '../app.ts';
import { findRestoredAt } from '../db/installation/store.ts';
import { countHeld } from '../queue/held/store.ts';
import { isoTime } from '../system/clock.ts';
import { countTasks } from '../tasks/read-store.ts';
import { listTenants } from '../tenants/store.ts';
import { VERSION } from '../version.ts';
import type { CheckApp } from './check.ts';
import { countDomainsByStatus, listCheckStates, listFindings } from './store.ts';

/** The state of the installation. `findings` are those of the last hourly run of the checks that were not well. */
export type Status = {
  version: string;
  /** Time at which this process was started. */
  startedAt: string;
  hostname: string;
  dataDir: string;
  freeBytes: number | null;
  tenants: number;
  domains: Record<string, number>;
  held: number;
  waitingTasks: number;
  failedTasks: number;
  /** Time at which the first of the certificates in use expires; null when there is none. */
  certificatesExpireAt: string | null;
  findings: { warn: number; fail: number };
  /** Time of the last hourly run of the checks; null before the first. */
  checkedAt: string | null;
  /** Delay of the event loop of each thread in the last second, 99th percentile, in milliseconds. */
  threads: { thread: string; p99Ms: number }[];
  /** Time of the restoration from a backup; null when nothing is kept back. */
  restoredAt: string | null;
};

/** Returns the state of the installation. */
export async function readStatus(app: App & CheckApp): Promise<Status> {
  const { db, config } = app;
  const [tasks, certificates, findings, checks, domains, tenants, held, restoredAt] = await Promise.all([
    db.query(countTasks, undefined),
    app.certificates.list(),
    listFindings(db.read),
    listCheckStates(db.read),
    db.query(countDomainsByStatus, {}),
    listTenants(db.read),
    countHeld(db.read),
    findRestoredAt(db.read),
  ]);
  const expiries = certificates.flatMap(({ expiresAt }) => expiresAt ?? []);
  const countLevel = (level: 'warn' | 'fail') => findings.filter((finding) => finding.level === level).length;
  const checkedAt = Math.max(...checks.map(({ ranAt }) => ranAt ?? 0));
  return {
    version: VERSION,
    startedAt: isoTime(app.clock.now() - Math.round(app.clock.elapsed())),
    hostname: config.hostname,
    dataDir: config.dataDir,
    freeBytes: app.disk.freeBytes ?? null,
    tenants: tenants.length,
    domains,
    held,
    waitingTasks: sum(tasks.map(({ waiting }) => waiting)),
    failedTasks: sum(tasks.map(({ failed }) => failed)),
    certificatesExpireAt: expiries.toSorted()[0] ?? null,
    findings: { warn: countLevel('warn'), fail: countLevel('fail') },
    checkedAt: checkedAt > 0 ? isoTime(checkedAt) : null,
    threads: app.metrics.loopDelays(),
    restoredAt: restoredAt === null ? null : isoTime(restoredAt),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
