/**
 * Accepts IMAP connections. The wire protocol and its states are here; who may log in, and to which mail, is decided by the
 * session that each connection opens (session.ts).
 */
import type { Listener } from '../../system/listen.ts';
import type { ConnectionFault, FaultReason } from '../access/fault.ts';
import { type AccessProtocol, type AccessSystem, listenAccess } from '../access/server.ts';
import { openConnection } from './connection.ts';
import { PROTOCOLS } from './encrypt.ts';
import { DEFAULT_LIMITS, type ImapLimits, type ImapServerOptions } from './options.ts';

/** Response codes that say why a connection ends (RFC 9051 section 7.1). */
const CODES: Partial<Record<FaultReason, string>> = {
  connections: 'UNAVAILABLE',
  evicted: 'UNAVAILABLE',
  connection_rate: 'LIMIT',
  failed: 'SERVERBUG',
  shutdown: 'UNAVAILABLE',
};

const IMAP: AccessProtocol<ImapServerOptions, ImapLimits> = {
  name: 'IMAP',
  protocols: PROTOCOLS,
  formatEnd: ({ reason, text }: ConnectionFault) =>
    `* BYE ${CODES[reason] === undefined ? '' : `[${CODES[reason]}] `}${text}\r\n`,
  open: openConnection,
};

/**
 * Starts to listen. Closing the listener ends each connection with BYE, after the command that it runs.
 * @throws ListenError
 */
export async function listenImap(system: AccessSystem, options: ImapServerOptions): Promise<Listener> {
  return await listenAccess(system, { options, limits: { ...DEFAULT_LIMITS, ...options.limits } }, IMAP);
}
