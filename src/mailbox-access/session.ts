/** Sessions of IMAP and POP3 before their login: the main thread decides who logs in, and the thread of the account serves what follows. */

import { Handover } from '../mail/access/handover.ts';
import type { Client } from '../mail/connection/client.ts';
import type { Refusal as ImapRefusal, Session as ImapSession } from '../mail/imap/session.ts';
import type { MaildropSize, Refusal as Pop3Refusal, Session as Pop3Session } from '../mail/pop3/session.ts';
import type { LoginSession } from '../mail/sasl/mechanisms.ts';
import type { ScramKey } from '../mail/sasl/scram.ts';
import type { LoginRequest } from '../mailboxes/authenticate.ts';
import type { LoginRefusal } from '../mailboxes/credential.ts';
import type { ScriptCalls } from '../mailboxes/script-calls.ts';
import type { StreamPort } from '../system/thread/streams.ts';
import type { OpenLogins } from './open-logins.ts';

/** A session that waits in the thread of its account, on a stream of a link. */
type Admission = {
  link: string;
  stream: number;
  disabledCapabilities: readonly string[];
  /** Size of the maildrop that the session has, after a login by POP3. */
  maildrop?: MaildropSize | undefined;
  /** Proof of the server, after a login by a proof. */
  serverSignature?: string | undefined;
};
/** `in-use` says that another session has the maildrop. */
type Refused = LoginRefusal | 'in-use';
export type LoginAnswer = Admission | { refused: Refused };

/** Functions of the main thread for this one. */
export type LoginCalls = {
  login(request: LoginRequest): Promise<LoginAnswer>;
  /** Returns the key of a user name for SCRAM. */
  scramKey(username: string): Promise<ScramKey>;
};

export type Sessions = {
  main: LoginCalls & ScriptCalls;
  links: ReadonlyMap<string, StreamPort>;
  openLogins: OpenLogins;
};

type LoginParts = Pick<Sessions, 'links'> & { main: LoginCalls };

const IMAP_UNAVAILABLE: ImapRefusal = {
  refused: 'NO',
  code: 'UNAVAILABLE',
  text: 'The mailbox is not available at the moment',
};

/** Response codes of RFC 9051 section 7.1. */
const IMAP_REFUSALS: Record<Refused, ImapRefusal> = {
  credentials: {
    refused: 'NO',
    code: 'AUTHENTICATIONFAILED',
    text: 'The user name or the password is wrong',
  },
  limited: { refused: 'NO', code: 'LIMIT', text: 'Too many logins have failed; try again later' },
  suspended: { refused: 'NO', code: 'CONTACTADMIN', text: 'The mailbox is suspended' },
  'in-use': IMAP_UNAVAILABLE,
  damaged: IMAP_UNAVAILABLE,
  unavailable: IMAP_UNAVAILABLE,
};

/** Response codes of RFC 3206 and RFC 2449. AUTH is for what another password would mend. */
const POP3_REFUSALS: Record<Refused, Pop3Refusal> = {
  credentials: { refused: true, code: 'AUTH', text: 'The user name or the password is wrong' },
  limited: { refused: true, code: 'SYS/TEMP', text: 'Too many logins have failed; try again later' },
  suspended: { refused: true, code: 'SYS/PERM', text: 'The mailbox is suspended' },
  'in-use': { refused: true, code: 'IN-USE', text: 'Another session has the maildrop' },
  damaged: { refused: true, code: 'SYS/PERM', text: 'The mailbox is damaged' },
  unavailable: { refused: true, code: 'SYS/TEMP', text: 'The mailbox is not available at the moment' },
};

/** Returns the session of a new connection of IMAP. */
export function createImapSession(parts: LoginParts): ImapSession {
  return createSession(parts, {
    protocol: 'imap',
    refusals: IMAP_REFUSALS,
    admit: (handover, { disabledCapabilities }) => ({ handover, disabledCapabilities }),
  });
}

/** Returns the session of a new connection of POP3. */
export function createPop3Session(parts: LoginParts): Pop3Session {
  return createSession(parts, {
    protocol: 'pop3',
    refusals: POP3_REFUSALS,
    admit: (handover, { maildrop = { count: 0, sizeBytes: 0 } }) => ({ handover, ...maildrop }),
  });
}

type Answers<Admitted, Refusal> = {
  protocol: 'imap' | 'pop3';
  refusals: Record<Refused, Refusal>;
  admit(handover: Handover, admission: Admission): Admitted;
};

function createSession<Admitted, Refusal>(
  { main, links }: LoginParts,
  { protocol, refusals, admit }: Answers<Admitted, Refusal>,
): LoginSession<Client, Admitted | Refusal> & { close(): void } {
  let isClosed = false;
  let handover: Handover | undefined;
  function open(answer: LoginAnswer): Admitted | Refusal {
    if ('refused' in answer) return refusals[answer.refused];
    const port = links.get(answer.link);
    if (!port) return refusals.unavailable;
    // A client that has not believed the proof of the server may log in again.
    handover?.discard();
    handover = new Handover(port, answer.stream);
    // A client may go away while its password is checked.
    if (isClosed) handover.discard();
    return admit(handover, answer);
  }
  return {
    async login({ client, ...credentials }) {
      return open(await main.login({ ...credentials, address: client.address, protocol }));
    },
    scramKey: (username) => main.scramKey(username),
    async loginByProof({ client, ...proof }) {
      const login = await main.login({ ...proof, address: client.address, protocol });
      const isOpen = !('refused' in login) && links.has(login.link);
      return { answer: open(login), serverSignature: isOpen ? login.serverSignature : undefined };
    },
    close() {
      isClosed = true;
      handover?.discard();
    },
  };
}
