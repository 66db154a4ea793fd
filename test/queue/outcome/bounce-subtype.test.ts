import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type BounceReport,
  type BounceSubType,
  bounceSubType,
} from '../../../src/queue/outcome/bounce-subtype.ts';

type Case = [
  phase: BounceReport['phase'],
  smtpCode: number | null,
  enhancedCode: string | null,
  text: string,
  expected: BounceSubType,
];

const CASES: Case[] = [
  ['rcpt', 550, '5.1.1', 'The email account that you tried to reach does not exist.', 'NoEmail'],
  ['rcpt', 550, '5.1.10', 'Recipient address has null MX', 'NoEmail'],
  ['rcpt', 550, '5.2.1', 'The account is disabled', 'NoEmail'],
  ['rcpt', 550, '5.7.17', 'Mailbox owner has changed', 'NoEmail'],
  ['rcpt', 550, null, 'No such user here', 'NoEmail'],
  ['rcpt', 550, '5.0.0', 'User unknown in virtual mailbox table', 'NoEmail'],
  ['rcpt', 551, null, 'User not local', 'NoEmail'],
  ['rcpt', 553, null, 'Sorry', 'NoEmail'],
  ['mail', 553, null, 'Sorry', 'General'],
  ['banner', 521, null, 'Host does not accept mail', 'NoEmail'],
  ['rcpt', 556, null, 'Domain does not accept mail', 'NoEmail'],
  ['dot', 552, '5.2.2', 'Over quota', 'MailboxFull'],
  ['rcpt', 452, '4.2.2', 'The mailbox is over its limit', 'MailboxFull'],
  ['rcpt', 552, null, 'Sorry', 'MailboxFull'],
  ['rcpt', 452, '4.4.7', 'Expired. Last: 452 Mailbox is full', 'MailboxFull'],
  ['rcpt', null, '4.4.7', 'Expired. Last: connect ETIMEDOUT', 'General'],
  ['mail', 552, '5.3.4', 'Message size exceeds fixed limit', 'MessageTooLarge'],
  ['dot', 552, '5.2.3', 'Too long for this mailbox', 'MessageTooLarge'],
  ['dot', 552, null, 'Message exceeds the maximum size', 'MessageTooLarge'],
  ['dot', 552, null, 'Message content too large', 'MessageTooLarge'],
  ['dot', 554, '5.7.1', 'Message rejected as spam', 'ContentRejected'],
  ['dot', 554, null, 'Your message looks like phishing', 'ContentRejected'],
  ['dot', 550, '5.6.0', 'Sorry', 'ContentRejected'],
  ['dot', 550, '5.6.1', 'Attachment of this type is not taken', 'AttachmentRejected'],
  ['dot', 552, '5.7.0', 'Our system detected an illegal attachment on your message', 'AttachmentRejected'],
  ['dot', 554, '5.7.1', 'Virus Eicar found', 'AttachmentRejected'],
  ['rcpt', 554, '5.7.1', 'Blocked for spam, see spamhaus', 'General'],
  ['dot', 550, '5.7.26', 'Unauthenticated email is not accepted; spam rules', 'General'],
  ['rcpt', 550, '5.4.1', 'Recipient address rejected: user unknown or access denied', 'General'],
  ['rcpt', 550, null, 'Sorry', 'General'],
  ['dns', null, null, 'The domain does not exist', 'NoEmail'],
];

for (const [phase, smtpCode, enhancedCode, text, expected] of CASES) {
  test(`${smtpCode} ${enhancedCode ?? ''} at ${phase}, "${text}", is ${expected}`, () => {
    assert.equal(bounceSubType({ phase, smtpCode, enhancedCode, text }), expected);
  });
}

test('an unknown code that is named like a property of every object has no meaning', () => {
  const report = { phase: 'rcpt', smtpCode: 550, text: '' } as const;
  assert.equal(bounceSubType({ ...report, enhancedCode: '5.constructor' }), 'General');
});
