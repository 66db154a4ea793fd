import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { OpenAccount } from '../../src/accounts/account.ts';
import { beginMailSession, MAX_LISTED_SESSIONS, type MailSession } from '../../src/accounts/mail-session.ts';
import { openAccount } from '../../src/accounts/open.ts';
import { type AccountSettings, OpenAccounts } from '../../src/accounts/open-accounts.ts';
import { type AccountTx, changeUsage, nextModseq } from '../../src/accounts/store.ts';
import type { MailboxRow } from '../../src/db/mailbox-tables.ts';
import { defineWrite } from '../../src/db/operation.ts';
import { DamagedDatabaseError } from '../../src/db/private-database.ts';
import type { Refusal } from '../../src/mail/imap/session.ts';
import { DAY_MS } from '../../src/system/clock.ts';
import { nextSlice } from '../../src/system/slices.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { createAccountApp } from '../support/test-account.ts';

const setUsage = defineWrite('test.setUsage', changeUsage);
const takeModseq = defineWrite('test.takeModseq', (tx: AccountTx, _input: undefined) => nextModseq(tx));

function settingsOf(name: string, root: string, isNew = true): AccountSettings {
  const id = `mbx_${name}` as MailboxRow['id'];
  return {
    id,
    folder: join(root, 'mailboxes', id),
    isNew,
    quotaBytes: 1_000,
    updatedAt: 1,
    lastModseq: 0,
    disabledCapabilities: [],
  };
}

type Credential = MailSession['credential'];

/** Returns a session that began at this time, with a credential. */
const sessionOf = (credential: Credential, { at = 0, expiresAt = null as number | null } = {}) => ({
  session: beginMailSession({ protocol: 'imap', address: '192.0.2.1', credential }, at),
  expiresAt,
});

const PASSWORD = sessionOf('password');

function openThem(t: TestContext) {
  const app = createAccountApp();
  const root = temporaryDirectory('open-accounts');
  const usages: unknown[] = [];
  const damaged: string[] = [];
  let opened = 0;
  const damage = Promise.withResolvers<DamagedDatabaseError>();
  const accounts = new OpenAccounts(app, {
    reports: { usage: async (usage) => void usages.push(usage), damaged: ({ id }) => damaged.push(id) },
    async open(...args): Promise<OpenAccount> {
      opened++;
      const account = await openAccount(...args);
      const { file, read } = account.db;
      return {
        ...account,
        db: {
          ...{ file, read, damaged: damage.promise },
          commit: (...write) => account.db.commit(...write),
          maintain: (work) => account.db.maintain(work),
          copyTo: (copy) => account.db.copyTo(copy),
          followPages: (follower) => account.db.followPages(follower),
          gatherPages: () => account.db.gatherPages(),
          copyBack: () => account.db.copyBack(),
          close: () => account.db.close(),
        },
      };
    },
  });
  t.after(() => accounts.closeAll());
  return {
    accounts,
    clock: app.clock,
    root,
    usages,
    damaged,
    damage,
    opened: () => opened,
    of: (name: string) => settingsOf(name, root),
  };
}

test('an account is opened once for all who hold it, and closed when nobody does', async (t) => {
  const { accounts, of, opened } = openThem(t);
  const [first, second] = await Promise.all([accounts.hold(of('a')), accounts.hold(of('a'))]);
  assert.equal(first.account, second.account);
  assert.deepEqual([opened(), accounts.size], [1, 1]);
  first.release();
  first.release();
  assert.equal(await accounts.closeIdle('mbx_a'), false);
  second.release();
  assert.equal(await accounts.closeIdle('mbx_a'), true);
  assert.equal(accounts.size, 0);
  assert.equal(await accounts.closeIdle('mbx_a'), true);
});

test('whoever comes while an account closes gets it opened again', async (t) => {
  const { accounts, of, opened } = openThem(t);
  (await accounts.hold(of('a'))).release();
  const closing = accounts.closeIdle('mbx_a');
  const { account, release } = await accounts.hold(of('a'));
  assert.equal(await closing, true);
  assert.equal(opened(), 2);
  assert.equal(account.id, 'mbx_a');
  release();
});

