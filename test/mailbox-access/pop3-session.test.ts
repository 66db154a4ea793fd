import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccountLink, RemoteMaildrop } from '../../src/accounts/remote.ts';
import { isRefusal, type Maildrop, type Refusal } from '../../src/mail/pop3/session.ts';
import { createPop3Session } from '../../src/mailbox-access/pop3-session.ts';
import type { LoginAnswer } from '../../src/mailbox-access/session.ts';

const CLIENT = { address: '192.0.2.1', port: 1, localAddress: '192.0.2.2', localPort: 995, tls: undefined };
const ADMITTED = { link: 'one', session: 7, disabledCapabilities: [] };
const IN_USE: Refusal = { refused: true, code: 'IN-USE', text: 'Another session has the maildrop' };

const OCTETS = 'abcdefghijkl';

/** Opens a session with four messages of three octets, which come in pieces. */
function open(answer: LoginAnswer | Promise<LoginAnswer>, { isInUse = false, pieceOctets = 100 } = {}) {
  const events: string[] = [];
  const remote: RemoteMaildrop = {
    ended: new Promise(() => {}),
    async openMaildrop() {
      const messages = { uids: Uint32Array.of(1, 2, 3, 4), sizes: Uint32Array.of(3, 3, 3, 3) };
      return isInUse ? IN_USE : { uidValidity: 1, ...messages };
    },
    async *retrieve(from, count) {
      try {
        events.push(`retrieve ${from} ${count}`);
        const end = 3 * (from + count);
        for (let at = 3 * from; at < end; at += pieceOctets)
          yield Buffer.from(OCTETS.slice(at, Math.min(at + pieceOctets, end)));
        return undefined;
      } finally {
        events.push('end of retrieve');
      }
    },
    async quitMaildrop(indexes) {
      events.push(`quit ${indexes}`);
      return undefined;
    },
    close: () => void events.push('close'),
  };
  const link: AccountLink = { open: () => assert.fail(), openMaildrop: () => remote };
  const asked: unknown[] = [];
  const main = {
    async login(request: unknown) {
      asked.push(request);
      return await answer;
    },
  } as unknown as Parameters<typeof createPop3Session>[0]['main'];
  const session = createPop3Session({ main, links: new Map([['one', link]]) });
  const login = () => session.login({ username: 'ann', password: 'word', client: CLIENT });
  return { events, asked, session, login };
}

test('the main thread decides who logs in, and what is read ahead ends before messages are removed', async () => {
  const { asked, events, login, session } = open(ADMITTED);
  const drop = await login();
  if (isRefusal(drop)) assert.fail(drop.text);
  const { protocol, address } = asked[0] as { protocol: string; address: string };
  assert.deepEqual([protocol, address], ['pop3', '192.0.2.1']);
  assert.deepEqual(await read(drop, 0), { octets: 'abc', isWhole: false });
  assert.equal(await drop.quit([1]), undefined);
  session.close();
  assert.deepEqual(events, ['retrieve 0 2', 'end of retrieve', 'quit 1', 'close']);
});

/** Reads a message to its end. */
async function read({ retrieve }: Maildrop, index: number): Promise<{ octets: string; isWhole: boolean }> {
  const message = retrieve(index);
  if (Buffer.isBuffer(message)) return { octets: message.toString(), isWhole: true };
  let octets = '';
  for await (const piece of message) octets += piece;
  return { octets, isWhole: false };
}

test('a message that has come with the one before it is returned as a whole', async () => {
  for (const pieceOctets of [1, 5, 100]) {
    const drop = await open(ADMITTED, { pieceOctets }).login();
    if (isRefusal(drop)) assert.fail(drop.text);
    const messages = [];
    for (const index of [0, 1, 2, 3, 1, 2]) messages.push(await read(drop, index));
    assert.equal(messages.map(({ octets }) => octets).join(' '), 'abc def ghi jkl def ghi');
    const wholes = messages.map(({ isWhole }) => isWhole);
    assert.deepEqual(wholes, [false, pieceOctets === 100, false, pieceOctets === 100, false, false]);
    // A client has read the beginning of a message, and goes on with the next one.
    const beginning = drop.retrieve(2);
    if (!Buffer.isBuffer(beginning)) for await (const _ of beginning) break;
    assert.equal((await read(drop, 3)).octets, 'jkl');
    const other = await open(ADMITTED, { pieceOctets }).login();
    if (isRefusal(other)) assert.fail(other.text);
    assert.equal((await read(other, 0)).octets + (await read(other, 2)).octets, 'abcghi');
  }
});

test('a session whose maildrop is in use ends at once, so that a client that tries again leaves nothing open', async () => {
  const { events, login } = open(ADMITTED, { isInUse: true });
  assert.deepEqual(await login(), IN_USE);
  assert.deepEqual(events, ['close']);
});

test('the maildrop of a client that went away during its login is closed', async () => {
  const answer = Promise.withResolvers<LoginAnswer>();
  const { events, login, session } = open(answer.promise);
  const done = login();
  session.close();
  answer.resolve(ADMITTED);
  await done;
  assert.deepEqual(events, ['close']);
});

test('each refusal of a login has its response code', async () => {
  const codeOf = async (answer: LoginAnswer) => {
    const refusal = await open(answer).login();
    return isRefusal(refusal) ? refusal.code : undefined;
  };
  assert.equal(await codeOf({ refused: 'credentials' }), 'AUTH');
  assert.equal(await codeOf({ refused: 'limited' }), 'SYS/TEMP');
  assert.equal(await codeOf({ refused: 'suspended' }), 'SYS/PERM');
  assert.equal(await codeOf({ refused: 'damaged' }), 'SYS/PERM');
  assert.equal(await codeOf({ refused: 'unavailable' }), 'SYS/TEMP');
  // The thread of the account has died in the meantime.
  assert.equal(await codeOf({ ...ADMITTED, link: 'gone' }), 'SYS/TEMP');
});
