/** The part that listeners of SMTP and of the protocols for mail access have in common: their limits, their connections and their end. */
import { createServer, type Socket } from 'node:net';
import { type AcceptTlsOptions, acceptTls } from '../../system/accept-tls.ts';
import type { CertificateStore } from '../../system/certificates.ts';
import type { Clock } from '../../system/clock.ts';
import { createAddressLimit } from '../../system/guards/address-limit.ts';
import { createTokenBuckets } from '../../system/guards/token-buckets.ts';
import { type Endpoint, type Listener, listen, type Refuse, refusePlainly } from '../../system/listen.ts';
import type { Log } from '../../system/log.ts';
import type { System } from '../../system/system.ts';
import { createOccupancy, type Occupancy } from './occupancy.ts';

export type ListenerOptions = {
  /** Section of the configuration that the address and the port come from; also names the listener in the metrics. */
  section: string;
  at: Endpoint;
  /** Name of this server in the greeting. */
  hostname: string;
  /** `starttls` offers TLS; `immediate` begins every connection with it (RFC 8314 section 3). */
  tls: { mode: 'starttls' | 'immediate'; certificates: CertificateStore } | undefined;
};

export type ListenerLimits = {
  /** Maximum number of open connections, and of those of one address. */
  connections: number;
  connectionsPerAddress: number;
  /** Number of new connections of one address within a minute. */
  connectionsPerMinute: number;
};

export type ListenerSystem = Pick<System, 'clock' | 'log'> & Partial<Pick<System, 'metrics'>>;

/** A connection that ends with a fault before its next command. */
export type Interruptible<Fault> = { interrupt(fault: Fault): void };

/** State and settings that all connections of a listener share. */
export type ListenerContext<Options extends ListenerOptions, Limits extends ListenerLimits, Fault> = {
  clock: Clock;
  log: Pick<Log, 'error'>;
  options: Options;
  limits: Limits;
  /** Limits of clients without a login while the listener is nearly full. */
  stressLimits: Limits;
  occupancy: Occupancy;
  /** Closes a connection that has not begun its TLS, with this text where a handshake is affordable. */
  refuse: Refuse;
  /** Connections that are open. */
  connections: Set<Interruptible<Fault>>;
  /** Ends every connection before its next command, once the listener closes. */
  shutdown: Fault | undefined;
  /** Counts a new connection of this address. Returns false beyond the limit. */
  countConnection(address: string): boolean;
};

const SECONDS_PER_MINUTE = 60;

/** Returns the context of a listener without connections. `protocols` has the names of the protocol in a TLS handshake (ALPN). */
export function createListenerContext<Options extends ListenerOptions, Limits extends ListenerLimits, Fault>(
  { clock, log }: ListenerSystem,
  {
    options,
    limits,
    stress,
    protocols,
  }: { options: Options; limits: Limits; stress: Partial<Limits>; protocols?: DataView },
): ListenerContext<Options, Limits, Fault> {
  const { tls } = options;
  const newConnections = createAddressLimit(clock, {
    requestsPerSecond: limits.connectionsPerMinute / SECONDS_PER_MINUTE,
    burst: limits.connectionsPerMinute,
  });
  return {
    clock,
    log,
    options,
    limits,
    stressLimits: tighten<Limits>(limits, stress),
    occupancy: createOccupancy(clock, limits.connections),
    refuse: createRefuser(
      clock,
      tls?.mode === 'immediate' ? { ...tls, ...(protocols && { protocols }) } : undefined,
    ),
    connections: new Set(),
    shutdown: undefined,
    countConnection: (address) => newConnections.take(address).allowed,
  };
}

type ServedProtocol<Fault> = {
  /** Name in log lines, such as `IMAP`. */
  name: string;
  keepAlive: boolean;
  /** Serves a connection until it has ended. Rejects only when it cannot be opened. */
  serve(socket: Socket): Promise<void>;
  /** Returns the text for a client beyond the limits. */
  refusal(): string;
  /** Returns true for an address to which the limits for each address do not apply. */
  isExempt?(address: string): boolean;
  /** Returns the end of a connection when the listener closes. */
  shutdown(): Fault;
};

/**
 * Starts to listen. Closing the listener ends each connection after the command that it runs.
 * @throws ListenError
 */
export async function listenForClients<Options extends ListenerOptions, Limits extends ListenerLimits, Fault>(
  system: ListenerSystem,
  context: ListenerContext<Options, Limits, Fault>,
  { name, keepAlive, serve, refusal, isExempt, shutdown }: ServedProtocol<Fault>,
): Promise<Listener> {
  const { options, limits, refuse, occupancy } = context;
  // A client may close its side after its last command; the responses still reach it.
  const server = createServer({ allowHalfOpen: true, noDelay: true, keepAlive }, (socket) => {
    serve(socket).catch((error: unknown) => {
      system.log.error({ err: error }, `${name} session could not be opened`);
      socket.destroy();
    });
  });
  const listener = await listen(system, server, {
    section: options.section,
    at: options.at,
    limits: {
      total: limits.connections,
      perAddress: limits.connectionsPerAddress,
      ...(isExempt && { isExempt }),
    },
    refusal,
    refuse,
    evictOne: () => occupancy.evictOne(),
  });
  return {
    address: listener.address,
    async close(graceMs) {
      context.shutdown = shutdown();
      for (const connection of context.connections) connection.interrupt(context.shutdown);
      await listener.close(graceMs);
    },
  };
}

/** Returns limits of which none is larger than its counterpart under stress. */
function tighten<Limits extends Readonly<Record<string, number>>>(
  limits: Limits,
  stress: Partial<Limits>,
): Limits {
  const tight = Object.entries(stress).map(([name, value]) => [name, Math.min(limits[name] ?? value, value)]);
  return { ...limits, ...Object.fromEntries(tight) };
}

/** Maximum rate of the handshakes of a listener that are for refusals alone: each takes about a millisecond of a core. */
const REFUSAL_HANDSHAKES = { tokensPerSecond: 10, burst: 10 };
/** Time for each of the two steps of such a handshake. */
const HANDSHAKE_MS = 5_000;

/**
 * Returns a function that tells clients beyond the limits why their connections are closed. Where connections begin with TLS, a client can
 * read the reason only after a handshake, which costs the server more than the client: a few of them are affordable, and other connections
 * are closed without a word.
 */
function createRefuser(
  clock: Pick<Clock, 'elapsed' | 'after'>,
  tls: Omit<AcceptTlsOptions, 'timeoutMs'> | undefined,
): Refuse {
  if (!tls) return refusePlainly;
  const handshakes = createTokenBuckets(clock, 1);
  return (socket, text) => {
    if (!handshakes.take('', REFUSAL_HANDSHAKES).allowed) return void socket.destroy();
    acceptTls(clock, socket, { ...tls, timeoutMs: HANDSHAKE_MS }).then(
      (secure) => refusePlainly(secure, text),
      // A failed handshake has closed the connection.
      () => {},
    );
  };
}
