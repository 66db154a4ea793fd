/** The app with what taking mail from its writers needs besides. */
import type { App } from '../app.ts';
import { createInFlight, type InFlight } from '../emails/idempotency/in-flight.ts';
import { createOpenLogins, type OpenLogins } from '../mailbox-access/open-logins.ts';
import type { Authenticate } from '../mailboxes/authenticate.ts';
import { createScramKeys } from '../mailboxes/scram-keys.ts';
import { type AddressLimit, createAddressLimit } from '../system/guards/address-limit.ts';
import { createUseRecord, type Need } from '../tenants/key-access.ts';
import { createKnownKeys, type KnownKeys } from '../tenants/known-keys.ts';
import { createRateLimit, type RateLimit } from '../tenants/rate-limit.ts';
import { createKnownSenders, type KnownSenders } from './known-senders.ts';
import { createUserConnections, type UserConnections } from './user-connections.ts';

export type SubmissionApp = App & {
  /** Checks the password of a mailbox. All protocols share it, and with it the limits of attempts. */
  authenticate: Authenticate;
  scramKey: ReturnType<typeof createScramKeys>;
  knownKeys: KnownKeys;
  knownSenders: KnownSenders;
  /** Counts wrong API keys of client addresses. It is not that of the HTTP API, which tries here would use up. */
  wrongKeys: AddressLimit;
  recordKeyUse: ReturnType<typeof createUseRecord>;
  rateLimit: RateLimit;
  inFlight: InFlight;
  userConnections: UserConnections;
  openLogins: OpenLogins;
};

/** Maximum rate of wrong API keys of a client address: 20 in ten minutes, as for passwords of mailboxes. */
const WRONG_KEYS = { requestsPerSecond: 20 / 600, burst: 20 };

/** The permission that an API key must have. */
export const NEEDS: Need = 'send';

/**
 * Returns the app for submission. The caller closes its `knownKeys` and its `openLogins`.
 * @param maxConnections maximum number of connections of all ports
 */
export function createSubmissionApp(
  app: App,
  authenticate: Authenticate,
  maxConnections: number,
): SubmissionApp {
  return {
    ...app,
    authenticate,
    scramKey: createScramKeys(app),
    knownKeys: createKnownKeys(app),
    knownSenders: createKnownSenders(app),
    wrongKeys: createAddressLimit(app.clock, WRONG_KEYS),
    recordKeyUse: createUseRecord(app),
    rateLimit: createRateLimit(app.guards.tenants),
    inFlight: createInFlight(app.clock),
    userConnections: createUserConnections(maxConnections),
    openLogins: createOpenLogins(app),
  };
}
