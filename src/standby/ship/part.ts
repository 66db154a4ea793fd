/**
 * The sending to the standby store as a part of the daemon, in a thread of its own: what is sent is compressed and encrypted there, which
 * delays nothing else.
 */
import { join } from 'node:path';
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import type { ObjectStore } from '../../objects/object-store.ts';
import { openStore, type StoreSettings } from '../../objects/open-store.ts';
import type { Part } from '../../system/thread/part.ts';
import { moduleBeside } from '../../system/thread.ts';
import type { SystemApp } from '../../thread-app.ts';
import { Chain } from '../chain/chain.ts';
import { listAccounts, type Scanned, scan } from '../chain/scan.ts';
import { Remote } from '../follow/remote.ts';
import { newGeneration } from '../names.ts';
import { type Owner, standbyFolder } from '../owner.ts';
import { CutWriter, type ShippedSegment } from './cut-writer.ts';
import { Ownership } from './ownership.ts';
import { findResumable, type Resumable } from './resumable.ts';
import { Sender, type StoredSegment } from './sender.ts';
import { Spool, type SpooledBase } from './spool.ts';

/** The state of shipping in its thread. */
export type ShipState = {
  stored: StoredSegment | undefined;
  /** Size of the segments that wait for the store, in bytes. */
  waitingBytes: number;
  /** The reason why the store did not take the last object; undefined when it did. */
  failure: string | undefined;
  /** The host that has taken the place of this one; undefined when none has. */
  replacedBy: Owner | undefined;
  objects: number;
  bytes: number;
};

export type ShipCalls = {
  /**
   * Begins a generation, whose name comes after those in the store. Returns it with the path of the folder in which its base is made.
   * `isFirst` is true when none goes on: the chain of earlier ones is forgotten.
   * @throws StoreError
   */
  begin(input: { now: number; isFirst: boolean }): Promise<{ generation: string; folder: string }>;
  /** Returns the generation that can go on; null when there is none. @throws StoreError */
  resume(input: null): Promise<Resumable | null>;
  /** Lists the accounts whose databases have a WAL. */
  listWithWal(input: null): Promise<MailboxRow['id'][]>;
  /**
   * Compares all databases and files with what a follower has, or with nothing when a base has everything. All changes are followed since before. Returns the
   * accounts whose databases have a WAL; `too much` when the differences are too many for a segment.
   */
  scan(input: { isBase: boolean }): Promise<{ withWal: MailboxRow['id'][] } | 'too much'>;
  /** Adds a base that is complete, which is sent from then on. */
  addBase(input: SpooledBase): Promise<void>;
  /** Ends a generation, which gets no further segments. It is removed when its base was never made. */
  end(input: { generation: string }): Promise<void>;
  /**
   * Stores a segment on disk, from where it is sent. `hasScan` is true for the first one that was collected after a scan, whose differences
   * become a part of it.
   */
  addSegment(input: ShippedSegment & { hasScan: boolean }, transfer?: readonly ArrayBuffer[]): Promise<void>;
  state(input: null): Promise<ShipState>;
};

/** Data of the start of the thread. */
type ShipData = { installation: string; settings: StoreSettings };

/** Maximum heap of the thread. Pages and pieces are outside of it. */
const HEAP_MEGABYTES = 192;

/** Starts the part. */
async function startShipping(
  app: SystemApp,
  _host: Record<string, never>,
  { installation, settings }: ShipData,
): Promise<Part<ShipCalls>> {
  const { dataDir } = app.config;
  const folder = standbyFolder(dataDir);
  const store = openStore(app, settings);
  const remote = new Remote(store, installation);
  const chain = new Chain(join(folder, 'chain'), () => {
    return { installation, recipients: app.config.backup.recipients };
  });
  const spool = new Spool(join(folder, 'spool'), chain.isKnown ? chain.last?.cuts : []);
  const { sender, ownership } = createSender(app, { store, spool, installation });
  const writer = new CutWriter(app, { spool, chain });
  const stopping = new AbortController();
  let scanned: Scanned | undefined;
  /** Number of the last scan. One that ends after a later beginning is of no use. */
  let scans = 0;
  const forgetScan = (): void => {
    scans++;
    scanned = undefined;
    chain.dropScan();
  };
  ownership.start();
  return {
    calls: {
      async begin({ now, isFirst }) {
        const generation = newGeneration(now, (await remote.listGenerations()).at(-1));
        if (isFirst) {
          forgetScan();
          for (const cut of chain.last?.cuts ?? []) await spool.end(cut.generation);
          chain.reset();
        }
        return { generation, folder: await spool.begin(generation) };
      },
      async resume() {
        forgetScan();
        return (await findResumable(remote, { spool, chain })) ?? null;
      },
      async listWithWal() {
        return (await listAccounts(dataDir)).filter(({ hasWal }) => hasWal).map(({ id }) => id);
      },
      async scan({ isBase }) {
        const known = isBase ? undefined : chain.load();
        if (!isBase && !known) throw new Error('the pages that a follower has are not known');
        const own = ++scans;
        const found = await scan({ dataDir, known, now: app.clock.now(), signal: stopping.signal });
        if (own !== scans) throw new Error('the generation has ended');
        if (!found) return 'too much';
        chain.keepScan(found.shipped, isBase ? 0 : (chain.last?.number ?? 0));
        scanned = found;
        app.crashPoint('shipping-scanned');
        return { withWal: found.withWal };
      },
      async addBase(base) {
        await spool.addBase(base);
        sender.wake();
      },
      end: ({ generation }) => spool.end(generation),
      async addSegment({ hasScan, ...segment }) {
        if (hasScan && !scanned) throw new Error('the scan before this segment is not known');
        await writer.add(segment, hasScan ? scanned : undefined);
        if (hasScan) scanned = undefined;
        sender.wake();
      },
      state: async () => ({
        stored: sender.stored,
        waitingBytes: spool.bytes,
        failure: sender.failure ?? ownership.failure,
        replacedBy: ownership.replacedBy,
        objects: sender.objects,
        bytes: sender.bytes,
      }),
    },
    async stop() {
      stopping.abort();
      ownership.stop();
      await sender.stop();
      await store.close();
    },
  };
}

type Sending = { store: ObjectStore; spool: Spool; installation: string };

/** Returns what sends, and what sees to it that this host may. */
function createSender(
  app: SystemApp,
  { store, spool, installation }: Sending,
): { sender: Sender; ownership: Ownership } {
  const ownership = new Ownership(app, {
    store,
    installation,
    onOwner: () => sender.start(),
    onReplaced: () => sender.stop(),
  });
  const sender = new Sender(app, {
    store,
    spool,
    installation,
    keepDays: () => app.config.standby.keepDays,
    requireOwner: () => ownership.requireOwner(),
  });
  return { sender, ownership };
}

/** The segments of a thread that dies wait on disk, and its successor sends them. */
export const SHIP_PART = {
  name: 'standby',
  module: moduleBeside(import.meta.url, 'ship-thread'),
  heapMegabytes: HEAP_MEGABYTES,
  start: startShipping,
};
