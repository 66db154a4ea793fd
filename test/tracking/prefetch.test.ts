import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPrefetchRequest } from '../../src/tracking/pages.ts';

for (const headers of [
  { 'sec-purpose': 'prefetch' },
  { 'sec-purpose': 'prefetch;prerender' },
  { 'sec-purpose': 'prefetch;anonymous-client-ip' },
  { purpose: 'prefetch' },
  { purpose: 'Preview' },
  { 'x-purpose': 'preview' },
  { 'x-moz': 'prefetch' },
  { 'x-moz': ['other', 'prefetch'] },
]) {
  test(`a request with ${JSON.stringify(headers)} is made ahead of its user`, () => {
    assert.equal(isPrefetchRequest(headers), true);
  });
}

test('other requests are not, whatever else their fields say', () => {
  for (const headers of [
    {},
    { purpose: '' },
    { 'sec-purpose': 'navigation' },
    { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
    { 'x-moz': 'prefetching-not' },
    { referer: 'https://mail.example/?purpose=prefetch' },
  ])
    assert.equal(isPrefetchRequest(headers), false, JSON.stringify(headers));
});
