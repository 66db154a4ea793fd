/** A test that never ends, in a process that would. */
import { test } from 'node:test';

test('one before it', () => {});
test('one that never ends', () => new Promise(() => setInterval(() => {}, 1_000)));
