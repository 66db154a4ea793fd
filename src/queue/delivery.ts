/** Delivery as the rest of the daemon knows it: its thread, its signs of faults, and the attempts that can be watched. */
import type { App } from '../app.ts';
import type { PartThread } from '../system/thread.ts';
import { createPart } from '../thread-app.ts';
import { createHandOver, type HandOver } from './contents/handed.ts';
import type { Traces } from './conversation/trace.ts';
import type { LocalReceiver } from './local-receiver.ts';
import type { Sites } from './shaping/site-calls.ts';
import { receiveHanded } from './thread/local-mail.ts';
import { DELIVERY_PART, type DeliveryCalls, type DeliveryHost, type DeliverySigns } from './thread/part.ts';
import { RemoteTraces } from './thread/traces.ts';
import type { ExplainWaiting } from './waiting.ts';

export type Delivery = PartThread<DeliveryCalls> & {
  readonly signs: DeliverySigns;
  readonly traces: Traces;
  /** Starts to deliver. `receiveLocally` takes the mail for domains that are received here. */
  begin(receiveLocally: LocalReceiver): Promise<void>;
  readonly explainWaiting: ExplainWaiting;
  readonly handOver: HandOver;
  readonly sites: Sites;
};

/** Returns the delivery of the daemon. */
export function createDelivery(app: App, { inThreads }: { inThreads: boolean }): Delivery {
  let signs: DeliverySigns = { deliversNothing: false, failsDns: false };
  let receive: DeliveryHost['receive'] = () => Promise.reject(new Error('delivery has not begun'));
  const host: DeliveryHost = {
    receive: (mail) => receive(mail),
    tell: (events) => traces.take(events),
    restoreText: ({ html, options }) => app.htmlText.restore(html, options),
    reportDiskFull: async () => app.disk.reportFull(),
    async reportSigns(reported) {
      signs = reported;
    },
  };
  const part = createPart<DeliveryCalls, DeliveryHost>(app, DELIVERY_PART, { inThreads, host });
  const traces = new RemoteTraces(part.calls);
  return {
    calls: part.calls,
    failed: part.failed,
    get isRunning() {
      return part.isRunning;
    },
    start: () => part.start(),
    stop: (graceMs) => part.stop(graceMs),
    get signs() {
      return signs;
    },
    traces,
    begin(receiveLocally) {
      receive = receiveHanded(receiveLocally);
      return part.calls.begin();
    },
    // An email is shown without its reason while the thread starts or ends.
    explainWaiting: (queues) => part.calls.explainWaiting(queues).catch(() => new Map()),
    handOver: createHandOver((handed) => part.calls.hand(handed)),
    sites: part.calls,
  };
}
