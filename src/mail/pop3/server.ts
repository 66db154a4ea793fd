/**
 * Accepts POP3 connections (RFC 1939). The wire protocol and its states are here; who may log in, and to which mail, is decided by
 * the session that each connection opens (session.ts).
 */
import type { Listener } from '../../system/listen.ts';
import type { PortStream } from '../../system/thread/port-stream.ts';
import { ConnectionFault, type FaultReason } from '../access/fault.ts';
import { serveUser, type User, type UserContext, type UserStream } from '../access/serve-user.ts';
import { type AccessProtocol, listenAccess } from '../access/server.ts';
import type { ListenerSystem } from '../connection/listener.ts';
import { openConnection, openUser } from './connection.ts';
import type { Head, Pop3Context } from './connection-state.ts';
import { PROTOCOLS } from './encrypt.ts';
import { DEFAULT_LIMITS, type Pop3Limits, type Pop3ServerOptions } from './options.ts';
import type { Maildrop } from './session.ts';

/** Reasons for which a connection ends without a response: a client that is silent is not answered (RFC 1939 section 3). */
const SILENT: readonly FaultReason[] = ['idle', 'login_time', 'slow_reader'];

const ENDING = {
  name: 'POP3',
  formatEnd: ({ reason, text }: ConnectionFault) =>
    SILENT.includes(reason) ? '' : `-ERR [SYS/TEMP] ${text}\r\n`,
};

const POP3: AccessProtocol<Pop3ServerOptions, Pop3Limits> = {
  ...ENDING,
  protocols: PROTOCOLS,
  open: openConnection,
};

/**
 * Starts to listen. Closing the listener ends each connection after the command that it runs, and nothing is deleted.
 * @throws ListenError
 */
export async function listenPop3(system: ListenerSystem, options: Pop3ServerOptions): Promise<Listener> {
  return await listenAccess(system, { options, limits: { ...DEFAULT_LIMITS, ...options.limits } }, POP3);
}

/** Serves the connection of a user who has logged in, whose stream the listener has handed over. The maildrop is closed at its end. */
export function servePop3User(
  context: UserContext & { limits?: Partial<Pop3Limits> | undefined },
  stream: UserStream,
  maildrop: Maildrop,
): User {
  const full: Pop3Context = {
    ...context,
    limits: context.limits ? { ...DEFAULT_LIMITS, ...context.limits } : DEFAULT_LIMITS,
  };
  const open = (octets: PortStream, head: unknown) =>
    openUser(full, { stream: octets, head: head as Head }, maildrop);
  const { done, end } = serveUser(context, stream, { ...ENDING, open });
  return {
    done: done.finally(() => maildrop.close()),
    end: ({ text }) => end(new ConnectionFault('session', text)),
  };
}
