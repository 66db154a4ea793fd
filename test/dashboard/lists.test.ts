/** Lists that are short enough to be read whole, and are shown in pages. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { pageIn } from '../../src/dashboard/frame/lists.tsx';
import { shortened } from '../../src/dashboard/frame/shortened.ts';
import { logIn } from '../support/browser.ts';
import { openTestApp } from '../support/test-app.ts';

const testApp = await openTestApp();
after(() => testApp.close());

const ROWS = ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id }));
const pageAt = (query: string) => {
  const { data, hasMore } = pageIn(ROWS, new URLSearchParams(query), 2);
  return [data.map(({ id }) => id).join(''), hasMore];
};

test('the pages of a short list follow each other in both directions', () => {
  assert.deepEqual(pageAt(''), ['ab', true]);
  assert.deepEqual(pageAt('startingAfter=b'), ['cd', true]);
  assert.deepEqual(pageAt('startingAfter=d'), ['e', false]);
  assert.deepEqual(pageAt('endingBefore=e'), ['cd', true]);
  assert.deepEqual(pageAt('endingBefore=c'), ['ab', false]);
  assert.deepEqual(pageAt('endingBefore=b'), ['a', false]);
});

test('what names no page shows the first one', () => {
  for (const query of ['startingAfter=x', 'startingAfter=e', 'endingBefore=a', 'endingBefore=x'])
    assert.deepEqual(pageAt(query), ['ab', true], query);
});

test('a text is cut at a whole character', () => {
  assert.deepEqual(
    [shortened('abc', 3), shortened('abcd', 3), shortened('a😀b', 2), shortened('a😀b', 3)],
    ['abc', 'abc…', 'a…', 'a😀…'],
  );
});

test('a team of many has several pages, and a member of a later one can be changed there', async () => {
  const owner = await logIn(testApp, { email: 'first@people.example' });
  for (let count = 0; count < 20; count++) await logIn(testApp, { role: 'viewer' });
  await owner.open('/t/default/live/team');
  assert.equal(owner.page.html.match(/<details/g)?.length, 20);
  const [, next = ''] = /href="([^"]+)" rel="next"/.exec(owner.page.html) ?? [];
  await owner.open(next.replaceAll('&amp;', '&'));
  assert.equal(owner.page.html.match(/<details/g)?.length, 1);
  assert.match(owner.page.html, /Ann of first@/);
  assert.match(owner.page.html, /rel="prev"/);
});
