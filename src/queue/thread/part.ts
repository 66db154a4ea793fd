/**
 * Delivery as a part of the daemon, in a thread of its own: routes, DNS, sessions and TLS, composing and signing. It reads with its own
 * connection, and its claims and outcomes go to the writer thread. The main thread accepts mail, and names the queues that have
 * become due by the wake-up `queue`.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Transferable } from 'node:worker_threads';
import { openReadableBlobs } from '../../blobs/blobs.ts';
import { blobFolder } from '../../blobs/owner.ts';
import { findBlob } from '../../blobs/store.ts';
import { createTableWork } from '../../config/table-file.ts';
import type { HtmlText } from '../../mail/message/html-text.ts';
import type { Log } from '../../system/log.ts';
import type { Part } from '../../system/thread/part.ts';
import { moduleBeside } from '../../system/thread.ts';
import { periodic, type RunningWork, startWork } from '../../system/worker.ts';
import type { QueryingApp } from '../../thread-app.ts';
import { type Handed, HandedSources } from '../contents/handed.ts';
import { DeliveryTrace } from '../conversation/trace.ts';
import { DeliveryMonitor } from '../delivery-monitor.ts';
import { RepliesFile } from '../outcome/replies/replies.ts';
import type { SendingApp } from '../sending-app.ts';
import { openRules } from '../shaping/rules-file.ts';
import type { Sites } from '../shaping/site-calls.ts';
import { type ExplainWaiting, nothingWaits } from '../waiting.ts';
import { startDelivering } from '../worker.ts';
import { createRemoteReceiver, type ReceiveCalls } from './local-mail.ts';
import { type Place, PortPeers } from './peers.ts';
import { NO_SIGNS, type ThreadSigns } from './signs.ts';
import { serveTraces, type TellCalls, type WatchCalls } from './traces.ts';

export type DeliveryCalls = WatchCalls &
  Sites & {
    /** Starts to deliver, at a place among the threads. Mail that was left in flight has been recovered by then. */
    begin(place: Place, ports?: readonly Transferable[]): Promise<void>;
    /** Keeps the sources of accepted mail for its first attempt. */
    hand(handed: readonly Handed[]): Promise<void>;
    /** Says what the due mail of queues waits for. */
    explainWaiting: ExplainWaiting;
  };

type TextToRestore = { html: string; options: Parameters<HtmlText['restore']>[1] };

/** Functions of the main thread. */
export type DeliveryHost = ReceiveCalls &
  TellCalls & {
    /** Generates a text again. The main thread remembers those of mail that was accepted a moment ago. */
    restoreText(input: TextToRestore): ReturnType<HtmlText['restore']>;
    reportDiskFull(): Promise<void>;
    reportSigns(signs: ThreadSigns): Promise<void>;
  };

/**
 * Maximum heap of the thread. The bytes of messages are outside of it; claimed mail and its sessions are not. V8 derives from it how far the
 * old generation may grow between two collections (heap-controller.h of V8): by half with a maximum of 512, and fourfold from 2,048. The
 * thread has about 26 MB that stay, and with 512 it collected them every 350 messages, which took a tenth of all processor time.
 */
const HEAP_MEGABYTES = 2_048;
/** Period with which the signs are looked at, in milliseconds. */
const SIGNS_PERIOD_MS = 1_000;

/** Prepares to deliver. */
function createDeliveryPart(app: QueryingApp, host: DeliveryHost): Part<DeliveryCalls> {
  const trace = new DeliveryTrace();
  const handed = new HandedSources();
  const works: RunningWork[] = [];
  let explainWaiting = nothingWaits;
  let sites = NO_SITES;
  let peers: PortPeers | undefined;
  return {
    calls: {
      ...serveTraces(trace, host),
      hand: async (sources) => handed.keep(sources),
      explainWaiting: (queues) => explainWaiting(queues),
      listKept: () => sites.listKept(),
      explainSites: (named) => sites.explainSites(named),
      disconnect: (request) => sites.disconnect(request),
      liftRests: (request) => sites.liftRests(request),
      forgetLearned: (named) => sites.forgetLearned(named),
      async begin(place) {
        peers = new PortPeers(place);
        const monitor = new DeliveryMonitor(app);
        const replies = new RepliesFile({ ...app, log: SILENT });
        // One of the threads reports on the rules, which all of them read.
        const rules = openRules(place.share.index === 0 ? app : { ...app, log: SILENT });
        const delivering = startDelivering(sendingApp(app, host), createRemoteReceiver(host), {
          replies,
          rules,
          monitor,
          trace,
          handed,
          peers,
        });
        explainWaiting = (queues) => delivering.explainWaiting(queues);
        sites = delivering.sites;
        works.push(
          delivering,
          startWork(app, createTableWork(app, replies)),
          startWork(app, createTableWork(app, rules)),
          startWork(app, createSignsWork(app, monitor, host)),
        );
      },
    },
    async stop(graceMs) {
      await Promise.all(works.map((work) => work.stop(graceMs)));
      peers?.close();
    },
  };
}

/** The sites of a thread that does not deliver yet. */
const NO_SITES: Sites = {
  listKept: async () => ({ kept: [], total: 0, sites: [] }),
  explainSites: async () => [],
  disconnect: async () => [],
  liftRests: async () => [],
  forgetLearned: async () => [],
};

/** The main thread reads the same reply table, and reports on it. */
const SILENT: Record<'info' | 'error', Log['info']> = { info() {}, error() {} };

function sendingApp(app: QueryingApp, host: DeliveryHost): SendingApp {
  const owner = {
    root: blobFolder(app.config.dataDir),
    find: (id: string) => findBlob(app.db.read, id),
  };
  const disk = { reportFull: () => void host.reportDiskFull().catch(() => {}) };
  return {
    ...app,
    blobs: openReadableBlobs({ ...app, disk }, owner),
    htmlText: { restore: (html, options) => host.restoreText({ html, options }) },
  };
}

/** Returns the work that reports the signs when they have changed. */
function createSignsWork({ clock }: QueryingApp, monitor: ThreadSigns, host: DeliveryHost) {
  let reported = NO_SIGNS;
  return periodic(clock, {
    name: 'signs of deliveries',
    periodMs: SIGNS_PERIOD_MS,
    async run() {
      const { deliversNothing, failsDns, hasDelivered } = monitor;
      const signs = { deliversNothing, failsDns, hasDelivered };
      if (isDeepStrictEqual(signs, reported)) return;
      reported = signs;
      await host.reportSigns(reported);
    },
  });
}

/** The daemon is there to deliver, so it ends with this thread, and the next start recovers what was in flight. */
export const DELIVERY_PART = {
  name: 'delivery',
  module: moduleBeside(import.meta.url, 'delivery-thread'),
  heapMegabytes: HEAP_MEGABYTES,
  isVital: true,
  start: createDeliveryPart,
} as const;
