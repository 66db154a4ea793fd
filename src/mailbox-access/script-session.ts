/** Sessions of ManageSieve connections: the main thread decides who logs in, and stores and checks the scripts. */
import type { Account, Refusal, Session } from '../mail/managesieve/session.ts';
import type { LoginRefusal } from '../mailboxes/credential.ts';
import type { ScriptCalls, ScriptLoginAnswer } from '../mailboxes/script-calls.ts';
import type { WatchedLogin } from './open-logins.ts';
import type { LoginCalls, Sessions } from './session.ts';

const UNAVAILABLE: Refusal = {
  refused: 'NO',
  code: 'TRYLATER',
  text: 'The mailbox is not available at the moment',
};

const REFUSALS: Record<LoginRefusal, Refusal> = {
  credentials: { refused: 'NO', text: 'The user name or the password is wrong' },
  limited: { refused: 'NO', code: 'TRYLATER', text: 'Too many logins have failed; try again later' },
  suspended: { refused: 'NO', text: 'The mailbox is suspended' },
  damaged: UNAVAILABLE,
  unavailable: UNAVAILABLE,
};

type MainCalls = ScriptCalls & Pick<LoginCalls, 'scramKey'>;
type Admitted = Exclude<ScriptLoginAnswer, { refused: unknown }>;

/** Returns the session of a new connection. */
export function createScriptSession({
  main,
  openLogins,
}: Pick<Sessions, 'openLogins'> & { main: MainCalls }): Session {
  let isClosed = false;
  let endWatch = () => {};

  function open(answer: ScriptLoginAnswer): Account | Refusal {
    if ('refused' in answer) return REFUSALS[answer.refused];
    // A client that has not believed the proof of the server, or has logged out of its account, may log in again.
    endWatch();
    const { promise: ended, resolve: end } = Promise.withResolvers<Refusal>();
    endWatch = openLogins.watch(watchedLogin(main, answer), end);
    // A client may go away while its password is checked.
    if (isClosed) endWatch();
    return { ...accountOf(main, answer), ended };
  }

  return {
    async login({ client, ...credentials }) {
      const { address } = client;
      return open(await main.loginToScripts({ ...credentials, address, protocol: 'sieve' }));
    },
    scramKey: (username) => main.scramKey(username),
    async loginByProof({ client, ...proof }) {
      const answer = await main.loginToScripts({ ...proof, address: client.address, protocol: 'sieve' });
      const serverSignature = 'refused' in answer ? undefined : answer.serverSignature;
      return { answer: open(answer), serverSignature };
    },
    close() {
      isClosed = true;
      endWatch();
    },
  };
}

function watchedLogin(main: MainCalls, { login, expiresAt }: Admitted): WatchedLogin<Refusal> {
  return { id: login.mailboxId, expiresAt, findEnd: () => main.findScriptLoginEnd(login) };
}

function accountOf({ manageScripts }: ScriptCalls, { owner, login }: Admitted): Account {
  type Method = keyof Omit<Account, 'owner' | 'ended'>;
  const call = <Name extends Method>(
    method: Name,
    ...args: Parameters<Account[Name]>
  ): ReturnType<Account[Name]> => manageScripts({ login, method, args }) as ReturnType<Account[Name]>;
  return {
    owner,
    list: () => call('list'),
    get: (name) => call('get', name),
    haveSpace: (name, sizeBytes) => call('haveSpace', name, sizeBytes),
    put: (name, content) => call('put', name, content),
    check: (content) => call('check', content),
    setActive: (name) => call('setActive', name),
    delete: (name) => call('delete', name),
    rename: (from, to) => call('rename', from, to),
  };
}
