/**
 * Accepts IMAP connections. The wire protocol and its states are here; who may log in, and to which mail, is decided by the
 * session that each connection opens (session.ts).
 */
import { createServer } from 'node:net';
import { createAddressLimit } from '../../system/guards/address-limit.ts';
import { type Listener, listen } from '../../system/listen.ts';
import type { System } from '../../system/system.ts';
import { createTurns } from '../../system/turns.ts';
import type { ImapContext } from './commands/command.ts';
import { serveConnection } from './connection.ts';
import { ConnectionFault } from './fault.ts';
import { createImapMetrics } from './metrics.ts';
import { DEFAULT_LIMITS, type ImapLimits, type ImapServerOptions } from './options.ts';

const SECONDS_PER_MINUTE = 60;
/**
 * Number of TLS handshakes that begin in a turn of the event loop. With its handshake and its login a client takes 2 to 4 ms, and after a
 * restart of a server thousands of clients connect again, while those that are connected want their answers. Our own limit.
 */
const HANDSHAKES_PER_TURN = 1;

type ServerSystem = Pick<System, 'clock' | 'log'> & Partial<Pick<System, 'metrics'>>;

/**
 * Starts to listen. Closing the listener ends each connection with BYE, after the command that it runs.
 * @throws ListenError
 */
export async function listenImap(system: ServerSystem, options: ImapServerOptions): Promise<Listener> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const context = createContext(system, options, limits);
  // A client may close its side after its last command; the responses still reach it.
  const server = createServer({ allowHalfOpen: true, noDelay: true, keepAlive: true }, (socket) => {
    serveConnection(context, socket).catch((error: unknown) => {
      system.log.error({ err: error }, 'IMAP session could not be opened');
      socket.destroy();
    });
  });
  const { section, at, hostname } = options;
  const listener = await listen(system, server, {
    section,
    at,
    limits: { total: limits.connections, perAddress: limits.connectionsPerAddress },
    refusal: () =>
      options.tls?.mode === 'immediate' ? '' : `* BYE [UNAVAILABLE] ${hostname} has too many connections\r\n`,
  });
  return {
    address: listener.address,
    async close(graceMs) {
      context.shutdown = new ConnectionFault('shutdown', `[UNAVAILABLE] ${hostname} is shutting down`);
      for (const { wire } of context.connections) wire.interrupt(context.shutdown);
      await listener.close(graceMs);
    },
  };
}

function createContext(
  { clock, log, metrics }: ServerSystem,
  options: ImapServerOptions,
  limits: ImapLimits,
): ImapContext {
  const newConnections = createAddressLimit(clock, {
    requestsPerSecond: limits.connectionsPerMinute / SECONDS_PER_MINUTE,
    burst: limits.connectionsPerMinute,
  });
  return {
    clock,
    log,
    metrics: createImapMetrics(metrics, options.section),
    options,
    limits,
    connections: new Set(),
    handshakeTurn: createTurns(HANDSHAKES_PER_TURN),
    shutdown: undefined,
    limitAddress(address) {
      if (newConnections.take(address).allowed) return;
      throw new ConnectionFault('connection_rate', '[LIMIT] Your address has too many new connections');
    },
  };
}
