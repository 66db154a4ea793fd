import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { OpenAccount } from '../../src/accounts/account.ts';
import { releaseContents } from '../../src/accounts/content-store.ts';
import { searchFile } from '../../src/accounts/folder.ts';
import { openAccount } from '../../src/accounts/open.ts';
import { removeUnused } from '../../src/accounts/remove-unused.ts';
import { searchText } from '../../src/accounts/search.ts';
import { SearchDatabase } from '../../src/accounts/search-database.ts';
import { findSource } from '../../src/accounts/search-store.ts';
import { SEARCH_SCHEMA, type SearchTables } from '../../src/accounts/search-tables.ts';
import { openPrivateDatabase } from '../../src/db/private-database.ts';
import { foldText } from '../../src/mail/message/fold.ts';
import { recordLog } from '../support/record-log.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { addTestMessages, createAccountApp, messageOf, openTestAccount } from '../support/test-account.ts';

const { log, lines } = recordLog();
const app = createAccountApp({ log });
let account: OpenAccount;
/** Ids of the contents, and the folded text of each. */
const texts = new Map<number, string>();

/** Words in which terms overlap, with characters of one to four octets, a quote and a NUL. */
const WORDS = ['ab', 'abc', 'bca', 'Ä', 'äb', '"q"', '𝄞𝄞x', 'x\0yz', 'straße', 'ab-c', 'ΣΊΣΥΦΟΣ', 'a"b'];

before(async () => {
  account = await openTestAccount(app);
  for (let index = 0; index < 60; index++) {
    const words = Array.from(
      { length: 6 },
      (_, at) => WORDS[(index * 7 + at * at * (index + 3)) % WORDS.length],
    );
    const header = `Subject: s${index}\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n`;
    await addTestMessages(account, 'INBOX', [Buffer.from(`${header}${words.join(' ')}\r\n`)]);
    const { id } = (await account.db.read
      .selectFrom('contents')
      .select('id')
      .orderBy('id', 'desc')
      .executeTakeFirst())!;
    texts.set(id, foldText(`${words.join(' ')}\n`));
  }
});
after(() => account.close());

const NEEDLES = [
  '',
  'a',
  'ab',
  'abc',
  'bc ab',
  'ä',
  'äb "',
  '"q"',
  '𝄞𝄞x',
  '𝄞',
  'x\0y',
  'yz ab',
  'STRASSE',
  'straße',
  'ab-',
  'a"b',
  'no such',
];

const find = (opened: OpenAccount, needle: string, where: 'text' | 'body' = 'body') =>
  searchText(opened, { contentIds: [...texts.keys()], needle: foldText(needle), where });

/** Checks that all searches find exactly the contents whose texts contain the term. */
async function checkAnswers(opened: OpenAccount): Promise<void> {
  for (const needle of NEEDLES) {
    const expected = [...texts].filter(([, text]) => text.includes(foldText(needle))).map(([id]) => id);
    assert.deepEqual(
      [...(await find(opened, needle))].sort((a, b) => a - b),
      expected,
      JSON.stringify(needle),
    );
  }
}

/** Returns the account with search texts of its own, which are indexed however few they are. */
function withSearch(file: string, indexedBytes = 0): OpenAccount {
  return { ...account, search: new SearchDatabase(app, { file, identity: 'x', indexedBytes }) };
}

async function isIndexed(file: string): Promise<number> {
  const options = { file, schema: SEARCH_SCHEMA, nowMs: 0 };
  const db = openPrivateDatabase<SearchTables>(app, options);
  const { indexedTo } = await findSource(db.read);
  await db.close();
  return indexedTo;
}

test('a search finds exactly the texts that contain the term', async () => {
  await checkAnswers(account);
  assert.ok((await find(account, 'abc')).size > 5);
});

test('only the contents that are asked for are found', async () => {
  const [first = 0, second = 0] = await find(account, 'abc');
  const found = await searchText(account, { contentIds: [second], needle: foldText('abc'), where: 'body' });
  assert.deepEqual([...found], [second]);
  assert.ok(first !== second);
});

test('texts that are missing are made again, whether the file is deleted, damaged or of another account', async () => {
  const file = join(temporaryDirectory('search'), 'search.db');
  const fresh = withSearch(file);
  await checkAnswers(fresh);
  await fresh.search.close();
  const stale = new SearchDatabase(app, { file, identity: 'x' });
  await stale.remove([1]);
  stale.add(1, { header: '', body: 'TEXT OF ANOTHER MESSAGE', isComplete: true });
  await stale.close();
  const other = { ...account, search: new SearchDatabase(app, { file, identity: 'another' }) };
  await checkAnswers(other);
  await other.search.close();
  const bytes = readFileSync(file);
  bytes.fill(0xa5, 8 * 4_096);
  writeFileSync(file, bytes);
  lines.length = 0;
  const damaged = { ...account, search: new SearchDatabase(app, { file, identity: 'another' }) };
  await checkAnswers(damaged);
  await damaged.search.close();
  assert.match(lines[0]?.msg ?? '', /search texts are damaged and are made again/);
});

