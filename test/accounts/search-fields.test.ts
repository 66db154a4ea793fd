/** Searches in the header fields that are stored for them find exactly what a search in the headers finds. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { OpenAccount } from '../../src/accounts/account.ts';
import { releaseContents } from '../../src/accounts/content-store.ts';
import { CONTENTS_PER_PAGE, changePage, emptyPage, searchPage } from '../../src/accounts/field-page.ts';
import { removeUnused } from '../../src/accounts/remove-unused.ts';
import { searchField } from '../../src/accounts/search.ts';
import { SearchDatabase } from '../../src/accounts/search-database.ts';
import { foldText } from '../../src/mail/message/fold.ts';
import { readValues } from '../../src/mail/message/header-block.ts';
import { foldValues, SEARCH_FIELDS, type SearchField } from '../../src/mail/message/search-fields.ts';
import { countTurns } from '../support/count-turns.ts';
import { createRandom } from '../support/random.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { addTestMessages, createAccountApp, messageOf, openTestAccount } from '../support/test-account.ts';

/** Pieces of values with characters of one to four octets, encoded-words that are good and bad, and folds. */
const PIECES = [
  'a',
  'B',
  'ab',
  ' ',
  'Ä',
  'äb',
  '𝄞',
  'ß',
  'Σς',
  '=?utf-8?q?=C3=84b?=',
  '=?iso-8859-1?B?5A==?=',
  '=?x?q?a?=',
];
const NAMES = ['Subject', 'SUBJECT', 'From', 'To', 'Cc', 'cc', 'Bcc', 'X-Subject', 'Date'];

function randomHeader(random: (limit: number) => number): Buffer {
  const lines = Array.from({ length: random(7) }, () => {
    const long = random(60) === 0 ? 'long '.repeat(500) : '';
    const value = Array.from({ length: random(6) }, () => PIECES[random(PIECES.length)]).join('');
    return `${NAMES[random(NAMES.length)]}:${random(2) ? ' ' : ''}${long}${value}${random(4) ? '' : '\r\n folded'}\r\n`;
  });
  return Buffer.from(lines.join(''));
}

const app = createAccountApp();
let account: OpenAccount;
/** Headers by the ids of contents. */
const headers = new Map<number, Buffer>();

before(async () => {
  account = await openTestAccount(app);
  const random = createRandom(14);
  const all = Array.from({ length: CONTENTS_PER_PAGE + 100 }, () => randomHeader(random));
  await addTestMessages(
    account,
    'INBOX',
    all.map((header) => Buffer.concat([header, Buffer.from('\r\ntext\r\n')])),
  );
  for (const [index, header] of all.entries()) headers.set(index + 1, header);
});
after(() => account.close());

const withSearch = (file: string): OpenAccount => ({
  ...account,
  search: new SearchDatabase(app, { file, identity: 'x' }),
});

/** Compares the answers for some texts in all fields with a look into each header. */
async function checkAnswers(opened: OpenAccount, contentIds: readonly number[]): Promise<number> {
  const random = createRandom(contentIds.length);
  const texts = [
    '',
    ...Array.from({ length: 12 }, () => PIECES[random(9)]! + (random(2) ? PIECES[random(9)] : '')),
  ];
  let decided = 0;
  for (const field of SEARCH_FIELDS)
    for (const text of texts) {
      const needle = foldText(text);
      const { matching, unsure } = await searchField(opened, contentIds, { field, needle });
      for (const id of contentIds) {
        if (unsure.has(id)) continue;
        decided++;
        assert.equal(matching.has(id), isIn(id, field, needle), `${field} of ${id}: ${JSON.stringify(text)}`);
      }
    }
  return decided / (SEARCH_FIELDS.length * texts.length);
}

function isIn(id: number, field: SearchField, needle: string): boolean {
  const header = headers.get(id)!;
  const values = readValues(header, { start: 0, end: header.length }, field);
  return foldValues(field, values).some((value) => value.includes(needle));
}

test('a search finds exactly the contents that have the text in the field, and only long fields are left open', async () => {
  const ids = [...headers.keys()];
  const decided = await checkAnswers(account, ids);
  assert.ok(decided > 0.95 * ids.length && decided < ids.length, `${decided} of ${ids.length}`);
  await checkAnswers(
    account,
    ids.filter((id) => id % 3 === 0),
  );
});

