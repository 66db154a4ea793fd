import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { createImapSession, createPop3Session, type LoginAnswer } from '../../src/mailbox-access/session.ts';
import { PortStream } from '../../src/system/thread/port-stream.ts';
import { StreamPort } from '../../src/system/thread/streams.ts';

const CLIENT = {
  ...{ address: '192.0.2.1', port: 1, localAddress: '192.0.2.2', localPort: 993 },
  ...{ tls: undefined, id: {} },
};
const ADMITTED = { link: 'one', stream: 7, disabledCapabilities: ['IDLE'] };
const CREDENTIALS = { username: 'ann', password: 'word', client: CLIENT };
const PROOF = { username: 'ann', message: 'what was said', proof: 'cHJvb2Y=' };

/** Opens a session of a protocol over a link, at whose other end sessions wait on the streams with these numbers. */
function open<Session>(
  t: TestContext,
  create: (parts: Parameters<typeof createImapSession>[0]) => Session,
  answer: LoginAnswer | Promise<LoginAnswer>,
) {
  const { port1, port2 } = new MessageChannel();
  t.after(() => port1.close());
  const far = new StreamPort(port2);
  const asked: unknown[] = [];
  const main = {
    async login(request: unknown) {
      asked.push(request);
      return await answer;
    },
    scramKey: async (username: string) => ({ salt: username, iterations: 1 }),
  };
  const session = create({ main, links: new Map([['one', new StreamPort(port1)]]) });
  return { session, asked, closed: once(new PortStream(far, 7, () => {}), 'close') };
}

test('the main thread decides who logs in, and the thread of the account waits on a stream', async (t) => {
  const { session, asked, closed } = open(t, createImapSession, ADMITTED);
  const answer = await session.login(CREDENTIALS);
  assert.ok('handover' in answer);
  assert.deepEqual(answer.disabledCapabilities, ['IDLE']);
  assert.deepEqual(asked, [{ username: 'ann', password: 'word', address: '192.0.2.1', protocol: 'imap' }]);
  session.close();
  await closed;
});

test('POP3 learns the size of the maildrop', async (t) => {
  const { session } = open(t, createPop3Session, { ...ADMITTED, maildrop: { count: 2, sizeBytes: 9 } });
  assert.partialDeepStrictEqual(await session.login(CREDENTIALS), { count: 2, sizeBytes: 9 });
});

test('the account of a client that went away during its login learns it', async (t) => {
  const answer = Promise.withResolvers<LoginAnswer>();
  const { session, asked, closed } = open(t, createImapSession, answer.promise);
  const done = session.login(CREDENTIALS);
  session.close();
  answer.resolve(ADMITTED);
  await done;
  await closed;
  assert.equal(asked.length, 1);
});

test('each refusal of a login has its response code', async (t) => {
  const codesOf = async (answer: LoginAnswer) => {
    const imap = await open(t, createImapSession, answer).session.login(CREDENTIALS);
    const pop3 = await open(t, createPop3Session, answer).session.login(CREDENTIALS);
    assert.ok('refused' in imap && 'refused' in pop3);
    return [`${imap.refused} ${imap.code}`, pop3.code];
  };
  assert.deepEqual(await codesOf({ refused: 'credentials' }), ['NO AUTHENTICATIONFAILED', 'AUTH']);
  assert.deepEqual(await codesOf({ refused: 'limited' }), ['NO LIMIT', 'SYS/TEMP']);
  assert.deepEqual(await codesOf({ refused: 'suspended' }), ['NO CONTACTADMIN', 'SYS/PERM']);
  assert.deepEqual(await codesOf({ refused: 'damaged' }), ['NO UNAVAILABLE', 'SYS/PERM']);
  assert.deepEqual(await codesOf({ refused: 'unavailable' }), ['NO UNAVAILABLE', 'SYS/TEMP']);
  assert.deepEqual(await codesOf({ refused: 'in-use' }), ['NO UNAVAILABLE', 'IN-USE']);
  // The thread of the account has died in the meantime.
  assert.deepEqual(await codesOf({ ...ADMITTED, link: 'gone' }), ['NO UNAVAILABLE', 'SYS/TEMP']);
});

test('a proof is decided by the main thread too, and a second login ends the session of the first', async (t) => {
  const { session, asked, closed } = open(t, createImapSession, { ...ADMITTED, serverSignature: 'c2ln' });
  assert.deepEqual(await session.scramKey('ann'), { salt: 'ann', iterations: 1 });
  const { answer, serverSignature } = await session.loginByProof({ ...PROOF, client: CLIENT });
  assert.ok('handover' in answer);
  assert.equal(serverSignature, 'c2ln');
  assert.deepEqual(asked, [{ ...PROOF, address: '192.0.2.1', protocol: 'imap' }]);
  await session.loginByProof({ ...PROOF, client: CLIENT });
  await closed;
  const refused = open(t, createImapSession, { refused: 'credentials' }).session;
  const refusal = await refused.loginByProof({ ...PROOF, client: CLIENT });
  assert.deepEqual(['refused' in refusal.answer, refusal.serverSignature], [true, undefined]);
});
