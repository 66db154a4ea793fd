/**
 * The name server as a part of the daemon, in a thread of its own: a flood of queries does not delay the API, and the API does not
 * delay an answer.
 */
import { createHash } from 'node:crypto';
import type { KeyRecords, listKeyRecords, OperatorRecord } from '../domains/operator-records.ts';
import type { Part } from '../system/thread/part.ts';
import { moduleBeside } from '../system/thread.ts';
import { periodicOrWoken, startWork } from '../system/worker.ts';
import type { SystemApp } from '../thread-app.ts';
import { openListeners } from './listeners/listeners.ts';
import { createResponder, type Outcome } from './respond.ts';
import { serverNames, zoneName, zoneRecords } from './zone/records.ts';
import { buildZone, type Zone } from './zone/zone.ts';

export type NameServerStatus = { addresses: readonly string[]; serial: number; records: number };

export type NameServerCalls = {
  status(): Promise<NameServerStatus>;
  /** Reads the records now, and resolves when they are answered with. */
  reload(): Promise<void>;
};

export type KeyStart = Parameters<typeof listKeyRecords>[1];

/** Functions of the main thread. */
type RecordSource = {
  /** Returns the records that the operator would publish otherwise, but for the keys of domains. */
  listRecords(): Promise<readonly OperatorRecord[]>;
  /** Returns the keys of some domains. They come in parts, so that a hundred thousand of them do not stop the main thread. */
  listKeyRecords(after: KeyStart): Promise<KeyRecords>;
};

/** Maximum heap of the thread. A zone of 100,000 keys takes about 150 MB, most of it outside of the heap. */
const HEAP_MEGABYTES = 512;
/** Time between two readings of the records without any notice of a change. */
const RELOAD_PERIOD_MS = 60_000;
/** Minimum time between two readings, in milliseconds, since one may follow each new domain. */
const MIN_RELOAD_INTERVAL_MS = 1_000;

/**
 * Loads the zone and starts to listen.
 * @throws ListenError
 */
async function startNameServer(app: SystemApp, main: RecordSource): Promise<Part<NameServerCalls>> {
  const loader = createLoader(app, main);
  const answers = app.metrics.counter(
    'nameserver_queries_total',
    'Messages to the name server, by what became of them.',
    ['outcome'],
  );
  const responder = createResponder({
    clock: app.clock,
    zone: loader.zone,
    count: (outcome: Outcome) => answers.inc({ outcome }),
  });
  const listeners = await openListeners(app, app.config.nameserver, responder);
  // The sockets keep the thread alive while the main thread lists the records. Until then, queries are told of a failure.
  await loader.reload();
  app.metrics.gauge('nameserver_records', 'Records of the zone.', () => loader.zone()?.records ?? 0);
  app.log.info({ zone: zoneName(app.config), addresses: listeners.addresses }, 'serving DNS');
  const reload = periodicOrWoken(app, {
    name: 'zone',
    wakeOn: ['zone'],
    periodMs: RELOAD_PERIOD_MS,
    minIntervalMs: MIN_RELOAD_INTERVAL_MS,
    run: loader.reload,
  });
  const work = startWork(app, reload);
  return {
    calls: {
      async status() {
        const { serial = 0, records = 0 } = loader.zone() ?? {};
        return { addresses: listeners.addresses, serial, records };
      },
      reload: loader.reload,
    },
    async stop(graceMs) {
      await Promise.all([listeners.close(graceMs), work.stop(graceMs)]);
    },
  };
}

type Loader = { zone(): Zone | undefined; reload(): Promise<void> };

/** Returns what keeps the zone. Readings follow each other, so that an older one never replaces a newer one. */
function createLoader({ config, clock }: Pick<SystemApp, 'config' | 'clock'>, main: RecordSource): Loader {
  let zone: Zone | undefined;
  let digest = '';
  let last = Promise.resolve();

  async function load(): Promise<void> {
    const printed = [...(await main.listRecords())];
    for (let after: KeyStart | undefined = ''; after !== undefined; ) {
      const part: KeyRecords = await main.listKeyRecords(after);
      printed.push(...part.records);
      after = part.next;
    }
    const records = zoneRecords(config, printed);
    const found = createHash('sha256').update(JSON.stringify(records)).digest('hex');
    if (found === digest) return;
    // The time as serial number grows over restarts too, which keep no other number.
    const serial = Math.max(Math.floor(clock.now() / 1_000), (zone?.serial ?? 0) + 1);
    const [primary = ''] = serverNames(config);
    zone = buildZone(records, { apex: zoneName(config), primary, serial });
    digest = found;
  }

  return {
    zone: () => zone,
    reload() {
      const loading = last.then(load);
      last = loading.catch(() => {});
      return loading;
    },
  };
}

/** A thread that dies loses nothing: it loads the zone again when it starts. */
export const NAME_SERVER_PART = {
  name: 'nameserver',
  module: moduleBeside(import.meta.url, 'name-server-thread'),
  heapMegabytes: HEAP_MEGABYTES,
  start: startNameServer,
};
