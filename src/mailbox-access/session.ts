/** Sessions of IMAP connections: the main thread decides who logs in, and the thread of the account does everything else. */

import type { AccountLink } from '../accounts/remote.ts';
import type { Account, ImapClient, Refusal, Session } from '../mail/imap/session.ts';
import type { PasswordCredentials } from '../mail/sasl/exchange.ts';
import type { ScramKey, ScramProof } from '../mail/sasl/scram.ts';
import type { LoginRequest } from '../mailboxes/authenticate.ts';
import type { LoginRefusal } from '../mailboxes/credential.ts';
import type { ScriptCalls } from '../mailboxes/scripts/manage.ts';
import type { OpenLogins } from './open-logins.ts';

/** A session that a thread of accounts serves over a link under a number. */
type Admission = {
  link: string;
  session: number;
  disabledCapabilities: readonly string[];
  /** Proof of the server, after a login by a proof. */
  serverSignature?: string | undefined;
};
export type LoginAnswer = Admission | { refused: LoginRefusal };

/** Functions of the main thread for this one. */
export type LoginCalls = {
  login(request: LoginRequest): Promise<LoginAnswer>;
  /** Returns the key of a user name for SCRAM. */
  scramKey(username: string): Promise<ScramKey>;
};

const UNAVAILABLE: Refusal = {
  refused: 'NO',
  code: 'UNAVAILABLE',
  text: 'The mailbox is not available at the moment',
};

/** Response codes of RFC 9051 section 7.1. */
const REFUSALS: Record<LoginRefusal, Refusal> = {
  credentials: {
    refused: 'NO',
    code: 'AUTHENTICATIONFAILED',
    text: 'The user name or the password is wrong',
  },
  limited: { refused: 'NO', code: 'LIMIT', text: 'Too many logins have failed; try again later' },
  suspended: { refused: 'NO', code: 'CONTACTADMIN', text: 'The mailbox is suspended' },
  damaged: UNAVAILABLE,
  unavailable: UNAVAILABLE,
};

export type Sessions = {
  main: LoginCalls & ScriptCalls;
  links: ReadonlyMap<string, AccountLink>;
  openLogins: OpenLogins;
};

/** Returns the session of a new connection. */
export function createAccessSession({
  main,
  links,
}: Pick<Sessions, 'links'> & { main: LoginCalls }): Session {
  let isClosed = false;
  let closeAccount = () => {};
  return {
    async login({ client, ...credentials }: PasswordCredentials & { client: ImapClient }) {
      return open(await main.login({ ...credentials, address: client.address, protocol: 'imap' }));
    },
    scramKey: (username) => main.scramKey(username),
    async loginByProof({ client, ...proof }: ScramProof & { client: ImapClient }) {
      const answer = await main.login({ ...proof, address: client.address, protocol: 'imap' });
      const opened = open(answer);
      const isOpen = !('refused' in answer) && !('refused' in opened);
      return { answer: opened, serverSignature: isOpen ? answer.serverSignature : undefined };
    },
    close() {
      isClosed = true;
      closeAccount();
    },
  };

  function open(answer: LoginAnswer): Account | Refusal {
    if ('refused' in answer) return REFUSALS[answer.refused];
    const { link, session, disabledCapabilities } = answer;
    const remote = links.get(link)?.open(session, disabledCapabilities);
    if (!remote) return UNAVAILABLE;
    // A client that has not believed the proof of the server may log in again.
    closeAccount();
    closeAccount = remote.close;
    // A client may go away while its password is checked.
    if (isClosed) remote.close();
    return remote.account;
  }
}
