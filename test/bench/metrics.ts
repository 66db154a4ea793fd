/**
 * `GET /v1/metrics` of 90 days with a million emails: its p99 with every group and filter, and whether its sums are those of
 * the events. Reports of a month by hour, which read more rows, stand below it. `BENCH_EMAILS` makes the row smaller for a first look.
 */
import { DAY_MS } from '../../src/system/clock.ts';
import type { DaemonProcess } from '../support/daemon.ts';
import { ask, type Directory, makeDirectory, measureOn } from './daemon.ts';
import type { DaySums, MetricsInput } from './metrics-program.ts';
import { median, percentile } from './percentile.ts';
import { treeMemory } from './process-tree.ts';
import { runModule } from './program.ts';
import type { Group, Measure } from './row.ts';
import type { Workspace } from './workspace.ts';

const EMAILS = Number(process.env['BENCH_EMAILS'] ?? 1_000_000);
const DAYS = 90;
const REQUESTS_PER_KIND = 200;
/** A report by tag reads its emails, so it is asked for less often. */
const REPORTS_BY_TAG = 5;

type Store = Directory & { untilMs: number; days: DaySums[] };

export const metrics: Group = {
  name: 'metrics',
  async prepare(workspace) {
    let filled: Promise<Store> | undefined;
    return {
      rows: [
        {
          name: `Postrider: slowest p99 of GET /v1/metrics, ${DAYS} days, ${EMAILS.toLocaleString('en')} emails`,
          unit: 'ms',
          aim: 'under 50 ms, equal to a recount',
          async measure() {
            filled ??= fill(workspace);
            return measureReports(await filled);
          },
        },
      ],
    };
  },
};

async function fill(workspace: Workspace): Promise<Store> {
  const directory = await makeDirectory(workspace, 'metrics');
  const beganAt = Date.now();
  const untilMs = Math.floor(beganAt / DAY_MS) * DAY_MS;
  const input: MetricsInput = { ...directory, emails: EMAILS, days: DAYS, untilMs };
  const days = await runModule<DaySums[]>('metrics-program.ts', input);
  console.error(`metrics: filled in ${Date.now() - beganAt} ms`);
  return { ...directory, untilMs, days };
}

function measureReports(store: Store): Promise<Measure> {
  return measureOn(store, async (daemon) => {
    await compare(daemon, store);
    return measureKinds(daemon, store);
  });
}

type Row = { start: string } & Record<string, unknown>;

function report(daemon: DaemonProcess, { key }: Store, query: string): Promise<{ data: Row[] }> {
  return ask(daemon, ['GET', `/v1/metrics?${query}`, key]);
}

/** Fails unless each day has the sums of its events. */
async function compare(daemon: DaemonProcess, store: Store): Promise<void> {
  const { data } = await report(daemon, store, rangeOf(store, DAYS));
  if (data.length !== store.days.length)
    throw new Error(`${data.length} days instead of ${store.days.length}`);
  for (const [index, { start, sums }] of store.days.entries()) {
    const row = data[index];
    if (row?.start !== new Date(start).toISOString()) throw new Error(`${row?.start} instead of ${start}`);
    for (const [counter, sum] of Object.entries(sums))
      if (row[counter] !== sum)
        throw new Error(`${row.start}: ${counter} is ${row[counter]} instead of ${sum}`);
  }
}

function rangeOf({ untilMs }: Pick<Store, 'untilMs'>, days: number): string {
  const time = (ms: number) => new Date(ms).toISOString();
  return `from=${time(untilMs - days * DAY_MS)}&to=${time(untilMs)}`;
}

function kindsOf(store: Store): Readonly<Record<string, string>> {
  const [quarter, month] = [rangeOf(store, DAYS), rangeOf(store, 31)];
  return {
    '90 days': quarter,
    '90 days by provider': `${quarter}&groupBy=provider`,
    '90 days by domain': `${quarter}&groupBy=domain`,
    '90 days by broadcast': `${quarter}&groupBy=broadcast`,
    '90 days of gmail': `${quarter}&provider=gmail`,
    '90 days of broadcasts': `${quarter}&type=broadcast`,
    '31 days by hour': `${month}&interval=hour`,
    '31 days by hour and provider': `${month}&interval=hour&groupBy=provider`,
  };
}

async function measureKinds(daemon: DaemonProcess, store: Store): Promise<Measure> {
  const all: number[] = [];
  const slowest: Record<string, number> = {};
  const timed = async (query: string): Promise<number> => {
    const askedAt = performance.now();
    await report(daemon, store, query);
    return performance.now() - askedAt;
  };
  const kinds = Object.entries(kindsOf(store));
  // Slowness of the first request alone does not count.
  for (const [, query] of kinds) await timed(query);
  for (const [name, query] of kinds) {
    const times: number[] = [];
    for (let request = 0; request < REQUESTS_PER_KIND; request++) times.push(await timed(query));
    all.push(...times);
    slowest[`p99 of ${name}`] = percentile(times, 0.99);
  }
  const ofQuarter = Object.entries(slowest).flatMap(([name, ms]) =>
    name.includes(`${DAYS} days`) ? [ms] : [],
  );
  const byTag: number[] = [];
  const tagged = `${rangeOf(store, 31)}&tag=campaign:c0`;
  for (let report = 0; report < REPORTS_BY_TAG; report++) byTag.push(await timed(tagged));
  return {
    figure: Math.max(...ofQuarter),
    p50Ms: median(all),
    p99Ms: percentile(all, 0.99),
    memory: treeMemory([daemon.pid]),
    details: { ...slowest, '31 days of a tag of one of 50 emails, p50': median(byTag) },
  };
}
