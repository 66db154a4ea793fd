/**
 * The client address of a request is the address of the connection's peer. Behind a proxy the peer is the proxy, and
 * `X-Forwarded-For`, a header that anybody can write, names the client. The header is read only when the peer is a
 * configured proxy, and only as far as configured proxies have written it. No other forwarding header is read.
 */
import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { hasZone, plainAddress } from '../../system/address-block.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** IP address of the client, `UNKNOWN_ADDRESS`, or an empty text for a UNIX socket. */
    readonly clientAddress: string;
  }
}

/** Stands for a client that its proxy named by something other than an IP address. No allowed address equals it. */
const UNKNOWN_ADDRESS = 'unknown';

/** Gives every request of the server its `clientAddress`. `trustedProxies` are exact IP addresses. */
export function readClientAddresses(server: FastifyInstance, trustedProxies: readonly string[]): void {
  const trusted = new Set(trustedProxies.map(plainAddress));
  server.decorateRequest('clientAddress', {
    getter() {
      const peer = this.raw.socket.remoteAddress ?? '';
      if (trusted.size === 0 || !trusted.has(plainAddress(peer))) return peer;
      return readForwardedFor(this.headers['x-forwarded-for'], trusted) ?? peer;
    },
  });
}

/**
 * Finds the client in the header. Each proxy appends its peer, so the list is read from its end. The first entry that
 * is not a trusted proxy is the client; the client itself has written everything before it.
 */
function readForwardedFor(
  header: string | string[] | undefined,
  trusted: ReadonlySet<string>,
): string | undefined {
  const entries = [header ?? []].flat().join(',').split(',');
  let address: string | undefined;
  for (const entry of entries.reverse()) {
    const text = entry.trim();
    if (text === '') continue;
    if (isIP(text) === 0 || hasZone(text)) return UNKNOWN_ADDRESS;
    address = plainAddress(text);
    if (!trusted.has(address)) return address;
  }
  return address;
}
