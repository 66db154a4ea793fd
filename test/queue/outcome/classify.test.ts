import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SmtpPhase } from '../../../src/mail/smtp/client/failure.ts';
import { classifyNotice, classifyRefusal } from '../../../src/queue/outcome/classify.ts';

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

type NoticeCase = [status: string | null, diagnosticCode: string | null, expected: string];

const notices: NoticeCase[] = [
  ['5.1.1', '550 5.1.1 User unknown', 'permanent 550 5.1.1'],
  ['5.1.1', 'unknown user: "bob"', 'permanent null 5.1.1'],
  ['5.0.0', '550 5.1.1 User unknown', 'permanent 550 5.1.1'],
  ['5.1.1', '550 5.0.0 User unknown', 'permanent 550 5.1.1'],
  ['5.0.0', '550 550 5.2.1 Disabled', 'permanent 550 5.2.1'],
  ['5.0.0', '556 Domain takes no mail', 'permanent 556 5.0.0'],
  ['5.1.1', '550 5.7.1 Blocked', 'undetermined 550 5.7.1'],
  ['5.7.1', '521 5.7.1 Blocked', 'undetermined 521 5.7.1'],
  ['5.0.0', '550 No such user here', 'undetermined 550 5.0.0'],
  ['5.2.2', '552 5.2.2 Full', 'transient 552 5.2.2'],
  [null, '552 Full', 'transient 552 null'],
  ['4.4.7', 'Expired', 'transient null 4.4.7'],
  [null, null, 'undetermined null null'],
];

for (const [status, diagnosticCode, expected] of notices) {
  test(`a report of ${status} with "${diagnosticCode}" is ${expected}`, () => {
    const notice = {
      action: 'failed',
      status,
      diagnosticCode,
      remoteMta: null,
      willRetryUntil: null,
    } as const;
    const addresses = { finalRecipient: null, originalRecipient: null };
    const { bounce, report } = classifyNotice({ ...notice, ...addresses, form: 'structured' });
    assert.equal(`${bounce} ${report.smtpCode} ${report.enhancedCode}`, expected);
    assert.notEqual(classifyNotice({ ...notice, ...addresses, form: 'text' }).bounce, 'permanent');
  });
}