test('deleted search texts are made again when an account is opened', async () => {
  const app2 = createAccountApp();
  const first = await openTestAccount(app2);
  await addTestMessages(first, 'INBOX', [messageOf('reopened')]);
  await first.close();
  assert.ok(existsSync(searchFile(first.folder)));
  rmSync(searchFile(first.folder));
  const again = await openAccount(app2, { id: 'mbx_1', folder: first.folder });
  const found = await searchText(again, { contentIds: [1], needle: 'REOPENED', where: 'text' });
  assert.deepEqual([...found], [1]);
  await again.close();
});

test('with an index the answers are the same, also while it is not complete and for later texts', async () => {
  const file = join(temporaryDirectory('search'), 'search.db');
  const indexed = withSearch(file);
  await checkAnswers(indexed);
  for (let turn = 0; turn < 40; turn++) {
    await app.clock.advance(10);
    if (turn % 8 === 0) await checkAnswers(indexed);
  }
  await checkAnswers(indexed);
  await indexed.search.close();
  assert.equal(await isIndexed(file), Math.max(...texts.keys()));
  const again = withSearch(file);
  await again.search.remove([...texts.keys()].slice(0, 5));
  await checkAnswers(again);
  await again.search.close();
});

test('the index names texts that are not complete, whatever is sought', async () => {
  const file = join(temporaryDirectory('search'), 'search.db');
  const { search } = withSearch(file);
  search.add(1, { header: '', body: 'BEGINNING', isComplete: false });
  search.add(2, { header: '', body: 'BEGINNING', isComplete: true });
  await search.flush();
  await app.clock.advance(100);
  assert.deepEqual(await search.find([1, 2], { needle: 'THE END', where: 'body' }), [
    { contentId: 1, isComplete: 0, isMatch: 0 },
  ]);
  await search.close();
  assert.equal(await isIndexed(file), 2);
});

test('few texts are not indexed', async () => {
  const file = join(temporaryDirectory('search'), 'search.db');
  const small = withSearch(file, 1_000_000);
  await checkAnswers(small);
  await app.clock.advance(1_000);
  await small.search.close();
  assert.equal(await isIndexed(file), 0);
});

test('text beyond 1 MiB is found in the message', async () => {
  const body = `${'filler line\r\n'.repeat(100_000)}the very end\r\n`;
  await addTestMessages(account, 'INBOX', [Buffer.from(`Subject: long\r\n\r\n${body}`)]);
  const { id } = (await account.db.read
    .selectFrom('contents')
    .select('id')
    .orderBy('id', 'desc')
    .executeTakeFirst())!;
  const find = (needle: string) => searchText(account, { contentIds: [id], needle, where: 'body' });
  assert.deepEqual([...(await find('VERY END'))], [id]);
  assert.deepEqual([...(await find('FILLER'))], [id]);
  assert.deepEqual([...(await find('NOWHERE'))], []);
});

test('a message whose bytes are damaged matches nothing, and the others are found', async () => {
  const own = await openTestAccount();
  await addTestMessages(own, 'INBOX', [messageOf('one'), messageOf('two')]);
  await own.search.close();
  rmSync(searchFile(own.folder));
  await own.db.maintain((connection) =>
    connection.exec("UPDATE contentBytes SET body = x'00' WHERE contentId = 1"),
  );
  const found = await searchText(
    { ...own, search: new SearchDatabase(own.app, { file: searchFile(own.folder), identity: 'x' }) },
    {
      contentIds: [1, 2, 3],
      needle: 'SUBJECT',
      where: 'text',
    },
  );
  assert.deepEqual([...found], [2]);
  await own.close();
});

test('the text of a removed content is removed', async () => {
  const own = await openTestAccount();
  await addTestMessages(own, 'INBOX', [messageOf('one'), messageOf('two')]);
  assert.deepEqual(await own.search.listMissing([1, 2]), []);
  await own.db.read.deleteFrom('messages').where('contentId', '=', 1).execute();
  await releaseContents(own.db.read, [1]);
  await removeUnused(own);
  assert.deepEqual(await own.search.listMissing([1, 2]), [1]);
  await own.close();
});

test('the search texts are closed when they are not used for half a minute, and opened again', async () => {
  const own = createAccountApp();
  const opened = await openTestAccount(own);
  await addTestMessages(opened, 'INBOX', [messageOf('one')]);
  const search = async () =>
    (await searchText(opened, { contentIds: [1], needle: 'ONE', where: 'text' })).size;
  const isOpen = () => existsSync(`${searchFile(opened.folder)}-wal`);
  assert.equal(await search(), 1);
  await own.clock.advance(29_999);
  assert.ok(isOpen());
  await search();
  await own.clock.advance(29_999);
  assert.ok(isOpen());
  await own.clock.advance(1);
  assert.equal(isOpen(), false);
  assert.equal(await search(), 1);
  await opened.close();
  assert.equal(isOpen(), false);
});

test('texts are written five seconds after their messages', async () => {
  const own = createAccountApp();
  const opened = await openTestAccount(own);
  await addTestMessages(opened, 'INBOX', [messageOf('one')]);
  await own.clock.advance(4_999);
  assert.equal(existsSync(searchFile(opened.folder)), false);
  await own.clock.advance(1);
  assert.ok(existsSync(searchFile(opened.folder)));
  await opened.close();
});
