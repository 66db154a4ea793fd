/**
 * Serves IMAP. The wire protocol and its states are here; who may log in is decided by the session that each connection opens, and its
 * mail is in the account that the user's connection is served with (session.ts).
 */
import type { Listener } from '../../system/listen.ts';
import { ConnectionFault, type FaultReason } from '../access/fault.ts';
import { serveUser, type User, type UserContext, type UserStream } from '../access/serve-user.ts';
import { type AccessProtocol, listenAccess } from '../access/server.ts';
import type { ListenerSystem } from '../connection/listener.ts';
import { PROTOCOLS } from './attach.ts';
import { responseText } from './commands/command.ts';
import { type Head, openConnection, openUser } from './connection.ts';
import type { ImapContext } from './connection-state.ts';
import { DEFAULT_LIMITS, type ImapLimits, type ImapServerOptions } from './options.ts';
import type { Account } from './session.ts';

/** Response codes that say why a connection ends (RFC 9051 section 7.1). */
const CODES: Partial<Record<FaultReason, string>> = {
  connections: 'UNAVAILABLE',
  evicted: 'UNAVAILABLE',
  connection_rate: 'LIMIT',
  failed: 'SERVERBUG',
  shutdown: 'UNAVAILABLE',
};

const ENDING = {
  name: 'IMAP',
  formatEnd: ({ reason, text }: ConnectionFault) =>
    `* BYE ${CODES[reason] === undefined ? '' : `[${CODES[reason]}] `}${text}\r\n`,
};

const IMAP: AccessProtocol<ImapServerOptions, ImapLimits> = {
  ...ENDING,
  protocols: PROTOCOLS,
  open: openConnection,
};

/**
 * Starts to listen. Closing the listener ends each connection with BYE, after the command that it runs.
 * @throws ListenError
 */
export async function listenImap(system: ListenerSystem, options: ImapServerOptions): Promise<Listener> {
  return await listenAccess(system, { options, limits: { ...DEFAULT_LIMITS, ...options.limits } }, IMAP);
}

/** Serves the connection of a user who has logged in, whose stream the listener has handed over. The account is closed at its end. */
export function serveImapUser(
  context: UserContext & { limits?: Partial<ImapLimits> | undefined } & Pick<ImapServerOptions, 'id'> &
    Pick<ImapContext, 'noteId'>,
  stream: UserStream,
  account: Account,
): User {
  const full: ImapContext = {
    ...context,
    limits: context.limits ? { ...DEFAULT_LIMITS, ...context.limits } : DEFAULT_LIMITS,
    options: context,
  };
  const { done, end } = serveUser(context, stream, {
    ...ENDING,
    open: (octets, head) => openUser(full, { stream: octets, head: head as Head }, account),
  });
  return {
    done: done.finally(() => account.close()),
    end: (refusal) => end(new ConnectionFault('session', responseText(refusal))),
  };
}
