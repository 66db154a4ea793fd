import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusalFor } from '../../../src/mail/imap/command-error.ts';
import { responseText } from '../../../src/mail/imap/commands/command.ts';
import { AppError } from '../../../src/system/errors.ts';

function responseTo(error: unknown): string {
  const refusal = refusalFor(error);
  return `${refusal.refused} ${responseText(refusal)}`;
}

test('a refusal is answered with its response code and its message, and a bug with neither detail', () => {
  assert.equal(responseTo(new AppError('not_found', 'No such mailbox')), 'NO [NONEXISTENT] No such mailbox');
  assert.equal(responseTo(new AppError('payload_too_large', 'Too large')), 'NO [TOOBIG] Too large');
  assert.equal(
    responseTo(new TypeError('secret')),
    'NO [SERVERBUG] The server failed to process the request',
  );
});

test('no message breaks the line or makes it long', () => {
  const response = responseTo(new AppError('invalid_state', `no\r\na1 OK done\u0000${'x'.repeat(1_000)}`));
  assert.match(response, /^NO \[CANNOT\] no\?a1 OK done\?x+$/);
  assert.ok(response.length < 450);
});
