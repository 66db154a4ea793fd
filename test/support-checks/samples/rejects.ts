/** Its test passes, and a promise of it is rejected after that. */
import { test } from 'node:test';

test('one that passes', () => {
  setTimeout(() => void Promise.reject(new Error('too late')), 10);
});
