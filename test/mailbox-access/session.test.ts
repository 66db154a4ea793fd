import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccountLink } from '../../src/accounts/remote.ts';
import type { Account } from '../../src/mail/imap/session.ts';
import { createAccessSession, type LoginAnswer } from '../../src/mailbox-access/session.ts';

const CLIENT = {
  ...{ address: '192.0.2.1', port: 1, localAddress: '192.0.2.2', localPort: 993 },
  ...{ tls: undefined, id: {} },
};
const ADMITTED = { link: 'one', session: 7, disabledCapabilities: ['IDLE'] };

function open(answer: LoginAnswer | Promise<LoginAnswer>) {
  const account = {} as Account;
  const events: string[] = [];
  const link: AccountLink = {
    open(session, disabled) {
      events.push(`open ${session} ${disabled}`);
      return { account, close: () => events.push('close') };
    },
    openMaildrop: () => assert.fail(),
  };
  const asked: unknown[] = [];
  const main = {
    async login(request: unknown) {
      asked.push(request);
      return await answer;
    },
    scramKey: async (username: string) => ({ salt: username, iterations: 1 }),
  };
  const session = createAccessSession({ main, links: new Map([['one', link]]) });
  const login = () => session.login({ username: 'ann', password: 'word', client: CLIENT });
  return { account, events, asked, session, login };
}

test('the main thread decides who logs in, and a link has the account', async () => {
  const { account, asked, events, login, session } = open(ADMITTED);
  assert.equal(await login(), account);
  assert.deepEqual(asked, [{ username: 'ann', password: 'word', address: '192.0.2.1', protocol: 'imap' }]);
  session.close();
  assert.deepEqual(events, ['open 7 IDLE', 'close']);
});

test('the account of a client that went away during its login is closed', async () => {
  const answer = Promise.withResolvers<LoginAnswer>();
  const { events, login, session } = open(answer.promise);
  const done = login();
  session.close();
  answer.resolve(ADMITTED);
  await done;
  assert.deepEqual(events, ['open 7 IDLE', 'close']);
});

test('each refusal of a login has its response code', async () => {
  const codeOf = async (answer: LoginAnswer) => {
    const { login } = open(answer);
    const refusal = await login();
    return 'refused' in refusal ? `${refusal.refused} ${refusal.code}` : undefined;
  };
  assert.equal(await codeOf({ refused: 'credentials' }), 'NO AUTHENTICATIONFAILED');
  assert.equal(await codeOf({ refused: 'limited' }), 'NO LIMIT');
  assert.equal(await codeOf({ refused: 'suspended' }), 'NO CONTACTADMIN');
  assert.equal(await codeOf({ refused: 'damaged' }), 'NO UNAVAILABLE');
  assert.equal(await codeOf({ refused: 'unavailable' }), 'NO UNAVAILABLE');
  // The thread of the account has died in the meantime.
  assert.equal(await codeOf({ ...ADMITTED, link: 'gone' }), 'NO UNAVAILABLE');
});

test('a proof is decided by the main thread too, and a second login closes the account of the first', async () => {
  const { account, events, asked, session } = open({ ...ADMITTED, serverSignature: 'c2ln' });
  assert.deepEqual(await session.scramKey('ann'), { salt: 'ann', iterations: 1 });
  const proof = { username: 'ann', message: 'what was said', proof: 'cHJvb2Y=' };
  const answer = await session.loginByProof({ ...proof, client: CLIENT });
  assert.deepEqual(answer, { answer: account, serverSignature: 'c2ln' });
  assert.deepEqual(asked, [{ ...proof, address: '192.0.2.1', protocol: 'imap' }]);
  await session.loginByProof({ ...proof, client: CLIENT });
  assert.deepEqual(events, ['open 7 IDLE', 'open 7 IDLE', 'close']);
  const refused = open({ refused: 'credentials' }).session;
  const { answer: refusal, serverSignature } = await refused.loginByProof({ ...proof, client: CLIENT });
  assert.deepEqual(['refused' in refusal, serverSignature], [true, undefined]);
});
