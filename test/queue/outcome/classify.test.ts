import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SmtpPhase } from '../../../src/mail/smtp/client/failure.ts';
import { classifyRefusal } from '../../../src/queue/outcome/classify.ts';

const peer = { mx: 'mx.example', address: '192.0.2.1', tls: null };

function classify(phase: SmtpPhase, code: number, enhanced: string | undefined, text = 'no'): string {
  const outcome = classifyRefusal(peer, phase, { code, enhanced, lines: [text] });
  return outcome.kind === 'bounced' ? `bounced ${outcome.bounce}` : outcome.kind;
}

const table: [SmtpPhase, number, string | undefined, string, string][] = [
  ['rcpt', 550, '5.1.1', 'User unknown', 'bounced permanent'],
  ['rcpt', 550, undefined, 'No such user here', 'bounced permanent'],
  ['rcpt', 550, undefined, 'Mailbox unavailable', 'bounced permanent'],
  ['rcpt', 550, undefined, 'Denied', 'bounced undetermined'],
  ['rcpt', 550, '5.7.1', 'User unknown to our reputation system', 'bounced undetermined'],
  ['dot', 550, '5.7.1', 'Blocked for spam', 'bounced undetermined'],
  ['dot', 550, '5.1.1', 'User unknown', 'bounced permanent'],
  ['dot', 554, undefined, 'No such user', 'bounced undetermined'],
  ['rcpt', 552, '5.2.2', 'Mailbox full', 'bounced transient'],
  ['rcpt', 552, undefined, 'Too many recipients', 'deferred'],
  ['rcpt', 553, undefined, 'Bad name', 'bounced permanent'],
  ['mail', 550, '5.1.8', 'Bad sender', 'bounced undetermined'],
  ['mail', 553, undefined, 'Bad sender', 'bounced undetermined'],
  ['rcpt', 450, '4.2.0', 'Greylisted', 'deferred'],
  ['rcpt', 452, undefined, 'Too many recipients', 'deferred'],
  ['data', 503, undefined, 'Bad sequence', 'deferred'],
  ['data', 354, undefined, 'Go on', 'deferred'],
  ['banner', 554, undefined, 'No SMTP service here', 'deferred'],
  ['ehlo', 550, undefined, 'Unknown user', 'deferred'],
  ['banner', 521, undefined, 'Host takes no mail', 'bounced permanent'],
  ['rcpt', 556, undefined, 'Domain takes no mail', 'bounced permanent'],
  ['banner', 521, '5.7.1', 'Client blocked using a list', 'deferred'],
  ['rcpt', 521, '5.7.1', 'Client blocked using a list', 'bounced undetermined'],
  ['rcpt', 521, '5.5.1', 'Protocol error', 'bounced undetermined'],
];

for (const [phase, code, enhanced, text, expected] of table) {
  test(`${code} ${enhanced ?? '-'} "${text}" at ${phase} is ${expected}`, () => {
    assert.equal(classify(phase, code, enhanced, text), expected);
  });
}
