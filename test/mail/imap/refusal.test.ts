import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imapResponseTo } from '../../../src/mail/imap/refusal.ts';
import { AppError } from '../../../src/system/errors.ts';

test('a refusal is answered with its response code and its message, and a bug with neither detail', () => {
  assert.equal(
    imapResponseTo(new AppError('not_found', 'No such mailbox')),
    'NO [NONEXISTENT] No such mailbox',
  );
  assert.equal(imapResponseTo(new AppError('payload_too_large', 'Too large')), 'NO [TOOBIG] Too large');
  assert.equal(
    imapResponseTo(new TypeError('secret')),
    'NO [SERVERBUG] The server failed to process the request',
  );
});

test('no message breaks the line or makes it long', () => {
  const response = imapResponseTo(
    new AppError('invalid_state', `no\r\na1 OK done\u0000${'x'.repeat(1_000)}`),
  );
  assert.match(response, /^NO \[CANNOT\] no\?a1 OK done\?x+$/);
  assert.ok(response.length < 450);
});
