/** Starts servers of tests on 127.0.0.1, and opens connections to them. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { createTargetGuard } from '../../src/system/blocklist.ts';
import { createDial, type Dial } from '../../src/system/dial.ts';

export const LOOPBACK_GUARD = createTargetGuard({ allow: ['127.0.0.0/8'], own: [] });

/** Real sockets take real time, but only little: no time limit ever passes on this clock. */
const CLOCKLESS = { now: Date.now, elapsed: () => performance.now(), after: () => ({ cancel() {} }) };

/** Opens real connections, to this machine only. */
export const dialLoopback: Dial = createDial(LOOPBACK_GUARD, CLOCKLESS);

/** Ports of this machine by the address of the zone that each stands for. */
export type Hosts = Record<string, number | 'hangs'>;

/** Returns a dial that leads from each address to its port. An address without a port refuses the connection. */
export function dialHosts(hosts: Hosts): Dial {
  return (target) => {
    const port = hosts[target.address];
    if (port === 'hangs') return new Promise(() => {});
    if (port !== undefined) return dialLoopback({ ...target, address: '127.0.0.1', port });
    return Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
  };
}

/** Starts to listen on a free port of 127.0.0.1 and returns it. */
export async function listenOnLoopback(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Systems take ports of connections, and those of programs that ask for any port, from a range above these. */
const FREE_PORTS = { first: 12_000, last: 32_000 };

/**
 * Returns a port that was free a moment ago, for a program that cannot say which port it was given. No connection takes it by
 * chance, so that a program can be started on it again and again.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FREE_PORTS.first, FREE_PORTS.last);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

/** Returns true when a program accepts connections on this port of the address. */
export async function listens(port: number, host = '127.0.0.1'): Promise<boolean> {
  const socket = connect({ port, host });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
