/** The app with what taking mail from its writers needs besides. */
import type { App } from '../app.ts';
import { createInFlight, type InFlight } from '../emails/idempotency/in-flight.ts';
import type { Authenticate } from '../mailboxes/authenticate.ts';
import { createScramKeys } from '../mailboxes/scram-keys.ts';
import { createUseRecord, type Need } from '../tenants/key-access.ts';
import { createKnownKeys, type KnownKeys } from '../tenants/known-keys.ts';
import { createRateLimit, type RateLimit } from '../tenants/rate-limit.ts';
import { createUserConnections, type UserConnections } from './user-connections.ts';

export type SubmissionApp = App & {
  /** Checks the password of a mailbox. All protocols share it, and with it the limits of attempts. */
  authenticate: Authenticate;
  scramKey: ReturnType<typeof createScramKeys>;
  knownKeys: KnownKeys;
  recordKeyUse: ReturnType<typeof createUseRecord>;
  rateLimit: RateLimit;
  inFlight: InFlight;
  userConnections: UserConnections;
};

/** The permission that an API key must have. */
export const NEEDS: Need = 'send';

/**
 * Returns the app for submission. The caller closes its `knownKeys`.
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
    recordKeyUse: createUseRecord(app),
    rateLimit: createRateLimit(app.guards.tenants),
    inFlight: createInFlight(app.clock),
    userConnections: createUserConnections(maxConnections),
  };
}
