import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { MAX_OPEN_ACCOUNTS } from '../../src/accounts/account-assignment.ts';
import type { DeliveryRequest } from '../../src/accounts/delivery.ts';
import { NO_JUNK } from '../../src/accounts/junk-senders.ts';
import { beginMailSession, type SessionSource } from '../../src/accounts/mail-session.ts';
import type { AccountCalls } from '../../src/accounts/part.ts';
import type { MailboxRow } from '../../src/db/mailbox-tables.ts';
import { createAccounts } from '../../src/mailboxes/accounts.ts';
import { findMailboxById, recordDamage, recordRepair } from '../../src/mailboxes/store.ts';
import { AppError } from '../../src/system/errors.ts';
import { newId } from '../../src/system/ids.ts';
import { nextSlice } from '../../src/system/slices.ts';
import { openTestApp } from '../support/test-app.ts';
import { addMailbox } from './fixtures.ts';

const test1 = await openTestApp();
after(() => test1.close());

const REPORT = { messages: 1, recovered: 0, altered: 0, gone: [], unreadable: 0, evidence: '/x' };

/** Returns a thread that notes its calls. */
function threadOf(calls: Partial<AccountCalls> = {}) {
  const asked: string[] = [];
  return {
    asked,
    calls: {
      connect: async () => {},
      admit: async () => ({ stream: 1 }),
      deliver: async () => ({ kind: 'delivered' as const }),
      findMissing: async () => [],
      importMessages: async () => ({ added: 0, withoutKeywords: 0 }),
      remember: async () => {},
      listFolders: async () => [],
      message: async () => [],
      read: async () => [],
      check: async () => ({ contents: 0, findings: [], next: null }),
      copyBack: async () => {},
      repair: async () => REPORT,
      copy: async () => ({ linked: [] }),
      followPages: async () => {},
      collectPages: async () => [],
      async configure({ account: { id, quotaBytes } }: { account: { id: string; quotaBytes: number } }) {
        asked.push(`configure ${id} ${quotaBytes}`);
      },
      async endSessions({ id, credential }: { id: string; credential: string }) {
        asked.push(`endSessions ${id} ${credential}`);
      },
      async listSessions({ id }: { id: string }) {
        asked.push(`listSessions ${id}`);
        return [];
      },
      async disconnect({ id, sessionId }: { id: string; sessionId?: string | undefined }) {
        asked.push(`disconnect ${id} ${sessionId}`);
        return 1;
      },
      listJunkSenders: async () => NO_JUNK,
      listTargets: async () => [],
      readAnnotations: async () => [],
      async closeIdle({ id }: { id: string }) {
        asked.push(`closeIdle ${id}`);
        return true;
      },
      async close({ id }: { id: string }) {
        asked.push(`close ${id}`);
      },
      ...calls,
    },
  };
}

const mailboxOf = (name: string): MailboxRow =>
  ({
    id: `mbx_${name}`,
    quotaBytes: 10,
    updatedAt: 1,
    usedBytes: 0,
    messageCount: 0,
    lastModseq: 0,
    disabledCapabilities: '[]',
  }) as MailboxRow;

test('an account goes to the thread with the fewest, and stays there while it is open', async () => {
  const accounts = createAccounts(test1.app, [threadOf(), threadOf()]);
  const placeOf = (name: string) => accounts.run(mailboxOf(name), async (_account, _calls, thread) => thread);
  assert.deepEqual(await Promise.all(['a', 'b', 'c', 'd', 'a', 'b'].map(placeOf)), [0, 1, 0, 1, 0, 1]);
  await accounts.close('mbx_b' as MailboxRow['id']);
  assert.equal(await placeOf('e'), 1);
});

test('a new quota and the end of a credential are told to the thread that has the account open, and to no other', async () => {
  const threads = [threadOf(), threadOf()];
  const accounts = createAccounts(test1.app, threads);
  await accounts.configure(mailboxOf('a'));
  await accounts.run(mailboxOf('a'), async () => {});
  await accounts.configure({ ...mailboxOf('a'), quotaBytes: 20 });
  await accounts.endSessions('mbx_a' as MailboxRow['id'], 'password');
  assert.deepEqual(
    threads.map(({ asked }) => asked),
    [['configure mbx_a 20', 'endSessions mbx_a password'], []],
  );
});

