/**
 * Accepts connections for IMAP, POP3 and ManageSieve, and serves each from its first byte to its last: the limits of its address, TLS,
 * the greeting, and commands one after the other. What a command is and does is the protocol's.
 */
import { createServer, type Socket } from 'node:net';
import { createAddressLimit } from '../../system/guards/address-limit.ts';
import { type Listener, listen } from '../../system/listen.ts';
import { createPause } from '../../system/next-turn.ts';
import type { System } from '../../system/system.ts';
import { createTurns } from '../../system/turns.ts';
import { ClientGone } from '../connection/client-gone.ts';
import { cutOff, sendLast } from '../connection/last-word.ts';
import { createOccupancy } from '../connection/occupancy.ts';
import { createRefuser } from '../connection/refuser.ts';
import { tighten } from '../connection/tighten.ts';
import { type AccessConnection, type AccessContext, countEarlyCommand } from './connection.ts';
import { ConnectionFault } from './fault.ts';
import { createAccessMetrics } from './metrics.ts';
import { ACCESS_STRESS_LIMITS, type AccessLimits, type AccessServerOptions } from './options.ts';

const SECONDS_PER_MINUTE = 60;
/**
 * Number of TLS handshakes that begin in a turn of the event loop. With its handshake and its login a client takes 2 to 4 ms, and after a
 * restart of a server thousands of clients connect again, while those that are connected want their answers. Our own limit.
 */
const HANDSHAKES_PER_TURN = 1;

export type AccessSystem = Pick<System, 'clock' | 'log'> & Partial<Pick<System, 'metrics'>>;

export type AccessProtocol<Options extends AccessServerOptions, Limits extends AccessLimits> = {
  /** Name in log lines and metrics, such as `IMAP`. */
  name: string;
  /** Names of the protocol in a TLS handshake (ALPN), as `encodeProtocols` returns them. */
  protocols: DataView;
  /** Returns the lines that tell a client why its connection ends; an empty text for none. */
  formatEnd(fault: ConnectionFault): string;
  /** Begins a connection, which has sent nothing yet. */
  open(context: AccessContext<Options, Limits>, socket: Socket): ServedConnection;
};

/** A connection as its protocol serves it. The functions throw ConnectionFault and ClientGone where it ends. */
export type ServedConnection = {
  connection: AccessConnection;
  hasLoggedIn(): boolean;
  /** Puts TLS under the connection. */
  encrypt(): Promise<void>;
  greet(): void;
  /** Reads the next command and answers it. */
  serveCommand(): Promise<void>;
  /** Frees what the connection holds, in whatever state it has ended. */
  close(): void;
};

/**
 * Starts to listen. Closing the listener ends each connection after the command that it runs.
 * @throws ListenError
 */
export async function listenAccess<Options extends AccessServerOptions, Limits extends AccessLimits>(
  system: AccessSystem,
  { options, limits }: { options: Options; limits: Limits },
  protocol: AccessProtocol<Options, Limits>,
): Promise<Listener> {
  const context = createContext(system, { options, limits }, protocol);
  // A client may close its side after its last command; the responses still reach it.
  const server = createServer({ allowHalfOpen: true, noDelay: true, keepAlive: true }, (socket) => {
    serve(context, socket, protocol).catch((error: unknown) => {
      system.log.error({ err: error }, `${protocol.name} session could not be opened`);
      socket.destroy();
    });
  });
  const { section, at, hostname } = options;
  const listener = await listen(system, server, {
    section,
    at,
    limits: { total: limits.connections, perAddress: limits.connectionsPerAddress },
    refusal: () => protocol.formatEnd(tooManyConnections(options, 'connections')),
    refuse: context.refuse,
    makeRoom: () => context.occupancy.makeRoom(),
  });
  return {
    address: listener.address,
    async close(graceMs) {
      context.shutdown = new ConnectionFault('shutdown', `${hostname} is shutting down`);
      for (const { wire } of context.connections) wire.interrupt(context.shutdown);
      await listener.close(graceMs);
    },
  };
}

