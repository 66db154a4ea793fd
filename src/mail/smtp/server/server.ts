/**
 * Accepts SMTP or LMTP connections. The wire protocol and its state are here; what is accepted is decided by the session
 * that each connection opens (session.ts).
 */
import { createServer, type Socket } from 'node:net';
import { plainAddress } from '../../../system/address-block.ts';
import { createAddressLimit } from '../../../system/guards/address-limit.ts';
import { createConnectionCounts } from '../../../system/guards/connection-counts.ts';
import { type Listener, listen } from '../../../system/listen.ts';
import type { System } from '../../../system/system.ts';
import { createOccupancy } from '../../connection/occupancy.ts';
import { createRefuser } from '../../connection/refuser.ts';
import { tighten } from '../../connection/tighten.ts';
import { fault, type SmtpContext, tooManyConnections } from './commands/command.ts';
import { serveConnection } from './connection.ts';
import { ConnectionFault } from './fault.ts';
import { formatBareReply, reply } from './format-reply.ts';
import { createSmtpMetrics } from './metrics.ts';
import { DEFAULT_LIMITS, type SmtpLimits, type SmtpServerOptions, STRESS_LIMITS } from './options.ts';

const SECONDS_PER_MINUTE = 60;

/**
 * Starts to listen. Closing the listener ends idle connections with 421, and others after the command that they run; a
 * message that is being received is finished first, as far as `graceMs` allows.
 * @throws ListenError
 */
export async function listenSmtp(
  system: Pick<System, 'clock' | 'log'> & Partial<Pick<System, 'metrics'>>,
  options: SmtpServerOptions,
): Promise<Listener> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const context = createContext(system, options, limits);
  // A client may close its side after its last command; the replies still reach it.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    serveConnection(context, socket).catch((error: unknown) => {
      system.log.error({ err: error }, 'SMTP session could not be opened');
      socket.destroy();
    });
  });
  const { section, at, hostname } = options;
  const listener = await listen(system, server, {
    section,
    at,
    limits: {
      total: limits.connections,
      perAddress: limits.connectionsPerAddress,
      isExempt: (address) => isExempt(options, address),
    },
    refusal: () => formatBareReply(421, [tooManyConnections(options).text].flat()),
    refuse: context.refuse,
    makeRoom: () => context.occupancy.makeRoom(),
  });
  return {
    address: listener.address,
    async close(graceMs) {
      context.shutdown = new ConnectionFault('shutdown', reply(421, '4.3.2', `${hostname} is shutting down`));
      for (const interrupt of context.interrupts) interrupt(context.shutdown);
      await listener.close(graceMs);
    },
  };
}

/** The limits for each address do not apply to the address of a proxy, but to those of its clients. */
function isExempt({ isProxy, isExempt }: SmtpServerOptions, address: string): boolean {
  const plain = plainAddress(address);
  return isProxy?.(plain) === true || isExempt?.(plain) === true;
}

function createContext(
  { clock, log, metrics }: Pick<System, 'clock' | 'log'> & Partial<Pick<System, 'metrics'>>,
  options: SmtpServerOptions,
  limits: SmtpLimits,
): SmtpContext {
  const newConnections = createAddressLimit(clock, {
    requestsPerSecond: limits.connectionsPerMinute / SECONDS_PER_MINUTE,
    burst: limits.connectionsPerMinute,
  });
  const proxiedConnections = createConnectionCounts(limits.connectionsPerAddress);
  return {
    clock,
    log,
    metrics: createSmtpMetrics(metrics, options.section),
    options,
    limits,
    stressLimits: tighten(limits, STRESS_LIMITS),
    occupancy: createOccupancy(clock, limits.connections),
    interrupts: new Set(),
    shutdown: undefined,
    refuse: createRefuser(clock, options.tls?.mode === 'immediate' ? options.tls : undefined),
    limitAddress(socket: Socket, address: string, isProxied: boolean) {
      if (address === '') return true;
      if (options.isExempt?.(address)) return false;
      if (!newConnections.take(address).allowed) refuse('connection_rate', 'too many new connections');
      // The listener has counted the connections that came without a proxy.
      if (!isProxied) return true;
      const release = proxiedConnections.take(address);
      if (!release) refuse('connections', 'too many connections');
      socket.once('close', release);
      return true;
    },
  };
}

function refuse(reason: 'connection_rate' | 'connections', what: string): never {
  fault(reason, { code: 421, status: '4.7.0', text: `Your address has ${what}; try again later` });
}
