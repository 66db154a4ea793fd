import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readReturnedMail } from '../../../src/mail/dsn/read.ts';
import { TEXT_BOUNCES } from './text-bounces.ts';

for (const [name, [message, expected]] of Object.entries(TEXT_BOUNCES))
  test(`${name}: the recipient and the reason are read`, () => {
    const read = readReturnedMail(Buffer.from(message));
    assert.equal(read.kind, 'bounce');
    if (read.kind !== 'bounce') return;
    const { recipients = ['bob@rcpt.example'], diagnostic, action = 'failed', status = null } = expected;
    assert.deepEqual(
      read.notices.map(({ finalRecipient }) => finalRecipient),
      recipients,
    );
    const [first] = read.notices;
    assert.deepEqual([first?.form, first?.action, first?.status], ['text', action, status]);
    assert.match(first?.diagnosticCode ?? '', diagnostic);
  });