test('new settings reach those who hold an account; older ones change nothing', async (t) => {
  const { accounts, of } = openThem(t);
  accounts.configure(of('a'));
  const { settings, release } = await accounts.hold(of('a'));
  accounts.configure({ ...of('a'), quotaBytes: 2_000, updatedAt: 2 });
  assert.equal(settings.quotaBytes, 2_000);
  (await accounts.hold(of('a'))).release();
  assert.equal(settings.quotaBytes, 2_000);
  release();
});

test('closing ends the sessions, and waits for those who hold the account', async (t) => {
  const { accounts, of } = openThem(t);
  const { release } = await accounts.hold(of('a'));
  const endings: Refusal[] = [];
  accounts.onEnding('mbx_a', PASSWORD, (refusal) => endings.push(refusal));
  const notAsked = accounts.onEnding('mbx_a', PASSWORD, () => assert.fail('this session has ended'));
  notAsked();
  let isClosed = false;
  const closing = accounts.close('mbx_a').then(() => {
    isClosed = true;
  });
  assert.deepEqual(
    endings.map(({ refused, code }) => [refused, code]),
    [['BYE', 'UNAVAILABLE']],
  );
  await accounts.use(of('b'), async () => {});
  assert.equal(isClosed, false);
  release();
  await closing;
  assert.equal(accounts.size, 1);
});

test('sessions end with their credential, when it is revoked and when it expires, and others go on', async (t) => {
  const { accounts, of, clock } = openThem(t);
  const { release } = await accounts.hold(of('a'));
  const endings: string[] = [];
  const endOf = (name: string) => (refusal: Refusal) => void endings.push(`${name} ${refusal.code}`);
  const begin = (id: 'password' | 'apw_1' | 'apw_2', expiresAt: number | null = null) =>
    accounts.onEnding('mbx_a', sessionOf(id, { expiresAt }), endOf(id));
  begin('password');
  begin('apw_1');
  begin('apw_1')();
  accounts.endSessions('mbx_b', 'apw_1');
  accounts.endSessions('mbx_a', 'apw_1');
  assert.deepEqual(endings.splice(0), ['apw_1 AUTHORIZATIONFAILED']);
  begin('apw_2', clock.now() + 40 * DAY_MS);
  begin('apw_2', clock.now() + 40 * DAY_MS)();
  await clock.advance(39 * DAY_MS);
  assert.deepEqual(endings, []);
  await clock.advance(DAY_MS);
  assert.deepEqual(endings, ['apw_2 EXPIRED']);
  release();
});

test('the sessions of an account are listed, and end one by one or together, and those of other accounts go on', async (t) => {
  const { accounts, of } = openThem(t);
  const held = [await accounts.hold(of('a')), await accounts.hold(of('b'))];
  const endings: string[] = [];
  const begin = (account: string, at: number) => {
    const added = sessionOf('password', { at });
    const end = ({ refused, text }: Refusal) => void endings.push(`${account} ${at} ${refused} ${text}`);
    accounts.onEnding(`mbx_${account}`, added, end);
    return added.session;
  };
  const [first, second, third] = [begin('a', 1), begin('a', 3), begin('a', 2)];
  const other = begin('b', 1);
  assert.deepEqual(accounts.listSessions('mbx_a'), [second, third, first]);
  assert.equal(accounts.disconnect('mbx_a', other.id), 0);
  assert.equal(accounts.disconnect('mbx_a', third.id), 1);
  assert.deepEqual(endings.splice(0), ['a 2 BYE This session was ended on request']);
  assert.equal(accounts.disconnect('mbx_a', third.id), 0);
  assert.equal(accounts.disconnect('mbx_a'), 2);
  assert.equal(endings.length, 2);
  assert.deepEqual(accounts.listSessions('mbx_a'), []);
  assert.deepEqual(accounts.listSessions('mbx_b'), [other]);
  for (let at = 0; at <= MAX_LISTED_SESSIONS; at++) begin('a', at);
  const listed = accounts.listSessions('mbx_a');
  assert.deepEqual([listed.length, listed[0]?.beganAt], [MAX_LISTED_SESSIONS, MAX_LISTED_SESSIONS]);
  for (const { release } of held) release();
});

