/** Connections of IMAP, POP3 and ManageSieve have this in common. Each protocol adds its own state. */
import type { Socket } from 'node:net';
import { acceptTls } from '../../system/accept-tls.ts';
import { addressSite } from '../../system/address-block.ts';
import type { CertificateStore } from '../../system/certificates.ts';
import { type Client, clientOf, tlsOf } from '../connection/client.ts';
import type { ListenerContext } from '../connection/listener.ts';
import { ConnectionFault } from './fault.ts';
import type { AccessMetrics } from './metrics.ts';
import type { AccessLimits, AccessServerOptions } from './options.ts';
import type { AccessWaitLimit, AccessWire } from './wire.ts';

/** State and settings that all connections of a listener share. */
export type AccessContext<
  Options extends AccessServerOptions = AccessServerOptions,
  Limits extends AccessLimits = AccessLimits,
> = ListenerContext<Options, Limits, ConnectionFault> & {
  metrics: AccessMetrics;
  /** Resolves when a TLS handshake with this address may begin. */
  handshakeSlice(address: string): Promise<void>;
  /** Lets other connections have their turn, once this one has been served for long. */
  pause(): Promise<void> | undefined;
};

/** Counts a connection of this address. @throws ConnectionFault beyond the limits */
export function limitAddress(
  { countConnection }: Pick<AccessContext, 'countConnection'>,
  address: string,
): void {
  if (!countConnection(address))
    throw new ConnectionFault('connection_rate', 'Your address has too many new connections');
}

/** A connection before its login; that of ManageSieve also after it. */
export type AccessConnection = {
  readonly context: AccessContext;
  /** Socket of the network, or of TLS on top of it. */
  socket: Socket;
  wire: AccessWire;
  client: Client;
  /** Time at which the connection began without a login, on the monotonic clock. */
  beganAt: number;
  /** Number of commands before login, and of those that were refused. */
  earlyCommands: number;
  errors: number;
  isOpen: boolean;
};

/** Returns the fields of a new connection, except its wire and its context. */
export function newConnection({ clock }: Pick<AccessContext, 'clock'>, socket: Socket) {
  return {
    socket,
    client: clientOf(socket),
    beganAt: clock.elapsed(),
    earlyCommands: 0,
    errors: 0,
    isOpen: true,
  };
}

/**
 * Runs the TLS handshake after the responses that were sent, and returns what it changes of the connection. Plaintext that came before
 * counts as part of the handshake, which then fails, so nothing of it is ever run as a command (CVE-2011-0411).
 * @throws ConnectionFault
 */
export async function startTls(
  { context, wire, socket, client }: Pick<AccessConnection, 'context' | 'wire' | 'socket' | 'client'>,
  { certificates, protocols }: { certificates: CertificateStore; protocols: DataView },
): Promise<Pick<AccessConnection, 'socket' | 'client'>> {
  wire.detach();
  const secure = await acceptTls(context.clock, socket, {
    certificates,
    timeoutMs: earlyLimits(context).handshakeMs,
    protocols,
    turn: () => context.handshakeSlice(addressSite(client.address)),
  }).catch(() => {
    throw new ConnectionFault('tls_handshake', undefined);
  });
  return { socket: secure, client: { ...client, tls: tlsOf(secure) } };
}

/** Returns the limits of a client without a login. */
function earlyLimits({
  occupancy,
  stressLimits,
  limits,
}: Pick<AccessContext, 'occupancy' | 'stressLimits' | 'limits'>): AccessLimits {
  return occupancy.isStressed ? stressLimits : limits;
}

/**
 * Returns how long the client may take for its next command. It has a minute for all that it does before a login, and then long times.
 * @throws ConnectionFault when a client without a login sends without end
 */
export function commandWaitLimit(
  { context, beganAt, wire }: Pick<AccessConnection, 'context' | 'beganAt' | 'wire'>,
  { hasLoggedIn }: { hasLoggedIn: boolean },
): AccessWaitLimit {
  if (hasLoggedIn) return { timeoutMs: context.limits.commandMs, reason: 'idle' };
  const { loginMs, earlyCommandMs, earlyBytes } = earlyLimits(context);
  if (wire.receivedBytes > earlyBytes)
    throw new ConnectionFault('early_bytes', 'Too much input without a login');
  const untilLogin = beganAt + loginMs - context.clock.elapsed();
  return { timeoutMs: Math.max(0, Math.min(untilLogin, earlyCommandMs)), reason: 'login_time' };
}

/** Counts a refused command of a client without a login. @throws ConnectionFault when the client guesses */
export function countError(connection: Pick<AccessConnection, 'context' | 'errors'>): void {
  if (++connection.errors >= earlyLimits(connection.context).earlyErrors)
    throw new ConnectionFault('errors', 'Too many errors');
}

/** Counts a command of a client without a login. @throws ConnectionFault when the client only keeps its connection open */
export function countEarlyCommand(connection: Pick<AccessConnection, 'context' | 'earlyCommands'>): void {
  if (++connection.earlyCommands >= earlyLimits(connection.context).earlyCommands)
    throw new ConnectionFault('commands', 'Too many commands without a login');
}
