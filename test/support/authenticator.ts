/**
 * An authenticator without threads, for applications of tests: it asks the DNS of the test, and its work is done in this
 * thread.
 */
import { createAuthenticate } from '../../src/mail/auth/authenticate.ts';
import { type Authenticator, createBegin } from '../../src/mail/auth/authenticator.ts';
import type { Clock } from '../../src/system/clock.ts';
import type { DnsLookups } from '../../src/system/dns.ts';
import type { Log } from '../../src/system/log.ts';

type Options = { dns: DnsLookups; clock: Clock; log: Log; trustedRelays?: readonly string[] };

/** Returns the authenticator. */
export function createTestAuthenticator({ dns, clock, log, trustedRelays = [] }: Options): Authenticator {
  const authenticate = createAuthenticate({ dns, clock, trustedRelays });
  const begin = createBegin({ clock, log }, async (message) => ({
    kind: 'done',
    result: await authenticate(message),
  }));
  return { begin, close: async () => {} };
}
