/**
 * Accepts ManageSieve connections (RFC 5804). The wire protocol and its states are here; who may log in, and to which scripts, is
 * decided by the session that each connection opens (session.ts).
 */
import type { Listener } from '../../system/listen.ts';
import type { FaultReason } from '../access/fault.ts';
import { type AccessProtocol, listenAccess } from '../access/server.ts';
import type { ListenerSystem } from '../connection/listener.ts';
import { openConnection } from './connection.ts';
import { PROTOCOLS } from './encrypt.ts';
import { DEFAULT_LIMITS, type ManageSieveLimits, type ManageSieveOptions } from './options.ts';
import { writeCompletion } from './respond.ts';

/** Response codes that say why a connection ends (RFC 5804 section 1.3). */
const CODES: Partial<Record<FaultReason, string>> = {
  connections: 'TRYLATER',
  evicted: 'TRYLATER',
  connection_rate: 'TRYLATER',
  failed: 'TRYLATER',
  shutdown: 'TRYLATER',
};

const MANAGESIEVE: AccessProtocol<ManageSieveOptions, ManageSieveLimits> = {
  name: 'ManageSieve',
  protocols: PROTOCOLS,
  formatEnd: ({ reason, text }) => writeCompletion('BYE', { code: CODES[reason], text }),
  open: openConnection,
};

/**
 * Starts to listen. Closing the listener ends each connection with BYE, after the command that it runs.
 * @throws ListenError
 */
export function listenManageSieve(system: ListenerSystem, options: ManageSieveOptions): Promise<Listener> {
  return listenAccess(system, { options, limits: { ...DEFAULT_LIMITS, ...options.limits } }, MANAGESIEVE);
}
