import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAttachments } from '../../../src/emails/request/attachments.ts';
import { refuseMisspelledFields } from '../../../src/emails/request/misspelled-fields.ts';

const FIELDS = 1_000;
const UNKNOWN = Object.fromEntries(Array.from({ length: FIELDS }, (_, index) => [`field_${index}`, 1]));
const FILE = { filename: 'a.txt', content: 'aGVsbG8=' };

for (const [what, read] of [
  ['a request', () => refuseMisspelledFields(UNKNOWN)],
  ['an attachment', () => readAttachments([{ ...UNKNOWN, ...FILE }], () => undefined)],
] as const) {
  test(`for very many unknown fields of ${what}, what is known is not spelled out for each`, (t) => {
    const spelled = t.mock.method(String.prototype, 'toLowerCase');
    read();
    const calls = spelled.mock.callCount();
    // One for each field; what else is read of the request is little.
    assert.ok(calls >= FIELDS && calls < FIELDS + 50, `${calls} calls`);
  });
}

test('a misspelled field is refused in any spelling, and a field that only resembles one is not', () => {
  assert.throws(() => refuseMisspelledFields({ ...UNKNOWN, Template: 'tpl_1' }), /did you mean `templateId`/);
  assert.throws(() => refuseMisspelledFields({ schedule_at: 'soon' }), /did you mean `scheduledAt`/);
  refuseMisspelledFields({ templates: 1, templateId: 'tpl_1', scheduledAt: 'soon' });
});