function createContext<Options extends AccessServerOptions, Limits extends AccessLimits>(
  { clock, log, metrics }: AccessSystem,
  { options, limits }: { options: Options; limits: Limits },
  { name: protocol, protocols }: Pick<AccessProtocol<Options, Limits>, 'name' | 'protocols'>,
): AccessContext<Options, Limits> {
  const { tls } = options;
  const immediateTls = tls?.mode === 'immediate' ? { certificates: tls.certificates, protocols } : undefined;
  const newConnections = createAddressLimit(clock, {
    requestsPerSecond: limits.connectionsPerMinute / SECONDS_PER_MINUTE,
    burst: limits.connectionsPerMinute,
  });
  return {
    clock,
    log,
    metrics: createAccessMetrics(metrics, { protocol, listener: options.section }),
    options,
    limits,
    stressLimits: tighten<Limits>(limits, ACCESS_STRESS_LIMITS as Partial<Limits>),
    occupancy: createOccupancy(clock, limits.connections),
    refuse: createRefuser(clock, immediateTls),
    connections: new Set(),
    handshakeTurn: createTurns(HANDSHAKES_PER_TURN),
    pause: createPause(clock),
    shutdown: undefined,
    limitAddress(address) {
      if (newConnections.take(address).allowed) return;
      throw new ConnectionFault('connection_rate', 'Your address has too many new connections');
    },
  };
}

/** Serves one connection until it has ended. Rejects only when it cannot be opened. */
async function serve<Options extends AccessServerOptions, Limits extends AccessLimits>(
  context: AccessContext<Options, Limits>,
  socket: Socket,
  protocol: AccessProtocol<Options, Limits>,
): Promise<void> {
  const served = protocol.open(context, socket);
  const { connection } = served;
  const slot = context.occupancy.add({
    socket,
    address: connection.client.address,
    evict: () => evict(connection, protocol),
  });
  let isClosed = false;
  const close = (): void => {
    if (!isClosed) served.close();
    isClosed = true;
  };
  // A command ends with its connection, however long it would take.
  socket.once('close', close);
  context.connections.add(connection);
  try {
    context.limitAddress(connection.client.address);
    if (context.options.tls?.mode === 'immediate') await served.encrypt();
    context.metrics.connectionBegan();
    served.greet();
    while (connection.isOpen) {
      if (context.shutdown) throw context.shutdown;
      await served.serveCommand();
      const hasLoggedIn = served.hasLoggedIn();
      slot.enter(hasLoggedIn ? 'protected' : 'waiting');
      if (!hasLoggedIn && connection.isOpen) countEarlyCommand(connection);
      // A client can send thousands of commands at once.
      await context.pause();
    }
  } catch (error) {
    reportEnd(connection, error, protocol);
  } finally {
    context.connections.delete(connection);
    close();
    connection.wire.end();
  }
}

type Ending = Pick<AccessProtocol<never, never>, 'name' | 'formatEnd'>;

function tooManyConnections(
  { hostname }: Pick<AccessServerOptions, 'hostname'>,
  reason: 'connections' | 'evicted',
): ConnectionFault {
  return new ConnectionFault(reason, `${hostname} has too many connections`);
}

/** Ends the connection for a newcomer. */
function evict(connection: AccessConnection, { formatEnd }: Ending): void {
  const { context } = connection;
  const fault = tooManyConnections(context.options, 'evicted');
  context.metrics.ended(fault.reason);
  cutOff(connection, formatEnd(fault));
}

/** Tells the client why the connection ends, where it does not know. */
function reportEnd(connection: AccessConnection, error: unknown, { name, formatEnd }: Ending): void {
  const { context, socket } = connection;
  if (error instanceof ClientGone) return;
  if (error instanceof ConnectionFault) {
    if (socket.destroyed) return;
    context.metrics.ended(error.reason);
    if (error.text !== undefined) sendLast(connection, formatEnd(error));
    return;
  }
  context.log.error({ err: error }, `${name} connection failed`);
  sendLast(connection, formatEnd(new ConnectionFault('failed', 'The connection failed')));
}
