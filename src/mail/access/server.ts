/**
 * Accepts connections for IMAP, POP3 and ManageSieve, and serves each from its first byte to its last: the limits of its address, TLS,
 * the greeting, and commands one after the other. What a command is and does is the protocol's.
 */
import { createServer, type Socket } from 'node:net';
import { createAddressLimit } from '../../system/guards/address-limit.ts';
import { type Listener, listen } from '../../system/listen.ts';
import { createPause, createTurns } from '../../system/next-turn.ts';
import type { System } from '../../system/system.ts';
import { ClientGone } from '../connection/client-gone.ts';
import { cutOff, sendLast } from '../connection/last-word.ts';
import { createOccupancy, type Slot } from '../connection/occupancy.ts';
import { createRefuser } from '../connection/refuser.ts';
import { tighten } from '../connection/tighten.ts';
import {
  type AccessConnection,
  type AccessContext,
  countEarlyCommand,
  type Interruptible,
} from './connection.ts';
import { ConnectionFault } from './fault.ts';
import { type Handover, Relay } from './handover.ts';
import { createAccessMetrics } from './metrics.ts';
import { ACCESS_STRESS_LIMITS, type AccessLimits, type AccessServerOptions } from './options.ts';

const SECONDS_PER_MINUTE = 60;
/**
 * Number of TLS handshakes that begin in a turn of the event loop. With its handshake and its login a client takes 2 to 4 ms, and after a
 * restart of a server thousands of clients connect again, while those that are connected want their answers.
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

/**
 * A login after which another thread serves the connection. `head` is what that thread needs to know of it, and `lostText` the last text
 * for the client when that thread has ended.
 */
type Login = { handover: Handover; head: unknown; lostText: string };

/** A connection as its protocol serves it. The functions throw ConnectionFault and ClientGone where it ends. */
export type ServedConnection = {
  readonly connection: AccessConnection;
  hasLoggedIn(): boolean;
  /** Puts TLS under the connection. */
  encrypt(): Promise<void>;
  greet(): void;
  /** Reads the next command and answers it. Returns the login after which the connection is handed over. */
  serveCommand(): Promise<Login | undefined>;
  /** Frees what the connection holds before its login, in whatever state it has ended. */
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
      for (const connection of context.connections) connection.interrupt(context.shutdown);
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

/** Serves one connection until it has ended, or until another thread serves it. Rejects only when it cannot be opened. */
async function serve<Options extends AccessServerOptions, Limits extends AccessLimits>(
  context: AccessContext<Options, Limits>,
  socket: Socket,
  protocol: AccessProtocol<Options, Limits>,
): Promise<void> {
  const served = protocol.open(context, socket);
  const slot = context.occupancy.add({
    socket,
    address: served.connection.client.address,
    evict: () => evict(served.connection, protocol),
  });
  let isClosed = false;
  const close = (): void => {
    if (!isClosed) served.close();
    isClosed = true;
  };
  // A command ends with its connection, however long it would take.
  socket.once('close', close);
  const open: Interruptible = { interrupt: (fault) => served.connection.wire.interrupt(fault) };
  context.connections.add(open);
  try {
    context.limitAddress(served.connection.client.address);
    if (context.options.tls?.mode === 'immediate') await served.encrypt();
    context.metrics.connectionBegan();
    served.greet();
    const login = await serveCommands(context, served, slot);
    if (login) handOver(context, served.connection, { login, protocol });
  } catch (error) {
    reportEnd(served.connection, error, protocol);
  } finally {
    context.connections.delete(open);
    close();
    served.connection.wire.end();
  }
}

/** Serves commands until the connection ends or is handed over. */
async function serveCommands(
  context: AccessContext,
  served: ServedConnection,
  slot: Slot,
): Promise<Login | undefined> {
  while (served.connection.isOpen) {
    if (context.shutdown) throw context.shutdown;
    const login = await served.serveCommand();
    const hasLoggedIn = login !== undefined || served.hasLoggedIn();
    slot.enter(hasLoggedIn ? 'protected' : 'waiting');
    if (login) return login;
    if (!hasLoggedIn && served.connection.isOpen) countEarlyCommand(served.connection);
    // A client can send thousands of commands at once.
    await context.pause();
  }
  return undefined;
}

/** Leaves the connection to the thread of the account, with what the client has sent behind its login. */
function handOver(
  context: AccessContext,
  { socket, wire }: AccessConnection,
  { login, protocol }: { login: Login; protocol: Ending },
): void {
  wire.detach();
  const relay = new Relay(context, { socket, ...login }, protocol);
  context.connections.add(relay);
  socket.once('close', () => context.connections.delete(relay));
  if (context.shutdown) relay.interrupt(context.shutdown);
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
