import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupOf, readGroups } from '../../src/counts/mailbox-groups.ts';

test('an address belongs to the group of its domain, and to no other for a domain that only looks like it', () => {
  for (const [address, provider] of [
    ['ada@gmail.com', 'gmail'],
    ['ada@googlemail.com', 'gmail'],
    ['ada@yahoo.co.uk', 'yahoo'],
    ['ada@yahoo.co.jp', 'yahoo'],
    ['ada@aol.com', 'yahoo'],
    ['ada@hotmail.fr', 'microsoft'],
    ['ada@icloud.com', 'apple'],
    ['"a@gmail.com"@example.com', 'other'],
    ['ada@notgmail.com', 'other'],
    ['ada@gmail.com.example', 'other'],
    ['ada@example.com', 'other'],
    ['', 'other'],
  ] as const)
    assert.equal(groupOf(address), provider, address);
});

test('an entry of an unknown group is refused', () => {
  assert.throws(
    () => readGroups([{ name: 'aol', domains: ['aol.com'] }]),
    /the group "aol" is not one of gmail/,
  );
});
