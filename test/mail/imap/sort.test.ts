import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareTexts, type SortKey, type SortRow, sortMessages } from '../../../src/mail/imap/sort.ts';
import { readSortKeys } from '../../../src/mail/message/sort-keys.ts';
import { finishSteps } from '../../../src/system/steps.ts';
import { countSteps } from '../../support/count-steps.ts';

type Fields = Readonly<Record<string, string>>;

/** Returns rows of messages with these fields, which arrive one second after the other. */
function rowsOf(messages: readonly Fields[]): SortRow[] {
  return messages.map((fields, index) => ({
    number: index + 1,
    internalAt: Date.UTC(2025, 0, 1) + index * 1_000,
    sizeBytes: Number(fields['size'] ?? 0),
    keys: readSortKeys(Object.entries(fields).map(([name, value]) => ({ name, value }))),
  }));
}

function sort(messages: readonly Fields[], ...criteria: (SortKey | `-${SortKey}`)[]): string {
  const parsed = criteria.map((text) => ({
    key: text.replace('-', '') as SortKey,
    reverse: text.startsWith('-'),
  }));
  return finishSteps(sortMessages(rowsOf(messages), parsed)).join(' ');
}

test('messages with equal keys stay in the order of the mailbox, also in reverse', () => {
  const messages = [{ subject: 'b' }, { subject: 'Re: A' }, { subject: 'a' }, {}, { subject: '[x] B' }];
  assert.equal(sort(messages, 'subject'), '4 2 3 1 5');
  assert.equal(sort(messages, '-subject'), '1 5 2 3 4');
  assert.equal(sort(messages, '-subject', '-arrival'), '5 1 3 2 4');
});

test('criteria count in their order', () => {
  const messages = [
    { from: 'b@x', size: '2' },
    { from: 'a@x', size: '1' },
    { from: 'B@y', size: '1' },
  ];
  assert.equal(sort(messages, 'from', 'size'), '2 3 1');
  assert.equal(sort(messages, 'size', '-from'), '3 2 1');
});

test('a date is compared in UTC, and a message without one has its internal date', () => {
  const messages = [
    { date: 'Wed, 1 Jan 2025 01:00:00 +0200' },
    {},
    { date: 'Tue, 31 Dec 2024 22:00:00 -0800' },
    { date: 'yesterday' },
    { date: 'Tue, 31 Dec 2024' },
  ];
  assert.equal(sort(messages, 'date'), '5 1 2 4 3');
});

test('addresses are sorted by their local parts, and DISPLAYFROM by names', () => {
  const messages = [
    { from: 'Zoe <a@x>', to: 'c@x', cc: 'k@x' },
    { from: '=?utf-8?Q?=C3=84nne?= <c@x>', to: 'b@x', cc: 'j@x' },
    { from: 'b@x', to: 'Anna <d@x>' },
  ];
  assert.equal(sort(messages, 'from'), '1 3 2');
  assert.equal(sort(messages, 'to'), '2 1 3');
  assert.equal(sort(messages, 'cc'), '3 2 1');
  assert.equal(sort(messages, 'displayFrom'), '2 3 1');
  assert.equal(sort(messages, 'displayTo'), '3 2 1');
});

test('SORT of messages in a hostile order yields between its steps, whose number hardly grows faster than that of messages', () => {
  // Every subject is different from the others in its last character alone, and they come in an order that mixes all.
  const rowsFor = (count: number) =>
    rowsOf(
      Array.from({ length: count }, (_, index) => ({
        subject: `${'x'.repeat(50)}${String.fromCodePoint(0x4e00 + ((index * 7_919) % count))}`,
      })),
    );
  const stepsFor = (count: number): number =>
    countSteps(sortMessages(rowsFor(count), [{ key: 'subject', reverse: true }])).steps;
  const [some, twice] = [stepsFor(4_096), stepsFor(8_192)];
  assert.ok(some > 32, `${some}`);
  assert.ok(twice < 2.4 * some, `${some} and ${twice} steps`);
});

test('texts are compared as their octets in UTF-8', () => {
  const texts = fc.array(
    fc.constantFrom('a', 'b', 'é', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{1f600}'),
  );
  fc.assert(
    fc.property(texts, texts, (left, right) => {
      const [one, other] = [left.join(''), right.join('')];
      assert.equal(Math.sign(compareTexts(one, other)), Buffer.compare(Buffer.from(one), Buffer.from(other)));
    }),
  );
});
