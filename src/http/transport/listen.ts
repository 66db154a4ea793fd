/**
 * Makes an HTTP server listen, with or without TLS. It stops in the order that lets every request in progress be answered. Both listeners hand
 * their connections to the same server, so that all of its guards hold for both.
 */
import { createServer, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type AcceptTlsOptions, encodeProtocols } from '../../system/accept-tls.ts';
import { plainAddress } from '../../system/address-block.ts';
import { type Endpoint, type Listener, type ListenOptions, listen } from '../../system/listen.ts';
import type { System } from '../../system/system.ts';
import { refuseConnection } from './malformed.ts';
import { keepToHost } from './misdirected.ts';
import { serveConnection } from './pipeline.ts';
import { CLOSE_GRACE_MS, type HttpServer } from './server.ts';

/**
 * Maximum number of open connections, of all clients and of one. Clients keep a connection open for each request that
 * they send at the same time, and a whole office may share an address.
 */
const MAX_CONNECTIONS = 10_000;
const MAX_CONNECTIONS_PER_ADDRESS = 2_500;

type HttpListenOptions = {
  /** Section of the configuration that `at` comes from. */
  section: string;
  at: Endpoint;
  /** Exact addresses of proxies. Their connections are those of many clients, and count in total alone. */
  trustedProxies?: readonly string[];
};

/**
 * Starts serving. The address is a URL, or the path of a UNIX socket. When this fails, the server is closed.
 * @throws ListenError; for a path, the error of the operating system
 */
export async function listenHttp(
  system: Pick<System, 'clock' | 'metrics'>,
  server: HttpServer,
  { section, at, trustedProxies = [] }: HttpListenOptions,
): Promise<Listener> {
  await server.ready();
  const listener = await listen(system, server.server, {
    section,
    at,
    limits: connectionLimits(trustedProxies),
    refusal: () => refuseConnection(system.clock),
  }).catch(async (error) => {
    await server.close();
    throw error;
  });
  return {
    address: 'path' in at ? listener.address : `http://${reachable(listener.address)}`,
    async close() {
      // The server first: from then on each response ends its connection, so that the listener does not wait for idle ones.
      await server.close();
      await listener.close();
    },
  };
}

function connectionLimits(trustedProxies: readonly string[]): ListenOptions['limits'] {
  const proxies = new Set(trustedProxies.map(plainAddress));
  return {
    total: MAX_CONNECTIONS,
    perAddress: MAX_CONNECTIONS_PER_ADDRESS,
    isExempt: (address) => proxies.has(plainAddress(address)),
  };
}

/** The protocol of requests, as ALPN names it (RFC 7301 section 6). */
const HTTP = 'http/1.1';
const PROTOCOLS = encodeProtocols([HTTP]);
/** Maximum time of each step of a handshake, in milliseconds. */
const HANDSHAKE_MS = 10_000;

type HttpsListenOptions = HttpListenOptions & {
  tls: Omit<AcceptTlsOptions, 'timeoutMs' | 'protocols'>;
  /**
   * Returns the host that the requests of a connection may name; undefined when nothing is served under the name that the client asked for,
   * which is empty when it asked for none.
   */
  findHost(serverName: string): Promise<string | undefined>;
};

/**
 * Starts serving with TLS what `server` serves. The server belongs to the caller and listens without TLS already, because Node enforces the
 * time limits of its connections only while it listens. A connection with another protocol than HTTP ends after its handshake.
 * @throws ListenError
 */
export async function listenHttps(
  system: Pick<System, 'clock' | 'metrics'>,
  { server }: Pick<HttpServer, 'server'>,
  { section, at, trustedProxies = [], tls, findHost }: HttpsListenOptions,
): Promise<Listener> {
  let isClosing = false;
  const serve = async (socket: TLSSocket): Promise<void> => {
    if (socket.alpnProtocol !== false && socket.alpnProtocol !== HTTP) return void socket.destroy();
    const host = await findHost(socket.servername || '');
    if (isClosing || socket.destroyed) return void socket.destroy();
    keepToHost(socket, host);
    serveConnection(server, socket);
  };
  // A client may close its side after its last request, as it may with the server itself.
  const front = createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) => {
    serve(socket as TLSSocket).catch(() => socket.destroy());
  });
  const listener = await listen(system, front, {
    section,
    at,
    limits: connectionLimits(trustedProxies),
    tls: { ...tls, timeoutMs: HANDSHAKE_MS, protocols: PROTOCOLS },
  });
  return {
    address: `https://${reachable(listener.address)}`,
    async close() {
      isClosing = true;
      server.closeIdleConnections();
      await listener.close(CLOSE_GRACE_MS);
    },
  };
}

/** Replaces the address that stands for all addresses of the machine, because nothing can connect to it. */
function reachable(address: string): string {
  return address.replace(/^0\.0\.0\.0:/, '127.0.0.1:').replace(/^\[::\]:/, '[::1]:');
}
