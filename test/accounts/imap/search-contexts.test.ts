/** Results are put into sorted lists of searches in a time that is linear in the length of the list. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FolderState } from '../../../src/accounts/imap/folder-state.ts';
import { SearchContext, SearchContexts } from '../../../src/accounts/imap/search-contexts.ts';
import { SessionMemory } from '../../../src/accounts/imap/session-memory.ts';
import { View } from '../../../src/accounts/imap/view.ts';
import type { FolderRow } from '../../../src/accounts/tables.ts';
import type { SearchQuery } from '../../../src/mail/imap/session.ts';
import { createAccountApp } from '../../support/test-account.ts';

function createView(): View {
  const row = { id: 1, uidValidity: 1, uidNext: 1, highestModseq: 1, recentFrom: 1 } as FolderRow;
  return new View(new FolderState(row), { isReadOnly: true });
}

const QUERY: SearchQuery = {
  keys: [],
  uid: true,
  tag: 'a',
  esearch: undefined,
  arrangement: { kind: 'sort', criteria: [] },
};

function createContext(results: readonly number[]): SearchContext {
  const context = new SearchContext(createView(), QUERY, 0);
  context.results = results;
  return context;
}

test('results are inserted where they belong', () => {
  const context = createContext([1, 2, 3]);
  const runs = context.insert([
    { index: 0, uid: 7 },
    { index: 2, uid: 8 },
    { index: 3, uid: 9 },
    { index: 6, uid: 4 },
  ]);
  assert.deepEqual(context.results, [7, 1, 8, 9, 2, 3, 4]);
  assert.deepEqual(runs, [
    { position: 1, numbers: [7] },
    { position: 3, numbers: [8, 9] },
    { position: 7, numbers: [4] },
  ]);
});

test('many results in front of many others take little time', () => {
  const context = createContext(Array.from({ length: 150_000 }, (_, index) => index + 1));
  const insertions = Array.from({ length: 150_000 }, (_, index) => ({ index, uid: 200_000 + index }));
  const before = process.cpuUsage();
  context.insert(insertions);
  const { user, system } = process.cpuUsage(before);
  assert.equal(context.results.length, 300_000);
  assert.ok(user + system < 500_000, `${user + system}`);
});

test('a session keeps a bounded number of results', () => {
  const memory = new SessionMemory({ app: createAccountApp(), id: 'mbx_1' });
  const contexts = new SearchContexts(createView(), memory);
  const many = Array.from({ length: 150_000 }, (_, index) => index + 1);
  const begin = (tag: string) => contexts.begin({ ...QUERY, tag }, 0) as SearchContext;
  assert.equal(contexts.keep(begin('a'), many), true);
  assert.equal(contexts.keep(begin('b'), many), false);
  const tags = contexts.all.map(({ tag }) => tag);
  assert.deepEqual(tags, ['a']);
  const grown = begin('c');
  assert.equal(contexts.keep(grown, []), true);
  grown.results = many;
  assert.equal(contexts.hasCapacity(), false);
});
