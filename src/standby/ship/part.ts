/**
 * The sending to the standby store as a part of the daemon, in a thread of its own: what is sent is compressed and encrypted there, which
 * delays nothing else.
 */
import { join } from 'node:path';
import type { ChangedPages } from '../../db/changed-pages.ts';
import { openStore, type StoreSettings } from '../../objects/open-store.ts';
import type { Part } from '../../system/thread/part.ts';
import { moduleBeside } from '../../system/thread.ts';
import type { SystemApp } from '../../thread-app.ts';
import type { Cut } from '../cut.ts';
import { Remote } from '../follow/remote.ts';
import { newGeneration } from '../names.ts';
import { type Owner, standbyFolder } from '../owner.ts';
import { writeSegment } from '../segment/write.ts';
import { Ownership } from './ownership.ts';
import { Sender, type StoredSegment } from './sender.ts';
import { Spool, type SpooledBase } from './spool.ts';

/** The changes of a cut. Paths are relative to the data directory. */
export type ShippedSegment = {
  /** The cut as each generation has it: while a new base is sent, it belongs to two. */
  cuts: readonly Omit<Cut, 'previous'>[];
  databases: readonly { path: string; pages: ChangedPages }[];
  files: readonly string[];
};

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
   * @throws StoreError
   */
  begin(input: { now: number }): Promise<{ generation: string; folder: string }>;
  /** Adds a base that is complete, which is sent from then on. */
  addBase(input: SpooledBase): Promise<void>;
  /** Ends a generation, which gets no further segments. It is removed when its base was never made. */
  end(input: { generation: string }): Promise<void>;
  /** Stores a segment on disk, from where it is sent. */
  addSegment(input: ShippedSegment, transfer?: readonly ArrayBuffer[]): Promise<void>;
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
  const store = openStore(app, settings);
  const spool = new Spool(join(standbyFolder(dataDir), 'spool'));
  const sender = new Sender(app, { store, spool, installation, keepDays: () => app.config.standby.keepDays });
  const ownership = new Ownership(app, {
    store,
    installation,
    onOwner: () => sender.start(),
    onReplaced: () => sender.stop(),
  });
  /** SHA-256 of the last segment of each generation that is shipped. */
  const previous = new Map<string, string>();
  ownership.start();
  return {
    calls: {
      async begin({ now }) {
        const generation = newGeneration(
          now,
          (await new Remote(store, installation).listGenerations()).at(-1),
        );
        return { generation, folder: await spool.begin(generation) };
      },
      async addBase(base) {
        await spool.addBase(base);
        sender.wake();
      },
      async end({ generation }) {
        previous.delete(generation);
        await spool.end(generation);
      },
      async addSegment({ cuts, databases, files }) {
        const { recipients } = app.config.backup;
        const shipped = { databases, files: files.map((path) => ({ path, from: join(dataDir, path) })) };
        for (const cut of cuts) {
          const { generation, sequence } = cut;
          const segment = { ...shipped, cut: { ...cut, previous: previous.get(generation) ?? null } };
          const written = await writeSegment(segment, recipients, spool.partialPath(generation));
          await spool.addSegment({ generation, sequence, bytes: written.bytes });
          previous.set(generation, written.sha256);
        }
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
      ownership.stop();
      await sender.stop();
      await store.close();
    },
  };
}

/** The segments of a thread that dies wait on disk, and its successor sends them. */
export const SHIP_PART = {
  name: 'standby',
  module: moduleBeside(import.meta.url, 'ship-thread'),
  heapMegabytes: HEAP_MEGABYTES,
  start: startShipping,
};
