/**
 * Limits TLS handshakes, each of which costs far more than a request. A client that opens too many connections is refused before its
 * handshake, and the handshakes of all others begin a few at a time, so that requests of open connections are served between them.
 */
import type { Socket } from 'node:net';
import type { App } from '../app.ts';
import { addressSite, plainAddress } from '../system/address-block.ts';
import { createAddressLimit } from '../system/guards/address-limit.ts';
import { createSlices } from '../system/slices.ts';

/**
 * Maximum rate of handshakes of one address. A browser opens six connections to a host, and keeps them. A large mailbox provider loads
 * pictures for all of its readers from a few addresses, over connections that it keeps, too.
 */
const MAX_HANDSHAKES = { requestsPerSecond: 50, burst: 300 };
/** Maximum number of handshakes that begin in one turn of the event loop. Each takes 0.3 ms with P-256, and 1 ms with RSA. */
const MAX_HANDSHAKES_PER_SLICE = 4;

type LimitedApp = Pick<App, 'clock' | 'config' | 'metrics'>;

/** Returns a function that resolves when the handshake of a connection may begin. It closes a connection beyond the limit. */
export function createHandshakeLimit(
  { clock, config, metrics }: LimitedApp,
  listener: string,
): (socket: Socket) => Promise<void> {
  const perAddress = createAddressLimit(clock, MAX_HANDSHAKES);
  const slices = createSlices(MAX_HANDSHAKES_PER_SLICE);
  const proxies = new Set(config.http.trustedProxies.map(plainAddress));
  return async (socket) => {
    const address = plainAddress(socket.remoteAddress ?? '');
    if (!proxies.has(address) && !perAddress.take(address).allowed) {
      metrics.refusedConnections.inc({ listener, reason: 'handshakes' });
      return void socket.destroy();
    }
    await slices(addressSite(address));
  };
}
