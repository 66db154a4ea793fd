/** A test that fails with a long difference. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

const expected = Array.from({ length: 500 }, (_, index) => `row ${index}`);

test('one that expects much', () => assert.deepEqual([], expected));
