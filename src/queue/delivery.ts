/** Delivery as the rest of the daemon knows it: its threads, their signs of faults, and the attempts that can be watched. */
import { availableParallelism } from 'node:os';
import type { App } from '../app.ts';
import type { PartThread } from '../system/thread.ts';
import { createPart } from '../thread-app.ts';
import { createHandOver, type HandOver, handNothing } from './contents/handed.ts';
import type { Traces } from './conversation/trace.ts';
import type { LocalReceiver } from './local-receiver.ts';
import type { Sites } from './shaping/site-calls.ts';
import { receiveHanded } from './thread/local-mail.ts';
import { DELIVERY_PART, type DeliveryCalls, type DeliveryHost } from './thread/part.ts';
import { connectPlaces, portsOf } from './thread/peers.ts';
import { type DeliverySigns, NO_SIGNS, signsTogether, type ThreadSigns } from './thread/signs.ts';
import { sitesTogether, tracesTogether, waitsTogether } from './thread/together.ts';
import { RemoteTraces } from './thread/traces.ts';
import type { ExplainWaiting } from './waiting.ts';

export type Delivery = Omit<PartThread<DeliveryCalls>, 'calls'> & {
  readonly signs: DeliverySigns;
  readonly traces: Traces;
  /** Starts to deliver. `receiveLocally` takes the mail for domains that are received here. */
  begin(receiveLocally: LocalReceiver): Promise<void>;
  readonly explainWaiting: ExplainWaiting;
  readonly handOver: HandOver;
  readonly sites: Sites;
};

/** Number of cores from which two threads deliver unless the operator says otherwise. */
const MIN_CORES_FOR_TWO = 8;

/** Returns the delivery of the daemon. Without threads of its own it runs in this one. */
export function createDelivery(app: App, { inThreads }: { inThreads: boolean }): Delivery {
  const count = inThreads ? countThreads(app.config.delivery) : 1;
  let receive: DeliveryHost['receive'] = () => Promise.reject(new Error('delivery has not begun'));
  const threads = Array.from({ length: count }, (_, index) =>
    createDeliveryThread(app, { index, inThreads, receive: (mail) => receive(mail) }),
  );
  const parts = threads.map(({ part }) => part);
  const [first] = parts;
  return {
    failed: Promise.race(parts.map(({ failed }) => failed)),
    get isRunning() {
      return parts.every(({ isRunning }) => isRunning);
    },
    start: async () => void (await Promise.all(parts.map((part) => part.start()))),
    stop: async (graceMs) => void (await Promise.all(parts.map((part) => part.stop(graceMs)))),
    get signs() {
      return signsTogether(threads.map(({ signs }) => signs));
    },
    traces: tracesTogether(threads.map(({ traces }) => traces)),
    async begin(receiveLocally) {
      receive = receiveHanded(receiveLocally);
      const places = connectPlaces(count);
      await Promise.all(places.map((place, index) => parts[index]?.calls.begin(place, portsOf(place))));
    },
    explainWaiting: waitsTogether(threads.map(({ explainWaiting }) => explainWaiting)),
    // When mail is accepted, nobody knows yet which of several threads will send it, and reading a text costs about as much as its crossing (README.md).
    handOver: first && count === 1 ? createHandOver((handed) => first.calls.hand(handed)) : handNothing,
    sites: sitesTogether(parts.map(({ calls }) => calls)),
  };
}

type ThreadOptions = { index: number; inThreads: boolean; receive: DeliveryHost['receive'] };

function createDeliveryThread(app: App, { index, inThreads, receive }: ThreadOptions) {
  let signs: ThreadSigns = NO_SIGNS;
  const host: DeliveryHost = {
    receive,
    tell: (events) => traces.take(events),
    restoreText: ({ html, options }) => app.htmlText.restore(html, options),
    reportDiskFull: async () => app.disk.reportFull(),
    async reportSigns(reported) {
      signs = reported;
    },
  };
  const name = index === 0 ? DELIVERY_PART.name : `${DELIVERY_PART.name} ${index + 1}`;
  const part = createPart<DeliveryCalls, DeliveryHost>(app, { ...DELIVERY_PART, name }, { inThreads, host });
  const traces = new RemoteTraces(part.calls);
  // An email is shown without its reason while the thread starts or ends.
  const explainWaiting: ExplainWaiting = (queues) => part.calls.explainWaiting(queues).catch(() => new Map());
  return {
    part,
    traces,
    explainWaiting,
    get signs() {
      return signs;
    },
  };
}

/** Returns the number of delivery threads. Each of them needs connections of its own. */
function countThreads({ threads, connections }: App['config']['delivery']): number {
  const byCores = availableParallelism() >= MIN_CORES_FOR_TWO ? 2 : 1;
  return Math.min(threads === 0 ? byCores : threads, connections);
}
