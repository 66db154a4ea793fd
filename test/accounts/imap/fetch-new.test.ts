/** Items that are wanted of many new messages cost little until they are returned. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type WantedItems, wantItems } from '../../../src/accounts/imap/fetch-new.ts';
import type { FetchItem } from '../../../src/mail/imap/fetch-item.ts';

test('many items of many messages take little time and memory', () => {
  const items = Array.from({ length: 500 }, (_, index): FetchItem => {
    const section = { part: [index + 1], text: undefined, fields: [] };
    return { kind: 'SECTION', label: `BODY[${index + 1}]`, section, peek: true, partial: undefined };
  });
  const wanted: WantedItems = new Map();
  const before = process.cpuUsage();
  for (let uid = 1; uid <= 10_000; uid++) wantItems(wanted, uid, items);
  const { user, system } = process.cpuUsage(before);
  assert.equal(wanted.size, 10_000);
  assert.ok(user + system < 500_000, `${user + system}`);
});
