/** The part of the app that sends mail, with what delivering it needs besides. */
import type { DeliveryTls } from '../tls-policies/delivery-tls.ts';
import type { Precedence } from './contents/precedence.ts';
import type { DeliveryTrace } from './conversation/trace.ts';
import type { Peers } from './dealer.ts';
import type { DeliveryMonitor } from './delivery-monitor.ts';
import type { LocalReceiver } from './local-receiver.ts';
import type { Replies } from './outcome/replies/replies.ts';
import type { PrepareClaim } from './prepare.ts';
import type { SendingApp } from './sending-app.ts';
import type { Shaping } from './shaping/shaping.ts';
import type { Sources } from './sources/sources.ts';

export type DeliveryApp = SendingApp & {
  prepare: PrepareClaim;
  receiveLocally: LocalReceiver;
  precedence: Pick<Precedence, 'step'>;
  /** The other delivery threads. */
  peers: Peers;
  sources: Sources;
  replies: Replies;
  tls: Pick<DeliveryTls, 'policiesOf' | 'tickets' | 'observe' | 'stop'>;
  shaping: Pick<
    Shaping,
    | 'ready'
    | 'limitsOf'
    | 'restsOf'
    | 'isSourceResting'
    | 'observe'
    | 'listen'
    | 'sites'
    | 'resolve'
    | 'restrictionsAt'
    | 'lift'
    | 'restrictions'
    | 'forgetMatches'
    | 'stop'
  >;
  monitor: Pick<DeliveryMonitor, 'observe' | 'observePart'>;
  trace: Pick<DeliveryTrace, 'isWatched' | 'show' | 'showOutcome'>;
};
