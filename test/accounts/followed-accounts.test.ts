import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import Sqlite, { type Database } from 'better-sqlite3';
import fc from 'fast-check';
import type { AccountApp, OpenAccount } from '../../src/accounts/account.ts';
import { discard, prepareContent } from '../../src/accounts/content.ts';
import { copyAccount } from '../../src/accounts/copy.ts';
import { accountFolder, contentFolder, indexFile } from '../../src/accounts/folder.ts';
import { createFolder, deleteFolder } from '../../src/accounts/folders.ts';
import { type AccountPages, FollowedAccounts } from '../../src/accounts/followed-accounts.ts';
import { openAccount } from '../../src/accounts/open.ts';
import { repairAccount } from '../../src/accounts/repair.ts';
import { pathOf } from '../../src/blobs/files.ts';
import { applyPages } from '../../src/db/apply-pages.ts';
import { eachPage } from '../../src/db/changed-pages.ts';
import { createPageBudget } from '../../src/db/waiting-pages.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { addTestMessages, createAccountApp, messageOf } from '../support/test-account.ts';

const LARGE_BYTES = 100_000;

/** Returns the rows of all tables. */
function dump(database: Database): Record<string, unknown> {
  const names = database
    .prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    .pluck()
    .all();
  return Object.fromEntries(names.map((name) => [name, database.prepare(`SELECT * FROM "${name}"`).all()]));
}

/** Accounts that change, and a copy that follows them. */
class Followed {
  readonly app: AccountApp;
  readonly followed: FollowedAccounts;
  readonly #root = temporaryDirectory('followed');
  readonly #copies = temporaryDirectory('followed-copy');
  readonly #open = new Map<AccountPages['id'], OpenAccount>();

  constructor(followed = new FollowedAccounts()) {
    this.followed = followed;
    this.app = createAccountApp({ followed });
  }

