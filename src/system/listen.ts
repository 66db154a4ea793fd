/**
 * Accepts connections for the server of any protocol, on an address or on a UNIX socket. Connections are limited in
 * total and for each client before the protocol sees them, and can be encrypted from their first byte.
 */
import type { AddressInfo, Server, Socket } from 'node:net';
import { type AcceptTlsOptions, acceptTls } from './accept-tls.ts';
import type { Clock, Timer } from './clock.ts';
import { errorCode } from './errors.ts';
import { createConnectionCounts } from './guards/connection-counts.ts';
import type { Metrics } from './metrics.ts';

export type ListenOptions = {
  /** Section of the configuration that the address and the port come from, such as `smtp`; also names the metrics. */
  section: string;
  at: Endpoint;
  limits: ConnectionLimits;
  /** Encrypts each connection before the server sees it. */
  tls?: AcceptTlsOptions;
  /** Returns the text that tells a client beyond the limits why its connection is closed. */
  refusal?: () => string;
  /** Sends that text and closes the connection. By default it is sent as it is, and not at all with `tls`. */
  refuse?: Refuse;
  /**
   * Called for each newcomer within the limit of its address. May end another connection, whose socket it returns: that connection no longer
   * counts, and must be closed in this turn of the event loop.
   */
  evictOne?: () => Socket | undefined;
};

export type Refuse = (socket: Socket, text: string) => void;

/** Port 0 takes any free port. */
type TcpEndpoint = { address: string; port: number };
export type Endpoint = TcpEndpoint | { path: string };

type ConnectionLimits = {
  /** Maximum number of open connections. */
  total: number;
  /** Maximum number of open connections of one client (guards/connection-counts.ts). */
  perAddress: number;
  /** Returns true for an address without a limit of its own, such as that of a proxy. */
  isExempt?: (address: string) => boolean;
};

export type Listener = {
  /** Address and port such as `127.0.0.1:8025` or `[::1]:8025`, or the path of the socket. */
  readonly address: string;
  /**
   * Stops accepting, and resolves when every connection has ended. Those that are still open after `graceMs` are cut
   * off; without `graceMs` none is.
   */
  close(graceMs?: number): Promise<void>;
};

/** Reports an address or a port that cannot be listened on. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
  /** Section of the configuration that the address and the port come from. */
  readonly section: string;
  /** Code of the operating system, such as `EADDRINUSE`. */
  readonly code: string;

  constructor({ section, at }: { section: string; at: TcpEndpoint }, cause: Error) {
    const code = errorCode(cause) ?? 'unknown';
    super(describe(code, at), { cause });
    this.section = section;
    this.code = code;
  }
}

/** Returns true for a ListenError, also for one that another thread has thrown, which is no instance of the class here. */
export function isListenError(error: unknown): error is ListenError {
  return error instanceof Error && error.name === 'ListenError';
}

function describe(code: string, { address, port }: TcpEndpoint): string {
  switch (code) {
    case 'EADDRINUSE':
      return `port ${port} of ${address} is in use by another program`;
    case 'EACCES':
    case 'EPERM':
      return `this user may not listen on port ${port} of ${address}`;
    case 'EADDRNOTAVAIL':
      return `this machine does not have the address ${address}`;
    default:
      return `cannot listen on port ${port} of ${address} (${code})`;
  }
}

/**
 * Starts accepting connections for `server`, which must not listen yet. Its listeners of `connection` see only
 * connections within the limits.
 * @throws ListenError; for a path, the error of the operating system
 */
export async function listen(
  system: { clock: Pick<Clock, 'after'>; metrics?: Metrics },
  server: Server,
  options: ListenOptions,
): Promise<Listener> {
  const open: OpenConnections = new Map();
  guardConnections(system, server, { ...options, open });
  system.metrics?.gauge(`${options.section}_connections`, 'Open connections.', () => open.size);
  await bind(server, options);
  return {
    address: nameOf(server.address()),
    async close(graceMs) {
      let timer: Timer | undefined;
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      if (graceMs !== undefined) {
        timer = system.clock.after(graceMs, () => {
          for (const socket of open.keys()) socket.destroy();
        });
      }
      await closed;
      timer?.cancel();
    },
  };
}