test('the answers are the same when the file is deleted, and when contents are asked for one by one', async () => {
  const file = join(temporaryDirectory('search'), 'search.db');
  const ids = [...headers.keys()];
  const fresh = withSearch(file);
  // One content after the other, so that pages are filled little by little.
  for (const id of ids.slice(0, 20)) await checkAnswers(fresh, [id]);
  const decided = await checkAnswers(fresh, ids);
  await fresh.search.close();
  rmSync(file);
  const again = withSearch(file);
  assert.equal(await checkAnswers(again, ids), decided);
  await again.search.close();
});

test('the fields of new messages are stored with their texts, unless their header is long', async () => {
  const own = await openTestAccount();
  const long = Buffer.from(`X-Long: ${'x'.repeat(70_000)}\r\nSubject: three\r\n\r\n`);
  await addTestMessages(own, 'INBOX', [messageOf('one'), messageOf('two'), long]);
  await own.search.flush();
  const sought = { field: 'subject', needle: 'T' } as const;
  const { matching, missing } = await own.search.findInField([1, 2, 3], sought);
  assert.deepEqual([[...matching], missing], [[2], [3]]);
  assert.deepEqual([...(await searchField(own, [1, 2, 3], sought)).matching], [2, 3]);
  await own.close();
});

test('fields that could not be stored are left open, so that the headers are read', async () => {
  const full = withSearch(join(temporaryDirectory('search'), 'search.db'));
  full.search.addFields = async () => {};
  assert.equal(await checkAnswers(full, [...headers.keys()]), 0);
  await full.search.close();
});

test('the fields of a removed content are removed', async () => {
  const own = await openTestAccount();
  await addTestMessages(own, 'INBOX', [messageOf('one'), messageOf('two')]);
  const find = (ids: readonly number[]) => own.search.findInField(ids, { field: 'subject', needle: 'O' });
  await own.search.flush();
  assert.deepEqual([...(await find([1, 2])).matching], [1, 2]);
  await own.db.read.deleteFrom('messages').where('contentId', '=', 1).execute();
  await releaseContents(own.db.read, [1]);
  await removeUnused(own);
  assert.deepEqual((await find([1, 2])).missing, [1]);
  await own.close();
});

test('a page keeps the other records when some change, and is searched whether it knows some or all contents', () => {
  const random = createRandom(3);
  const known = new Map<number, readonly string[]>();
  let page = emptyPage();
  const randomValues = (): string[] => Array.from({ length: random(3) }, () => 'xyz'.slice(random(3)));
  function change(position: number, values: readonly string[] | undefined): void {
    if (values) known.set(position, values);
    else known.delete(position);
    page = changePage(page, new Map([[position, values]]));
    for (const text of ['', 'y', 'yz', 'zy']) {
      const expected = [...known].filter(([, all]) => all.some((value) => value.includes(text)));
      const { matching, missing } = searchPage(page, text);
      assert.deepEqual(
        matching,
        expected.map(([at]) => at).sort((a, b) => a - b),
      );
      assert.equal(missing.length, CONTENTS_PER_PAGE - known.size);
    }
  }
  for (let turn = 0; turn < 200; turn++)
    change(random(CONTENTS_PER_PAGE), random(5) === 0 ? undefined : randomValues());
  for (let position = 0; position < CONTENTS_PER_PAGE; position++)
    if (!known.has(position)) change(position, randomValues());
  for (let turn = 0; turn < 50; turn++) change(random(CONTENTS_PER_PAGE), randomValues());
  page = changePage(page, new Map([[7, ['y'.repeat(3_000)]]]));
  assert.deepEqual(searchPage(page, 'y').tooLong, [7]);
  assert.deepEqual(
    searchPage(page, 'y').matching,
    [...known.keys()]
      .filter((at) => at !== 7 && known.get(at)?.some((value) => value.includes('y')))
      .sort((a, b) => a - b),
  );
});

test('other accounts go on while a search looks at many pages, or they change', async () => {
  const contentIds = Array.from({ length: 100 }, (_, index) => index * CONTENTS_PER_PAGE);
  const endCount = countTurns();
  await account.search.findInField(contentIds, { field: 'subject', needle: 'x' });
  const turnsOfSearch = endCount();
  assert.ok(turnsOfSearch > 5, `${turnsOfSearch}`);
  const fields = { subject: ['x'], from: [], to: [], cc: [], bcc: [] };
  const endSecondCount = countTurns();
  await account.search.addFields(contentIds.map((contentId) => ({ contentId, fields })));
  await account.search.remove(contentIds);
  const turnsOfChange = endSecondCount();
  assert.ok(turnsOfChange > 60, `${turnsOfChange}`);
});
