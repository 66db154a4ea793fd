import assert from 'node:assert/strict';
import { test } from 'node:test';
import { smtpReplyTo } from '../../../src/mail/smtp/refusal.ts';
import { AppError } from '../../../src/system/errors.ts';
import { overloadRefusal } from '../../../src/system/guards/overload.ts';

test('a refusal is answered with its code, its status and its message', () => {
  for (const [error, reply] of [
    [new AppError('not_found', 'Mailbox not found'), '550 5.1.1 Mailbox not found'],
    [new AppError('payload_too_large', 'Too large'), '552 5.3.4 Too large'],
    [overloadRefusal('writer_lag'), '451 4.3.2 The server is overloaded; try again shortly'],
  ] as const)
    assert.equal(smtpReplyTo(error), reply);
  assert.match(smtpReplyTo(overloadRefusal('disk_reserve')), /^452 4\.3\.1 The disk .+ nearly full/);
});

test('a bug is temporary and reveals nothing', () => {
  assert.equal(
    smtpReplyTo(new TypeError('secret detail')),
    '451 4.3.0 The server failed to process the request; try again later',
  );
});

test('no message breaks the line or makes it too long', () => {
  const text = `naïve\r\n250 OK\u0000${'x'.repeat(1_000)}`;
  const reply = smtpReplyTo(new AppError('validation_error', text));
  assert.match(reply, /^550 5\.6\.0 na\?ve\?250 OK\?x+$/);
  assert.equal(Buffer.byteLength(reply), 510);
});
