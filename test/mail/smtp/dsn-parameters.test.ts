import assert from 'node:assert/strict';
import { test } from 'node:test';
import { originalRecipientOf, readRecipientParameter } from '../../../src/mail/smtp/dsn-parameters.ts';

test('an original recipient in UTF-8 is kept in its form of ASCII', () => {
  for (const [given, kept] of [
    ['utf-8;jörg@example.com', 'utf-8;j\\x{F6}rg@example.com'],
    ['UTF-8;甲@例.example', 'UTF-8;\\x{7532}@\\x{4F8B}.example'],
    ['utf-8;a\\x{2B}b\\x{1F600}@example.com', 'utf-8;a\\x{2B}b\\x{1F600}@example.com'],
    ['rfc822;a+2Bb@example.com', 'rfc822;a+2Bb@example.com'],
  ] as const)
    assert.equal(readRecipientParameter('ORCPT', given), `ORCPT=${kept}`, given);
  assert.equal(originalRecipientOf('ORCPT=utf-8;j\\x{F6}rg@example.com'), 'utf-8;j\\x{F6}rg@example.com');
});

test('an original recipient with octets that its type does not allow is refused', () => {
  for (const given of [
    'rfc822;jörg@example.com',
    'utf-8;jörg smith@example.com',
    'utf-8;jörg+2B@example.com',
    'utf-8;jörg=@example.com',
    'utf-8;jörg\\x{110000}@example.com',
    'utf-8;jörg\\x{F}@example.com',
    `utf-8;ö${'a'.repeat(500)}`,
    'utf-8;',
  ])
    assert.equal(readRecipientParameter('ORCPT', given), undefined, given);
});
