import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAddresses } from '../../../src/emails/request/addresses.ts';
import { AppError } from '../../../src/system/errors.ts';

const BODY = { from: 'ada@example.com', to: 'bob@example.net' };
const AMBIGUOUS: [string, RegExp][] = [
  ['=?utf-8?q?boss=40bank.example=3e?=@example.com', /must not have `=\?` before the @/],
  ['Ada <"boss@bank.example"@example.com>', /must not have `<`, `>` or `@` inside a quoted local part/],
  ['" "@example.com', /must have more than spaces in its quoted local part/],
];

for (const field of ['from', 'to', 'cc', 'bcc', 'replyTo'] as const) {
  test(`an address in ${field} that could be taken for another one is refused for that reason`, () => {
    for (const [text, why] of AMBIGUOUS) {
      assert.throws(
        () => readAddresses({ ...BODY, [field]: text }),
        (error) => error instanceof AppError && error.options.param === field && why.test(error.message),
        text,
      );
    }
  });
}
