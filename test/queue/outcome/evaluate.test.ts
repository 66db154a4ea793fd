import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SmtpPhase } from '../../../src/mail/smtp/client/failure.ts';
import { classifyRefusal } from '../../../src/queue/outcome/evaluate.ts';
import { explainReport } from '../../../src/queue/outcome/explain.ts';
import { PACKAGED } from '../../support/spool.ts';

const peer = { mx: 'mx.example', address: '192.0.2.1', tls: null };

function classify(phase: SmtpPhase, code: number, enhanced: string | undefined, text = 'no'): string {
  const reply = { code, enhanced, lines: [text] };
  const { kind, report } = classifyRefusal(PACKAGED, peer, { phase, reply });
  return kind === 'bounced' ? `bounced ${explainReport(PACKAGED.table, report).suppresses}` : kind;
}

const table: [SmtpPhase, number, string | undefined, string, string][] = [
  ['rcpt', 550, '5.1.1', 'User unknown', 'bounced now'],
  ['rcpt', 550, undefined, 'No such user here', 'bounced now'],
  ['rcpt', 550, undefined, 'Mailbox unavailable', 'bounced repeated'],
  ['rcpt', 550, undefined, 'Denied', 'bounced repeated'],
  ['rcpt', 550, '5.7.1', 'User unknown to our reputation system', 'bounced never'],
  ['dot', 550, '5.7.1', 'Blocked for spam', 'bounced never'],
  ['dot', 550, '5.1.1', 'User unknown', 'bounced now'],
  ['dot', 554, undefined, 'No such user', 'bounced repeated'],
  ['rcpt', 552, '5.2.2', 'Mailbox full', 'bounced never'],
  ['rcpt', 552, undefined, 'Too many recipients', 'deferred'],
  ['rcpt', 550, undefined, 'Greylisted', 'deferred'],
  ['rcpt', 553, undefined, 'Bad name', 'bounced never'],
  ['mail', 550, '5.1.8', 'Bad sender', 'bounced never'],
  ['mail', 553, undefined, 'Bad sender', 'bounced never'],
  ['rcpt', 450, '4.2.0', 'Greylisted', 'deferred'],
  ['rcpt', 452, undefined, 'Too many recipients', 'deferred'],
  ['data', 503, undefined, 'Bad sequence', 'deferred'],
  ['data', 354, undefined, 'Go on', 'deferred'],
  ['banner', 554, undefined, 'No SMTP service here', 'deferred'],
  ['ehlo', 550, undefined, 'Unknown user', 'deferred'],
  ['banner', 521, undefined, 'Host takes no mail', 'bounced now'],
  ['rcpt', 556, undefined, 'Domain takes no mail', 'bounced now'],
  ['banner', 521, '5.7.1', 'Client refused', 'deferred'],
  ['rcpt', 521, '5.7.1', 'Client refused', 'bounced never'],
  ['rcpt', 521, '5.5.1', 'Protocol error', 'bounced never'],
];

for (const [phase, code, enhanced, text, expected] of table) {
  test(`${code} ${enhanced ?? '-'} "${text}" at ${phase} is ${expected}`, () => {
    assert.equal(classify(phase, code, enhanced, text), expected);
  });
}