test('a thread learns what it needs to open an account', async () => {
  const accounts = createAccounts(test1.app, [threadOf()]);
  const settings = (fields: Partial<MailboxRow>) =>
    accounts.run({ ...mailboxOf('a'), ...fields }, async (account) => account);
  assert.deepEqual(await settings({ disabledCapabilities: '["IDLE"]' }), {
    id: 'mbx_a',
    quotaBytes: 10,
    updatedAt: 1,
    folder: `${test1.dataDir}/mailboxes/mbx_a`,
    isNew: true,
    lastModseq: 0,
    disabledCapabilities: ['IDLE'],
  });
  assert.equal((await settings({ messageCount: 1, usedBytes: 5 })).isNew, false);
  assert.equal((await settings({ lastModseq: 6 })).isNew, false);
});

test('beyond the maximum the least recently used account is closed, unless it is in use', async () => {
  const isInUse = new Set(['mbx_0']);
  const thread = threadOf({
    async closeIdle({ id }) {
      thread.asked.push(id);
      return !isInUse.has(id);
    },
  });
  const accounts = createAccounts(test1.app, [thread]);
  const use = (name: number) => accounts.run(mailboxOf(`${name}`), async () => {});
  for (let name = 0; name < MAX_OPEN_ACCOUNTS; name++) await use(name);
  await use(1);
  assert.deepEqual(thread.asked, []);
  await use(MAX_OPEN_ACCOUNTS);
  assert.deepEqual(thread.asked, ['mbx_0', 'mbx_2']);
  await use(MAX_OPEN_ACCOUNTS + 1);
  assert.deepEqual(thread.asked.slice(2), ['mbx_3', 'mbx_4']);
});

test('accounts use a fifth of the files at most, and those that nobody uses make room', async () => {
  let isInUse = true;
  const thread = threadOf({ closeIdle: async () => !isInUse });
  const accounts = createAccounts(test1.app, [thread], { maxOpenFiles: 4 * 5 * 4 });
  const use = (name: string) => accounts.run(mailboxOf(name), async () => name);
  for (const name of ['a', 'b', 'c', 'd']) await use(name);
  await assert.rejects(use('e'), { code: 'unavailable' });
  isInUse = false;
  assert.equal(await use('a'), 'a');
  assert.equal(await use('e'), 'e');
});

test('nothing is opened while an account closes, and it is closed again when a call has opened it', async () => {
  const closes: (() => void)[] = [];
  const asked: string[] = [];
  const thread = threadOf({
    close: async ({ id }) => {
      asked.push(id);
      await new Promise<void>((resolve) => void closes.push(resolve));
    },
  });
  const accounts = createAccounts(test1.app, [thread]);
  const onItsWay = Promise.withResolvers<void>();
  const first = accounts.run(mailboxOf('a'), () => onItsWay.promise);
  await Promise.resolve();
  const closing = accounts.close('mbx_a' as MailboxRow['id']);
  let hasBegun = false;
  const second = accounts.run(mailboxOf('a'), async () => {
    hasBegun = true;
  });
  closes[0]?.();
  onItsWay.resolve();
  await first;
  await nextSlice();
  assert.equal(hasBegun, false);
  closes[1]?.();
  await Promise.all([closing, second]);
  assert.deepEqual([asked, hasBegun], [['mbx_a', 'mbx_a'], true]);
});

test('a thread that has died has no open accounts', async () => {
  const dead = new AppError('unavailable', 'it starts again');
  let asked = 0;
  const close = () => {
    asked++;
    return Promise.reject(dead);
  };
  const thread = threadOf({ close, closeIdle: close });
  const accounts = createAccounts(test1.app, [thread]);
  await accounts.run(mailboxOf('a'), async () => {});
  await accounts.close('mbx_a' as MailboxRow['id']);
  await accounts.close('mbx_a' as MailboxRow['id']);
  assert.equal(asked, 1);
});

