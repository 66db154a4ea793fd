/**
 * Accepts POP3 connections (RFC 1939). The wire protocol and its states are here; who may log in, and to which mail, is decided by
 * the session that each connection opens (session.ts).
 */
import type { Listener } from '../../system/listen.ts';
import type { ConnectionFault, FaultReason } from '../access/fault.ts';
import { type AccessProtocol, type AccessSystem, listenAccess } from '../access/server.ts';
import { openConnection, PROTOCOLS } from './connection.ts';
import { DEFAULT_LIMITS, type Pop3Limits, type Pop3ServerOptions } from './options.ts';

/** Reasons for which a connection ends without a response: a client that is silent is not answered (RFC 1939 section 3). */
const SILENT: readonly FaultReason[] = ['idle', 'login_time', 'slow_reader'];

const POP3: AccessProtocol<Pop3ServerOptions, Pop3Limits> = {
  name: 'POP3',
  protocols: PROTOCOLS,
  formatEnd: ({ reason, text }: ConnectionFault) =>
    SILENT.includes(reason) ? '' : `-ERR [SYS/TEMP] ${text}\r\n`,
  open: openConnection,
};

/**
 * Starts to listen. Closing the listener ends each connection after the command that it runs, and nothing is deleted.
 * @throws ListenError
 */
export async function listenPop3(system: AccessSystem, options: Pop3ServerOptions): Promise<Listener> {
  return await listenAccess(system, { options, limits: { ...DEFAULT_LIMITS, ...options.limits } }, POP3);
}
