/** The app with what receiving mail needs besides. The listener and the delivery engine share it. */
import type { App } from '../app.ts';
import { type Authenticator, createAuthenticator } from '../mail/auth/authenticator.ts';
import { type ReturnAddressKey, returnAddressKeyOf } from '../queue/return-path.ts';
import { createInboundMetrics, type InboundMetrics } from './metrics.ts';

export type InboundApp = App & {
  authenticator: Authenticator;
  inboundMetrics: InboundMetrics;
  returnAddressKey: ReturnAddressKey;
};

/** Returns the app for received mail. The threads of its authenticator start when they are first needed. */
export function createInboundApp(app: App): InboundApp {
  const { dns, inbound } = app.config;
  return {
    ...app,
    authenticator: createAuthenticator(app, {
      dnsServers: dns.servers,
      trustedRelays: inbound.trustedRelays,
    }),
    inboundMetrics: createInboundMetrics(app),
    returnAddressKey: returnAddressKeyOf(app),
  };
}
