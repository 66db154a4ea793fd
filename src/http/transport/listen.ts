/** Makes an HTTP server listen. It stops in the order that lets every request in progress be answered. */
import { plainAddress } from '../../system/address-block.ts';
import { type Endpoint, type Listener, listen } from '../../system/listen.ts';
import type { System } from '../../system/system.ts';
import { refuseConnection } from './malformed.ts';
import type { HttpServer } from './server.ts';

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
  const proxies = new Set(trustedProxies.map(plainAddress));
  await server.ready();
  const listener = await listen(system, server.server, {
    section,
    at,
    limits: {
      total: MAX_CONNECTIONS,
      perAddress: MAX_CONNECTIONS_PER_ADDRESS,
      isExempt: (address) => proxies.has(plainAddress(address)),
    },
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

/** Replaces the address that stands for all addresses of the machine, because nothing can connect to it. */
function reachable(address: string): string {
  return address.replace(/^0\.0\.0\.0:/, '127.0.0.1:').replace(/^\[::\]:/, '[::1]:');
}