test('an account that is closed while it is opened has no sessions that nobody has asked to end', async (t) => {
  const { accounts, of, opened } = openThem(t);
  const holding = accounts.hold(of('a'));
  let isClosed = false;
  const closing = accounts.close('mbx_a').then(() => {
    isClosed = true;
  });
  const { release } = await holding;
  assert.equal(isClosed, true);
  await closing;
  assert.equal(opened(), 2);
  release();
});

test('a damaged account ends its sessions, closes and is reported, and no other', async (t) => {
  const { accounts, of, damage, damaged } = openThem(t);
  const { release } = await accounts.hold(of('a'));
  const ended = new Promise<Refusal>((resolve) => void accounts.onEnding('mbx_a', PASSWORD, resolve));
  damage.resolve(new DamagedDatabaseError('index.db', 'damaged'));
  assert.match((await ended).text, /damaged/);
  release();
  assert.deepEqual(damaged, ['mbx_a']);
  assert.equal(await accounts.use(of('b'), async ({ id }) => id), 'mbx_b');
});

test('an account that is missing is damaged, and can be opened once it is there', async (t) => {
  const { accounts, root, damaged, of } = openThem(t);
  await assert.rejects(accounts.hold(settingsOf('a', root, false)), DamagedDatabaseError);
  assert.deepEqual([damaged, accounts.size], [['mbx_a'], 0]);
  (await accounts.hold(of('a'))).release();
});

test('the usage of an account is reported when it has changed, and when it closes', async (t) => {
  const { accounts, of, usages } = openThem(t);
  const add = (usedBytes: number) =>
    accounts.use(of('a'), ({ db }) => db.commit(setUsage, { usedBytes, messageCount: 1 }));
  const { release } = await accounts.hold(of('a'));
  // A new account is known before anybody uses it.
  assert.deepEqual(usages.splice(0), [{ id: 'mbx_a', usedBytes: 0, messageCount: 0, lastModseq: 6 }]);
  await add(10);
  await accounts.reportUsage();
  await accounts.reportUsage();
  assert.deepEqual(usages.splice(0), [{ id: 'mbx_a', usedBytes: 10, messageCount: 1, lastModseq: 6 }]);
  await accounts.use(of('a'), ({ db }) => db.commit(takeModseq, undefined));
  await accounts.reportUsage();
  assert.deepEqual(usages, []);
  await add(5);
  release();
  await accounts.closeIdle('mbx_a');
  assert.deepEqual(usages, [{ id: 'mbx_a', usedBytes: 15, messageCount: 2, lastModseq: 7 }]);
});

test('while work runs on a closed account, whoever wants to open it waits', async (t) => {
  const { accounts, of, opened } = openThem(t);
  const { release } = await accounts.hold(of('a'));
  const order: string[] = [];
  const working = Promise.withResolvers<void>();
  const repaired = accounts.whileClosed(of('a'), async () => {
    order.push('begins');
    await working.promise;
    order.push('ends');
  });
  const ending = accounts.close(of('a').id);
  release();
  await ending;
  const again = accounts.hold(of('a')).then(({ release: end }) => {
    order.push('opened');
    end();
  });
  await new Promise(setImmediate);
  assert.deepEqual([order, opened()], [['begins'], 1]);
  working.resolve();
  await Promise.all([repaired, again]);
  assert.deepEqual([order, opened()], [['begins', 'ends', 'opened'], 2]);
  await assert.rejects(
    accounts.whileClosed(of('a'), () => Promise.reject(new Error('no'))),
    /no/,
  );
  assert.equal(accounts.size, 0);
});

test('accounts alternate between the slices of the work that is done with them', async (t) => {
  const { accounts, of } = openThem(t);
  // Accounts open before the work begins.
  await Promise.all(['a', 'b'].map((name) => accounts.use(of(name), async () => {})));
  const order: string[] = [];
  const works = ['a', 'a', 'a', 'b'].map((name) =>
    accounts.use(of(name), async () => {
      for (let slice = 0; slice < 3; slice++) {
        await nextSlice();
        order.push(name);
      }
    }),
  );
  await Promise.all(works);
  const firstOfB = order.indexOf('b');
  assert.equal(order.slice(firstOfB, firstOfB + 6).filter((name) => name === 'b').length, 3, order.join(''));
});