  async account(id: AccountPages['id']): Promise<OpenAccount> {
    const known = this.#open.get(id);
    if (known) return known;
    const folder = accountFolder(this.#root, id);
    const account = await openAccount(this.app, { id, folder, isNew: true });
    this.#open.set(id, account);
    return account;
  }

  async close(id: AccountPages['id']): Promise<void> {
    await this.#open.get(id)?.close();
    this.#open.delete(id);
  }

  async closeAll(): Promise<void> {
    for (const id of [...this.#open.keys()]) await this.close(id);
  }

  copyOf(id: AccountPages['id']): string {
    return accountFolder(this.#copies, id);
  }

  async collect(): Promise<AccountPages[]> {
    const collected = await this.followed.collect();
    assert.ok(collected !== 'lost');
    return collected;
  }

  async apply(collected: AccountPages[]): Promise<void> {
    for (const { id, pages, files, isReplaced } of collected) {
      assert.ok(!isReplaced);
      const to = this.copyOf(id);
      if (pages) await applyPages(indexFile(to), { ...pages, pages: eachPage(pages) });
      for (const sha256 of files) this.#files(id).add(sha256);
    }
  }

  /** Requires that the copies are the accounts, and that each file that a row names was collected. */
  async compare(): Promise<void> {
    for (const [id, account] of this.#open) {
      const copy = new Sqlite(indexFile(this.copyOf(id)), { readonly: true });
      assert.equal(copy.pragma('integrity_check', { simple: true }), 'ok');
      assert.deepEqual(dump(copy), await account.db.maintain(dump));
      const named = copy.prepare<[], string>('SELECT blobSha256 FROM contents WHERE blobSha256 IS NOT NULL');
      for (const sha256 of named.pluck().all()) {
        assert.ok(this.#files(id).has(sha256) || existsSync(pathOf(contentFolder(this.copyOf(id)), sha256)));
        assert.ok(existsSync(pathOf(contentFolder(account.folder), sha256)));
      }
      copy.close();
    }
  }

  readonly #collectedFiles = new Map<string, Set<string>>();

  #files(id: string): Set<string> {
    const files = this.#collectedFiles.get(id) ?? new Set();
    this.#collectedFiles.set(id, files);
    return files;
  }
}

const IDS = ['mbx_1', 'mbx_2'] as const;
const step = fc.tuple(
  fc.constantFrom('small', 'small', 'large', 'many', 'folder', 'collect', 'close'),
  fc.constantFrom(...IDS),
);

test('copies of accounts follow them, whether they are open or not', async () => {
  const run = fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), async (steps) => {
    const world = new Followed();
    for (const id of IDS) await addTestMessages(await world.account(id), 'INBOX', [messageOf('first')]);
    await world.followed.follow(true);
    const copying = Promise.all(
      IDS.map(async (id) => copyAccount(await world.account(id), world.copyOf(id))),
    );
    let isCopied = false;
    void copying.then(() => {
      isCopied = true;
    });
    const early: AccountPages[][] = [];
    let number = 0;
    const collect = async () => {
      const collected = await world.collect();
      if (!isCopied) return void early.push(collected);
      for (const earlier of early.splice(0)) await world.apply(earlier);
      await world.apply(collected);
      await world.compare();
    };
    for (const [name, id] of steps) {
      number++;
      if (name === 'collect') await collect();
      else if (name === 'close') {
        await copying;
        await world.close(id);
      } else {
        const account = await world.account(id);
        if (name === 'folder') {
          await createFolder(account, `Folder ${number}`);
          await addTestMessages(account, `Folder ${number}`, [messageOf(`moved ${number}`)]);
          if (number % 2 === 0) await deleteFolder(account, `Folder ${number}`);
          continue;
        }
        const bytes = name === 'large' ? LARGE_BYTES : 2_000;
        const count = name === 'many' ? 30 : 1;
        await addTestMessages(
          account,
          'INBOX',
          Array.from({ length: count }, (_, one) => messageOf(`${number}-${one}`, bytes)),
        );
      }
    }
    await copying;
    await collect();
    await world.closeAll();
    await world.apply(await world.collect());
    for (const id of IDS) await world.account(id);
    await world.compare();
    await world.closeAll();
  });
  await fc.assert(run, { numRuns: 6, endOnFailure: true });
});

test('an account that is new is collected whole, and one that nothing has changed is not', async () => {
  const world = new Followed();
  await world.followed.follow(true);
  await addTestMessages(await world.account('mbx_1'), 'INBOX', [messageOf('first')]);
  const [collected] = await world.collect();
  assert.equal(collected?.pages?.numbers.length, collected?.pages?.databasePages);
  assert.deepEqual(await world.collect(), []);
  await world.account('mbx_2');
  assert.deepEqual(
    (await world.collect()).map(({ id }) => id),
    ['mbx_2'],
  );
  await world.closeAll();
});

test('a file is collected with its content, also when it was discarded', async () => {
  const world = new Followed();
  await world.followed.follow(true);
  const account = await world.account('mbx_1');
  await world.collect();
  const content = await prepareContent(account, [messageOf('large', LARGE_BYTES)]);
  const sha256 = content.row.blobSha256 ?? '';
  const other = await world.account('mbx_2');
  const linked = await prepareContent(other, { path: pathOf(contentFolder(account.folder), sha256), sha256 });
  assert.equal(linked.row.blobSha256, sha256);
  await discard(account, content);
  const collected = await world.collect();
  assert.deepEqual(
    collected.map(({ id, files }) => [id, files]),
    [
      ['mbx_1', [sha256]],
      ['mbx_2', [sha256]],
    ],
  );
  await world.closeAll();
});

test('a database that a repair has replaced is named, and its later pages follow', async () => {
  const world = new Followed();
  await world.followed.follow(true);
  const { folder } = await world.account('mbx_1');
  await addTestMessages(await world.account('mbx_1'), 'INBOX', [messageOf('first')]);
  await world.close('mbx_1');
  await repairAccount(world.app, { id: 'mbx_1', folder });
  const [replaced] = await world.collect();
  assert.deepEqual([replaced?.isReplaced, replaced?.pages === undefined], [true, true]);
  await addTestMessages(await world.account('mbx_1'), 'INBOX', [messageOf('second')]);
  const [later] = await world.collect();
  assert.deepEqual([later?.isReplaced, later?.pages === undefined], [false, false]);
  await world.closeAll();
});

test('changes that are not followed, and those that nobody collects, are lost until all is followed anew', async () => {
  const followed = new FollowedAccounts({ createBudget: () => createPageBudget(400_000), maxFiles: 2 });
  const world = new Followed(followed);
  const account = await world.account('mbx_1');
  assert.equal(await followed.collect(), 'lost');
  const many = (bytes: number, count: number) =>
    addTestMessages(
      account,
      'INBOX',
      Array.from({ length: count }, (_, one) => messageOf(`${bytes} ${count} ${one}`, bytes)),
    );
  for (const [bytes, count] of [
    [40_000, 20],
    [LARGE_BYTES, 3],
  ] as const) {
    await followed.follow(true);
    assert.equal((await followed.collect()) === 'lost', bytes === LARGE_BYTES, 'the WAL has too much');
    await account.db.copyBack();
    await followed.follow(true);
    await many(10, 1);
    assert.notEqual(await followed.collect(), 'lost');
    await many(bytes, count);
    assert.equal(await followed.collect(), 'lost');
    await many(10, 1);
    assert.equal(await followed.collect(), 'lost');
  }
  await followed.follow(true);
  await many(10, 1);
  assert.equal((await world.collect()).length, 1);
  await world.closeAll();
});
