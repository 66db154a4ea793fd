/** The replies of a relay: its refusals of us wait and suppress nobody, and its refusals of recipients mean what they mean elsewhere. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SmtpFailure, SmtpPhase } from '../../../src/mail/smtp/client/failure.ts';
import { explainReport } from '../../../src/queue/outcome/explain.ts';
import { evaluateRelayFailure, evaluateRelayResult } from '../../../src/queue/outcome/relay.ts';
import { PACKAGED } from '../../support/spool.ts';

const peer = { mx: 'relay.example', address: '192.0.2.1', tls: null };

function describe({ kind, report }: ReturnType<typeof evaluateRelayFailure>): string {
  const { suppresses } = explainReport(PACKAGED.table, report);
  return `${kind} ${suppresses}${report.fact === undefined ? '' : ` ${report.fact}`}`;
}

const results: [SmtpPhase, number, string | undefined, string, string][] = [
  ['mail', 530, '5.7.0', 'Authentication required', 'deferred never relay'],
  ['mail', 535, undefined, 'Wrong', 'deferred never relay'],
  ['rcpt', 550, '5.7.8', 'Log in first', 'deferred never relay'],
  ['rcpt', 554, '5.7.1', 'Relay access denied', 'deferred never relay'],
  ['rcpt', 550, undefined, 'Relaying denied', 'deferred never relay'],
  ['rcpt', 550, '5.1.1', 'User unknown', 'bounced now'],
  ['rcpt', 550, undefined, 'Mailbox unavailable', 'bounced never relay'],
  ['rcpt', 550, undefined, 'Denied', 'bounced never relay'],
  ['mail', 553, '5.1.8', 'Sender not allowed', 'bounced never'],
  ['dot', 554, '5.7.1', 'Message rejected as spam', 'bounced never'],
  ['dot', 552, '5.3.4', 'Message too big', 'bounced never'],
  ['rcpt', 450, '4.2.0', 'Greylisted', 'deferred never'],
  ['mail', 421, '4.3.2', 'Closing', 'deferred never'],
];

for (const [phase, code, enhanced, text, expected] of results) {
  test(`a relay that answers ${code} ${enhanced ?? ''} "${text}" to ${phase}: ${expected}`, () => {
    const reply = { code, enhanced, lines: [text] };
    assert.equal(describe(evaluateRelayResult(PACKAGED, peer, { kind: 'refused', phase, reply })), expected);
  });
}

test('a session that does not open defers its mail, except for what the message itself requires', () => {
  const reply = (code: number) => ({ code, enhanced: undefined, lines: ['no'] });
  const failures: [SmtpFailure, string][] = [
    [{ phase: 'auth', kind: 'reply', reply: reply(535) }, 'deferred never relay'],
    [{ phase: 'banner', kind: 'reply', reply: reply(521) }, 'deferred never relay'],
    [{ phase: 'ehlo', kind: 'reply', reply: reply(556) }, 'deferred never relay'],
    [{ phase: 'starttls', kind: 'tls', message: 'no' }, 'deferred never relay'],
    [{ phase: 'auth', kind: 'protocol', message: 'no' }, 'deferred never relay'],
    [{ phase: 'connect', kind: 'timeout', message: 'no' }, 'deferred never network'],
    [{ phase: 'connect', kind: 'local', message: 'no' }, 'deferred never local'],
    [{ phase: 'ehlo', kind: 'requirement', status: '5.7.30', message: 'no' }, 'bounced never requirement'],
  ];
  for (const [failure, expected] of failures)
    assert.equal(describe(evaluateRelayFailure(PACKAGED, peer, failure)), expected);
});
