/** Sessions of ManageSieve connections learn at once that their logins have ended. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Account, Refusal } from '../../src/mail/managesieve/session.ts';
import { createScriptSession } from '../../src/mailbox-access/listeners.ts';
import { createOpenLogins } from '../../src/mailbox-access/open-logins.ts';
import { createWakeups } from '../../src/system/wakeups.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { recordLog } from '../support/record-log.ts';

const CLIENT = { address: '192.0.2.1', port: 1, localAddress: '192.0.2.2', localPort: 4190, tls: undefined };
const ENDED: Refusal = { refused: 'BYE', text: 'ended' };

/** Returns a session whose logins end when `state.end` is set. */
function open({ expiresAt = null }: { expiresAt?: number | null } = {}) {
  const { log } = recordLog();
  const clock = createFakeClock(0);
  const wakeups = createWakeups();
  const state: { end: Refusal | undefined; asked: number } = { end: undefined, asked: 0 };
  const login = { mailboxId: 'mbx_1', credential: 'password', passwordDigest: '' } as const;
  const main = {
    scramKey: () => assert.fail(),
    loginToScripts: async () => ({ owner: 'ann', login, expiresAt, serverSignature: undefined }),
    manageScripts: async () => assert.fail(),
    async findScriptLoginEnd() {
      state.asked += 1;
      return state.end;
    },
  };
  const openLogins = createOpenLogins({ clock, wakeups, log });
  const session = createScriptSession({ main, openLogins });
  async function logIn(): Promise<Account> {
    const account = await session.login({ username: 'ann', password: 'word', client: CLIENT });
    return 'refused' in account ? assert.fail(account.text) : account;
  }
  const tell = (id: string) => wakeups.notify('logins', [id]);
  return { state, clock, session, openLogins, logIn, tell };
}

test('a session is told when its login has ended, and asks only about its own mailbox', async () => {
  const { state, logIn, tell } = open();
  const { ended } = await logIn();
  state.end = ENDED;
  tell('mbx_2');
  assert.equal(state.asked, 1);
  tell('mbx_1');
  assert.deepEqual(await ended, ENDED);
});

test('a login that has ended before anything watched it is no session', async () => {
  const { state, logIn } = open();
  state.end = ENDED;
  assert.deepEqual(await (await logIn()).ended, ENDED);
});

test('a session ends when its credential expires', async () => {
  const { state, clock, logIn } = open({ expiresAt: 60_000 });
  const { ended } = await logIn();
  state.end = ENDED;
  await clock.advance(59_999);
  assert.equal(state.asked, 1);
  await clock.advance(1);
  assert.deepEqual(await ended, ENDED);
});

test('nothing is asked about a login after its connection, or after another login', async () => {
  const { state, session, logIn, tell } = open();
  await logIn();
  await logIn();
  tell('mbx_1');
  assert.equal(state.asked, 3);
  session.close();
  tell('mbx_1');
  assert.equal(state.asked, 3);
  // The client went away while its password was checked.
  await logIn();
  tell('mbx_1');
  assert.equal(state.asked, 4);
});

test('a session is listed until its connection ends, and is told when it is ended on request', async () => {
  const { session, openLogins, clock, logIn } = open();
  await clock.advance(5);
  const { ended } = await logIn();
  const [listed, ...more] = await openLogins.listSessions('mbx_1');
  assert.ok(listed && more.length === 0);
  const { id, ...facts } = listed;
  const expected = { protocol: 'sieve', address: CLIENT.address, credential: 'password', client: null };
  assert.deepEqual(facts, { ...expected, beganAt: 5 });
  assert.deepEqual(await openLogins.listSessions('mbx_2'), []);
  assert.deepEqual([await openLogins.disconnect('mbx_2'), await openLogins.disconnect('mbx_1', 'x')], [0, 0]);
  assert.equal(await openLogins.disconnect('mbx_1', id), 1);
  assert.deepEqual(await ended, { refused: 'BYE', text: 'This session was ended on request' });
  assert.deepEqual(await openLogins.listSessions('mbx_1'), []);
  await logIn();
  assert.equal((await openLogins.listSessions('mbx_1')).length, 1);
  session.close();
  assert.deepEqual(await openLogins.listSessions('mbx_1'), []);
});