test('mail for a mailbox that is damaged, or turns out to be, waits', async () => {
  const damage = Object.assign(new Error('index.db is damaged'), { name: 'DamagedDatabaseError' });
  const delivered: unknown[] = [];
  const thread = threadOf({
    async deliver({ account, request }) {
      delivered.push([account.id, request.deliveryId]);
      if (request.deliveryId === 'in_2') throw damage;
      if (request.deliveryId === 'in_3') throw new AppError('unavailable', 'it starts again');
      return { kind: 'delivered' };
    },
  });
  const accounts = createAccounts(test1.app, [thread]);
  const good = await addMailbox(test1);
  const bad = await addMailbox(test1, { address: 'bob@people.example', status: 'damaged' });
  const requestOf = (mailboxId: MailboxRow['id'], deliveryId: string): DeliveryRequest => ({
    ...{ mailboxId, deliveryId, prefix: '', isJunk: false, receivedAt: 0 },
    content: { sizeBytes: 1, bytes: new Uint8Array(1), file: undefined },
  });
  assert.deepEqual(await accounts.deliver(requestOf(good.id, 'in_1')), { kind: 'delivered' });
  const reasonOf = async (mailboxId: MailboxRow['id'], deliveryId: string) => {
    const result = await accounts.deliver(requestOf(mailboxId, deliveryId));
    return result.kind === 'waiting' ? result.reason : result.kind;
  };
  assert.match(await reasonOf(good.id, 'in_2'), /damaged/);
  assert.match(await reasonOf(good.id, 'in_3'), /starts again/);
  assert.match(await reasonOf(bad.id, 'in_4'), /damaged/);
  assert.match(await reasonOf(newId('mbx', 0), 'in_5'), /not found/);
  assert.deepEqual(
    delivered,
    ['in_1', 'in_2', 'in_3'].map((id) => [good.id, id]),
  );
});

test('a mailbox that is repaired takes no login meanwhile, and then has its status again', async () => {
  const { id } = await addMailbox(test1, { address: 'carol@people.example' });
  const statusOf = async () => (await findMailboxById(test1.app.db.read, id))!.status;
  const during: string[] = [];
  const thread = threadOf({
    async repair() {
      during.push(await statusOf());
      return REPORT;
    },
  });
  const accounts = createAccounts(test1.app, [thread]);
  const repair = async () => accounts.repairs.repair((await findMailboxById(test1.app.db.read, id))!);
  assert.equal(await repair(), REPORT);
  assert.deepEqual([during, await statusOf()], [['damaged'], 'active']);
  await test1.app.db.commit(recordRepair, { id, status: 'suspended', now: 1 });
  await repair();
  assert.equal(await statusOf(), 'suspended');
  await test1.app.db.commit(recordDamage, { id, now: 1 });
  await repair();
  assert.equal(await statusOf(), 'active');
});

test('sessions are listed and ended wherever they are served, the newest first, without those of a part that has died', async () => {
  const sessionAt = (now: number) =>
    beginMailSession({ protocol: 'imap', address: '192.0.2.1', credential: 'password' }, now);
  const [first, second, third] = [sessionAt(1), sessionAt(2), sessionAt(3)];
  const thread = threadOf({ listSessions: async () => [second] });
  const dead = async (): Promise<never> => {
    throw new AppError('unavailable', 'The thread starts again');
  };
  const ended: unknown[] = [];
  const others: SessionSource[] = [
    { listSessions: async () => [third, first], disconnect: async (...asked) => ended.push(asked) },
    { listSessions: dead, disconnect: dead },
  ];
  const accounts = createAccounts(test1.app, [thread], { others });
  const { id } = mailboxOf('a');
  assert.deepEqual(await accounts.listSessions(id), [third, first]);
  await accounts.run(mailboxOf('a'), async () => {});
  assert.deepEqual(await accounts.listSessions(id), [third, second, first]);
  assert.equal(await accounts.disconnect(id, second.id), 2);
  assert.deepEqual(thread.asked, [`disconnect ${id} ${second.id}`]);
  assert.deepEqual(ended, [[id, second.id]]);
});
