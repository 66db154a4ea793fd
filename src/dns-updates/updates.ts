/**
 * Keeps the printed records, and those of verified domains, published at the primary of the configuration. Each pass compares what is printed with what the server has,
 * and changes what differs; it can stop anywhere, and the next one goes on.
 */
import type { App } from '../app.ts';
import { listOperatorRecords, type MoreRecords } from '../domains/operator-records.ts';
import type { Domain } from '../domains/store.ts';
import { isSameOrBelow } from '../mail/domain-names.ts';
import { type TextPlace, zoneTextRecords } from '../nameserver/texts.ts';
import { plainAddress } from '../system/address-block.ts';
import { periodicOrWoken, type Work } from '../system/worker.ts';
import type { UpdateType, ValueSet } from './message.ts';
import { markName, markOf, planUpdate, zoneOf } from './plan.ts';
import { openPrimary, type Primary, PrimaryError } from './primary.ts';
import { listWritten, putWritten } from './store.ts';
import { listTenantRecords } from './tenant-records.ts';

type RecordState = {
  name: string;
  type: UpdateType;
  state: 'in_place' | 'written' | 'removed' | 'conflict' | 'failed';
  /** Advice to the operator, or the reason of the failure. */
  detail: string;
};

export type UpdateReport = {
  enabled: boolean;
  server: string;
  zones: readonly string[];
  /** Time of the end of the last pass in ISO 8601; null before the first. */
  finishedAt: string | null;
  /** Why the last pass could not go on; null when it could. */
  problem: string | null;
  records: readonly RecordState[];
};

export type DnsUpdates = TextPlace & {
  readonly report: UpdateReport;
  /** Makes a pass that begins from now on, and returns its report. Calls that wait share one. */
  run(): Promise<UpdateReport>;
  /**
   * Makes a pass that also publishes a domain that is not verified, as the operator has decided. Once its key is published, later passes know it by
   * that. Returns the report with the records of the domain alone.
   */
  publishDomain(domain: Pick<Domain, 'id' | 'name'>): Promise<UpdateReport>;
};

/** Time between two passes without a notice of a change. It is also the delay after a pass that has failed. */
const PERIOD_MS = 5 * 60_000;
/** Minimum time between two passes, in milliseconds. */
const MIN_INTERVAL_MS = 5_000;

type UpdatesApp = Pick<App, 'config' | 'db' | 'clock' | 'dns' | 'sealer' | 'log' | 'egress'>;

/** Returns the updates of this installation, which do nothing until `run` or `publishText` is called. `printed` are records besides those of domains. */
export function createDnsUpdates(app: UpdatesApp, printed: readonly MoreRecords[]): DnsUpdates {
  const { server, zones } = app.config.dns.update;
  const enabled = server !== '';
  const chosen = new Set<Domain['id']>();
  const more = [...printed, () => zoneTextRecords(app)];
  let report: UpdateReport = { enabled, server, zones, finishedAt: null, problem: null, records: [] };
  let last: Promise<unknown> = Promise.resolve();
  /** The pass that begins when the running one has ended. */
  let next: Promise<UpdateReport> | undefined;

  async function pass(): Promise<UpdateReport> {
    const records: RecordState[] = [];
    const problem = await updateAll(app, { more, chosen }, records).then(
      () => null,
      (error: unknown) => {
        if (error instanceof PrimaryError) return error.message;
        throw error;
      },
    );
    if (problem !== report.problem && problem !== null)
      app.log.warn({ server, problem }, 'DNS records could not be published');
    const finishedAt = new Date(app.clock.now()).toISOString();
    report = { enabled, server, zones, finishedAt, problem, records };
    return report;
  }

  async function run(): Promise<UpdateReport> {
    if (!enabled) return report;
    if (next) return next;
    const begun = last.then(() => {
      next = undefined;
      return pass();
    });
    next = begun;
    last = begun.catch(() => {});
    return begun;
  }

  return {
    get report() {
      return report;
    },
    run,
    async publishDomain({ id, name }) {
      chosen.add(id);
      const all = await run();
      return { ...all, records: all.records.filter((record) => isSameOrBelow(record.name, name)) };
    },
    hasName: (name) => enabled && zoneOf(name, lowerCase(zones)) !== undefined,
    async publishText(name) {
      const { problem, records } = await run();
      const found = records.find((record) => record.name === name && record.type === 'TXT');
      if (found?.state === 'written' || found?.state === 'in_place') return undefined;
      return problem ?? found?.detail ?? 'it was not reached';
    },
  };
}

