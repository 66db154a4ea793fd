import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusalReply } from '../../../src/mail/smtp/refusal.ts';
import { AppError } from '../../../src/system/errors.ts';
import { overloadRefusal } from '../../../src/system/guards/overload.ts';

test('a refusal is answered with its code, its status and its message', () => {
  for (const [error, code, status, text] of [
    [new AppError('not_found', 'Mailbox not found'), 550, '5.1.1', 'Mailbox not found'],
    [new AppError('payload_too_large', 'Too large'), 552, '5.3.4', 'Too large'],
    [overloadRefusal('writer_lag'), 451, '4.3.2', 'The server is overloaded; try again shortly'],
  ] as const)
    assert.deepEqual(refusalReply(error), { code, status, text });
  const { code, status, text } = refusalReply(overloadRefusal('disk_reserve'));
  assert.deepEqual([code, status], [452, '4.3.1']);
  assert.match(text, /^The disk .+ nearly full/);
});

test('a bug is temporary and reveals nothing', () => {
  assert.deepEqual(refusalReply(new TypeError('secret detail')), {
    code: 451,
    status: '4.3.0',
    text: 'The server failed to process the request; try again later',
  });
});
