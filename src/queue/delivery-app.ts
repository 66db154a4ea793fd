/** The app with what delivering mail needs besides. */
import type { App } from '../app.ts';
import type { DeliveryTls } from '../tls-policies/delivery-tls.ts';
import type { DeliveryTrace } from './conversation/trace.ts';
import type { DeliveryMonitor } from './delivery-monitor.ts';
import type { LocalReceiver } from './local-receiver.ts';
import type { Replies } from './outcome/replies/replies.ts';
import type { PrepareMessage } from './prepare.ts';
import type { Sources } from './sources/sources.ts';

export type DeliveryApp = App & {
  prepare: PrepareMessage;
  receiveLocally: LocalReceiver;
  sources: Sources;
  replies: Replies;
  tls: Pick<DeliveryTls, 'policiesOf' | 'tickets' | 'observe'>;
  monitor: Pick<DeliveryMonitor, 'observe' | 'observePart'>;
  trace: Pick<DeliveryTrace, 'isWatched' | 'show' | 'showOutcome'>;
};