/** Returns the work that makes passes by itself; it does nothing without a server in the configuration. */
export function createUpdateWork(
  app: Pick<App, 'clock' | 'wakeups'> & { dnsUpdates: DnsUpdates },
): Work<'run'> {
  return periodicOrWoken(app, {
    name: 'DNS updates',
    wakeOn: ['zone'],
    periodMs: PERIOD_MS,
    minIntervalMs: MIN_INTERVAL_MS,
    run: async () => void (await app.dnsUpdates.run()),
  });
}

/** Brings all names up to date, one after the other, and adds their states to `states`. @throws PrimaryError */
async function updateAll(
  app: UpdatesApp,
  { more, chosen }: { more: readonly MoreRecords[]; chosen: ReadonlySet<Domain['id']> },
  states: RecordState[],
): Promise<void> {
  const zones = lowerCase(app.config.dns.update.zones);
  const [{ records }, rows] = await Promise.all([
    listOperatorRecords(app, more),
    app.db.query(listWritten, {}),
  ]);
  const printed = records.flatMap(({ name, type, value, ttlSeconds }) =>
    // TLSA and CAA depend on what else the zone has: whether it is signed, and which other authorities are in use.
    type === 'TLSA' || type === 'CAA' ? [] : [{ name, type, value, ttlSeconds }],
  );
  const written = setsOf(rows);
  const tenants = await listTenantRecords(app, {
    zones,
    taken: new Set(records.map(({ name }) => name)),
    written: new Set(written.keys()),
    chosen,
  });
  const wanted = setsOf([...printed, ...tenants]);
  const primary = await openPrimary(app);
  for (const key of changesFirst(wanted, written)) {
    const set = wanted.get(key) ?? { ...written.get(key), values: [] };
    const { name = '', type = 'TXT' } = set;
    const zone = zoneOf(name, zones);
    if (zone === undefined) continue;
    const before = written.get(key)?.values ?? [];
    states.push(await updateSet(app, primary, { zone, wanted: { ...set, name, type }, before }));
  }
}

type Change = { zone: string; wanted: ValueSet; before: readonly string[] };

async function updateSet(
  { db }: UpdatesApp,
  primary: Primary,
  { zone, wanted, before }: Change,
): Promise<RecordState> {
  const { name, type, values } = wanted;
  const state = (kind: RecordState['state'], detail = ''): RecordState => ({
    name,
    type,
    state: kind,
    detail,
  });
  const found = await primary.ask(name, type);
  const marks = (await primary.ask(markName(name), 'TXT')) ?? [];
  const mark = markOf(db.installation.id, type);
  const plan = planUpdate({ zone, mark, wanted, found, marks, written: before });
  if (plan.kind === 'conflict') return state('conflict', plan.advice);
  if (plan.kind === 'update') {
    const refusal = await primary.update(plan.update);
    if (refusal !== undefined) return state('failed', refusal);
  }
  // A pass that was cut off after its update finds its mark here, and stores what it has written.
  const owned = plan.kind === 'update' || plan.isOwned ? values : [];
  if (owned.join('\n') !== before.join('\n')) await db.commit(putWritten, { name, type, values: owned });
  if (plan.kind === 'in_place') return state('in_place');
  return state(values.length > 0 ? 'written' : 'removed');
}

type Sets = ReadonlyMap<string, ValueSet>;

function lowerCase(names: readonly string[]): string[] {
  return names.map((name) => name.toLowerCase());
}

/** Returns the keys of all sets. Those that are not as they were written come first, because a pass through thousands takes minutes. */
export function changesFirst(wanted: Sets, written: Sets): string[] {
  const valuesOf = (sets: Sets, key: string) => sets.get(key)?.values.join('\n');
  const isWritten = (key: string) => valuesOf(wanted, key) === valuesOf(written, key);
  const keys = [...new Set([...wanted.keys(), ...written.keys()])];
  return keys.toSorted((one, other) => Number(isWritten(one)) - Number(isWritten(other)));
}

type ListedRecord = { name: string; type: UpdateType; value: string; ttlSeconds?: number | undefined };

/** Returns the records by name and type, their values in a fixed order, and each address in one spelling, as answers are read. */
export function setsOf(records: readonly ListedRecord[]): Map<string, ValueSet> {
  const groups = Map.groupBy(records, ({ name, type }) => `${type} ${name}`);
  return new Map(
    [...groups].map(([key, group]) => {
      const { name = '', type = 'TXT', ttlSeconds } = group[0] ?? {};
      // A text that is no address stays as it is.
      const values = new Set(group.map(({ value }) => (type === 'TXT' ? value : plainAddress(value))));
      return [
        key,
        { name, type, values: [...values].toSorted(), ...(ttlSeconds !== undefined && { ttlSeconds }) },
      ];
    }),
  );
}
