/**
 * Logs which hosts have addresses that are not public. Tenants choose hosts and addresses, so the log volume of one
 * request is limited: a few addresses, and each host once a minute.
 */

import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import { createLru } from './lru.ts';

/** Maximum number of addresses in a line. */
const MAX_LOGGED_ADDRESSES = 5;
/** Minimum time between two lines about the same host. */
const MIN_INTERVAL_MS = 60_000;
/** Maximum number of hosts that are remembered. */
const MAX_HOSTS = 1_000;

/** Returns the function that logs the refused addresses of a host. */
export function createRefusalLog(
  clock: Clock,
  log: Pick<Log, 'info'>,
): (host: string, addresses: readonly string[]) => void {
  const loggedAt = createLru<string, number>(MAX_HOSTS);
  return (host, addresses) => {
    const now = clock.elapsed();
    const last = loggedAt.get(host);
    if (last !== undefined && now - last < MIN_INTERVAL_MS) return;
    loggedAt.set(host, now);
    log.info(
      { host, addresses: addresses.slice(0, MAX_LOGGED_ADDRESSES), refused: addresses.length },
      'addresses that are not public were refused',
    );
  };
}