/** Stands for all addresses of the machine, of both versions where it has both. */
const EVERY_ADDRESS = '::';
const EVERY_IPV4_ADDRESS = '0.0.0.0';

/**
 * Starts a listener at an address of the configuration. On a machine without IPv6, all addresses are those of IPv4.
 * @throws ListenError
 */
export async function listenAt<Started>(
  address: string,
  start: (address: string) => Promise<Started>,
): Promise<Started> {
  return await start(address).catch((error) => {
    const lacksIPv6 = error instanceof ListenError && error.code === 'EAFNOSUPPORT';
    if (lacksIPv6 && address === EVERY_ADDRESS) return start(EVERY_IPV4_ADDRESS);
    throw error;
  });
}

async function bind(server: Server, { section, at }: ListenOptions): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.once('listening', () => {
      server.off('error', reject);
      resolve();
    });
    server.listen('path' in at ? at : { host: hostOf(at.address), port: at.port });
  }).catch((error: Error) => {
    throw 'path' in at ? error : new ListenError({ section, at }, error);
  });
}

/** Returns what to bind. The name `localhost` has two addresses, and every client of that name also tries this one. */
function hostOf(address: string): string {
  return address === 'localhost' ? '127.0.0.1' : address;
}

function nameOf(bound: AddressInfo | string | null): string {
  if (typeof bound === 'string' || bound === null) return bound ?? '';
  return bound.family === 'IPv6' ? `[${bound.address}]:${bound.port}` : `${bound.address}:${bound.port}`;
}

/** Open sockets, each with what ends its count. */
type OpenConnections = Map<Socket, () => void>;
type Guarding = ListenOptions & { open: OpenConnections };
type RefusalReason = 'total' | 'address';

/** Puts the limits and the handshake before the listeners that the server has already. */
function guardConnections(
  { clock, metrics }: { clock: Pick<Clock, 'after'>; metrics?: Metrics },
  server: Server,
  {
    section,
    limits,
    tls,
    refusal = () => '',
    refuse = tls ? closeSilently : refusePlainly,
    evictOne,
    open,
  }: Guarding,
): void {
  const handlers = server.listeners('connection');
  const deliver = (socket: Socket): void => {
    for (const handle of handlers) handle.call(server, socket);
  };
  const counts = createConnectionCounts(limits.perAddress);

  /** Counts a connection within the limits. Returns the reason to refuse any other. */
  function count(socket: Socket): RefusalReason | undefined {
    const address = socket.remoteAddress ?? '';
    // A UNIX socket has no address.
    const isLimited = address !== '' && !limits.isExempt?.(address);
    const release = isLimited ? counts.take(address) : () => {};
    if (!release) return 'address';
    const evicted = evictOne?.();
    if (evicted) {
      metrics?.evictedConnections.inc({ listener: section });
      forget(evicted);
    }
    if (open.size >= limits.total) {
      release();
      return 'total';
    }
    open.set(socket, release);
    socket.once('close', () => forget(socket));
    return undefined;
  }

  function forget(socket: Socket): void {
    open.get(socket)?.();
    open.delete(socket);
  }

  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    // An error without a listener would end the process.
    socket.on('error', () => {});
    const reason = count(socket);
    if (reason !== undefined) {
      metrics?.refusedConnections.inc({ listener: section, reason });
      refuse(socket, refusal());
      return;
    }
    if (!tls) return deliver(socket);
    // A failed handshake has closed the connection, and there is nobody to tell.
    acceptTls(clock, socket, tls).then(deliver, () => {});
  });
}

/** Sends the text as it is, and closes the connection. */
export function refusePlainly(socket: Socket, text: string): void {
  socket.end(text, () => socket.destroy());
}

function closeSilently(socket: Socket): void {
  refusePlainly(socket, '');
}
