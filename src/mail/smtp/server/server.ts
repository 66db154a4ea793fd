/**
 * Accepts SMTP or LMTP connections. The wire protocol and its state are here; what is accepted is decided by the session
 * that each connection opens (session.ts).
 */
import type { Socket } from 'node:net';
import { plainAddress } from '../../../system/address-block.ts';
import { createConnectionCounts } from '../../../system/guards/connection-counts.ts';
import type { Listener } from '../../../system/listen.ts';
import { createListenerContext, type ListenerSystem, listenForClients } from '../../connection/listener.ts';
import { fault, type SmtpContext, tooManyConnections } from './commands/command.ts';
import { serveConnection } from './connection.ts';
import { ConnectionFault } from './fault.ts';
import { formatBareReply, reply } from './format-reply.ts';
import { createSmtpMetrics } from './metrics.ts';
import { DEFAULT_LIMITS, type SmtpLimits, type SmtpServerOptions, STRESS_LIMITS } from './options.ts';

/**
 * Starts to listen. Closing the listener ends idle connections with 421, and others after the command that they run; a
 * message that is being received is finished first, as far as `graceMs` allows.
 * @throws ListenError
 */
export async function listenSmtp(system: ListenerSystem, options: SmtpServerOptions): Promise<Listener> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const context = createContext(system, options, limits);
  return await listenForClients(system, context, {
    name: 'SMTP',
    keepAlive: false,
    serve: (socket) => serveConnection(context, socket),
    refusal: () => formatBareReply(421, [tooManyConnections(options).text].flat()),
    isExempt: (address) => isExempt(options, address),
    shutdown: () =>
      new ConnectionFault('shutdown', reply(421, '4.3.2', `${options.hostname} is shutting down`)),
  });
}

/** The limits for each address do not apply to the address of a proxy, but to those of its clients. */
function isExempt({ isProxy, isExempt }: SmtpServerOptions, address: string): boolean {
  const plain = plainAddress(address);
  return isProxy?.(plain) === true || isExempt?.(plain) === true;
}

function createContext(system: ListenerSystem, options: SmtpServerOptions, limits: SmtpLimits): SmtpContext {
  const shared = createListenerContext<SmtpServerOptions, SmtpLimits, ConnectionFault>(system, {
    options,
    limits,
    stress: STRESS_LIMITS,
  });
  const proxiedConnections = createConnectionCounts(limits.connectionsPerAddress);
  return Object.assign(shared, {
    metrics: createSmtpMetrics(system.metrics, options.section),
    limitAddress(socket: Socket, address: string, isProxied: boolean) {
      if (address === '') return true;
      if (options.isExempt?.(address)) return false;
      if (!shared.countConnection(address)) refuse('connection_rate', 'too many new connections');
      // The listener has counted the connections that came without a proxy.
      if (!isProxied) return true;
      const release = proxiedConnections.take(address);
      if (!release) refuse('connections', 'too many connections');
      socket.once('close', release);
      return true;
    },
  });
}

function refuse(reason: 'connection_rate' | 'connections', what: string): never {
  fault(reason, { code: 421, status: '4.7.0', text: `Your address has ${what}; try again later` });
}
