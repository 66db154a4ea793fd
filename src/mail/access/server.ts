/**
 * Accepts connections for IMAP, POP3 and ManageSieve, and serves each from its first byte to its last: the limits of its address, TLS,
 * the greeting, and commands one after the other. What a command is and does is the protocol's.
 */
import type { Socket } from 'node:net';
import type { Listener } from '../../system/listen.ts';
import { createPause, createSlices } from '../../system/slices.ts';
import { ClientGone } from '../connection/client-gone.ts';
import { cutOff, sendLast } from '../connection/last-word.ts';
import {
  createListenerContext,
  type Interruptible,
  type ListenerSystem,
  listenForClients,
} from '../connection/listener.ts';
import type { Slot } from '../connection/occupancy.ts';
import { type AccessConnection, type AccessContext, countEarlyCommand, limitAddress } from './connection.ts';
import { ConnectionFault } from './fault.ts';
import { type Handover, Relay } from './handover.ts';
import { createAccessMetrics } from './metrics.ts';
import { ACCESS_STRESS_LIMITS, type AccessLimits, type AccessServerOptions } from './options.ts';

/**
 * Number of TLS handshakes that begin in a turn of the event loop. With its handshake and its login a client takes 2 to 4 ms, and after a
 * restart of a server thousands of clients connect again, while those that are connected want their answers.
 */
const HANDSHAKES_PER_SLICE = 1;

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
  system: ListenerSystem,
  { options, limits }: { options: Options; limits: Limits },
  protocol: AccessProtocol<Options, Limits>,
): Promise<Listener> {
  const { name, formatEnd, protocols } = protocol;
  const shared = createListenerContext<Options, Limits, ConnectionFault>(system, {
    options,
    limits,
    stress: ACCESS_STRESS_LIMITS as Partial<Limits>,
    protocols,
  });
  const context: AccessContext<Options, Limits> = Object.assign(shared, {
    metrics: createAccessMetrics(system.metrics, { protocol: name, listener: options.section }),
    handshakeSlice: createSlices(HANDSHAKES_PER_SLICE),
    pause: createPause(system.clock),
  });
  return await listenForClients(system, context, {
    name,
    keepAlive: true,
    serve: (socket) => serve(context, socket, protocol),
    refusal: () => formatEnd(tooManyConnections(options, 'connections')),
    shutdown: () => new ConnectionFault('shutdown', `${options.hostname} is shutting down`),
  });
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
  const open: Interruptible<ConnectionFault> = {
    interrupt: (fault) => served.connection.wire.interrupt(fault),
  };
  context.connections.add(open);
  try {
    limitAddress(context, served.connection.client.address);
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
  const relay = new Relay(context, { socket, unread: wire.takeOver(), ...login }, protocol);
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
