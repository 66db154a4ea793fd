/** Sessions of ManageSieve connections: the main thread decides who logs in, and stores and checks the scripts. */
import type { Account, Refusal, Session } from '../../mail/managesieve/session.ts';
import type { LoginRefusal } from '../credential.ts';
import type { ScriptCalls, ScriptLoginAnswer } from '../scripts/manage.ts';
import type { LoginCalls } from './session.ts';

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

/** Returns the session of a new connection. */
export function createScriptSession(main: ScriptCalls & Pick<LoginCalls, 'scramKey'>): Session {
  const open = (answer: ScriptLoginAnswer): Account | Refusal =>
    'refused' in answer ? REFUSALS[answer.refused] : accountOf(main, answer);
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
    close() {},
  };
}

function accountOf(
  { manageScripts }: ScriptCalls,
  { owner, login }: Exclude<ScriptLoginAnswer, { refused: unknown }>,
): Account {
  const call = <Method extends keyof Omit<Account, 'owner'>>(
    method: Method,
    ...args: Parameters<Account[Method]>
  ): ReturnType<Account[Method]> => manageScripts({ login, method, args }) as ReturnType<Account[Method]>;
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
