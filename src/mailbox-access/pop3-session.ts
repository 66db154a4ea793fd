/** Sessions of POP3 connections: the main thread decides who logs in, and the thread of the account has the messages. */

import type { RemoteMaildrop } from '../accounts/remote.ts';
import { isRefusal, type Maildrop, type Refusal, type Session } from '../mail/pop3/session.ts';
import type { LoginRefusal } from '../mailboxes/credential.ts';
import { toRefusal } from './pop3-refusal.ts';
import { ReadAhead } from './read-ahead.ts';
import type { LoginAnswer, LoginCalls, Sessions } from './session.ts';

const UNAVAILABLE: Refusal = {
  refused: true,
  code: 'SYS/TEMP',
  text: 'The mailbox is not available at the moment',
};

/** Response codes of RFC 3206. AUTH is for what another password would mend. */
const REFUSALS: Record<LoginRefusal, Refusal> = {
  credentials: { refused: true, code: 'AUTH', text: 'The user name or the password is wrong' },
  limited: { refused: true, code: 'SYS/TEMP', text: 'Too many logins have failed; try again later' },
  suspended: { refused: true, code: 'SYS/PERM', text: 'The mailbox is suspended' },
  damaged: { refused: true, code: 'SYS/PERM', text: 'The mailbox is damaged' },
  unavailable: UNAVAILABLE,
};

/** Returns the session of a new connection. */
export function createPop3Session({ main, links }: Pick<Sessions, 'links'> & { main: LoginCalls }): Session {
  let isClosed = false;
  let remote: RemoteMaildrop | undefined;
  async function open(answer: LoginAnswer): Promise<Maildrop | Refusal> {
    if ('refused' in answer) return REFUSALS[answer.refused];
    // A client that has not believed the proof of the server may log in again.
    remote?.close();
    remote = links.get(answer.link)?.openMaildrop(answer.session);
    if (!remote) return UNAVAILABLE;
    // A client may go away while its password is checked.
    if (isClosed) remote.close();
    const drop = await openMaildrop(remote);
    if (isRefusal(drop)) remote.close();
    return drop;
  }

  return {
    async login({ client, ...credentials }) {
      return await open(await main.login({ ...credentials, address: client.address, protocol: 'pop3' }));
    },
    scramKey: (username) => main.scramKey(username),
    async loginByProof({ client, ...proof }) {
      const login = await main.login({ ...proof, address: client.address, protocol: 'pop3' });
      const answer = await open(login);
      const isOpen = !('refused' in login) && !isRefusal(answer);
      return { answer, serverSignature: isOpen ? login.serverSignature : undefined };
    },
    close() {
      isClosed = true;
      remote?.close();
    },
  };
}

async function openMaildrop(remote: RemoteMaildrop): Promise<Maildrop | Refusal> {
  const listing = await remote.openMaildrop();
  if ('refused' in listing) return toRefusal(listing);
  const ahead = new ReadAhead(listing.sizes, remote.retrieve);
  return {
    ...listing,
    ended: remote.ended.then(toRefusal),
    retrieve: (index) => ahead.read(index),
    async quit(removed) {
      await ahead.stop();
      const refusal = await remote.quitMaildrop(removed);
      return refusal && toRefusal(refusal);
    },
  };
}
