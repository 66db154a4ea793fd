import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Notice } from '../../../src/mail/dsn/notice.ts';
import { bounceTypeOf } from '../../../src/queue/outcome/explain.ts';
import { explainNotice } from '../../../src/queue/outcome/notice.ts';
import { packagedReplies } from '../../../src/queue/outcome/replies/replies.ts';

function explain(form: Notice['form'], status: string | null, diagnosticCode: string | null) {
  const notice: Notice = {
    ...{
      form,
      action: 'failed',
      status,
      diagnosticCode,
      explanation: null,
      remoteMta: null,
      willRetryUntil: null,
    },
    ...{ finalRecipient: null, originalRecipient: null },
  };
  return explainNotice(packagedReplies(), notice);
}

type NoticeCase = [status: string | null, diagnosticCode: string | null, expected: string];

const notices: NoticeCase[] = [
  ['5.1.1', '550 5.1.1 User unknown', 'now 550 5.1.1'],
  ['5.1.1', 'unknown user: "bob"', 'now null 5.1.1'],
  ['5.0.0', '550 5.1.1 User unknown', 'now 550 5.1.1'],
  ['5.1.1', '550 5.0.0 User unknown', 'now 550 5.1.1'],
  ['5.0.0', '550 550 5.2.1 Disabled', 'now 550 5.2.1'],
  ['5.0.0', '556 Domain takes no mail', 'now 556 5.0.0'],
  ['5.0.0', '550 User unknown', 'now 550 5.0.0'],
  ['5.0.0', '550 No such user here', 'now 550 5.0.0'],
  // The status of the report is a guess where the reply has no code: some servers call every refusal an unknown user.
  ['5.1.1', '550 Denied', 'repeated 550 5.1.1'],
  ['5.1.1', '550 Rejected as spam', 'never 550 5.1.1'],
  ['5.1.1', '550 5.7.1 Blocked', 'never 550 5.7.1'],
  ['5.7.1', '521 5.7.1 Blocked', 'never 521 5.7.1'],
  ['5.2.2', '552 5.2.2 Full', 'never 552 5.2.2'],
  ['5.1.0', '550 5.1.0 <b@bounce.example> sender rejected.', 'never 550 5.1.0'],
  ['5.1.1', '550 5.1.1 <a@b.example> sent to too many recipients this hour', 'never 550 5.1.1'],
  ['4.1.1', '450 4.1.1 User unknown', 'never 450 4.1.1'],
  [null, '552 Full', 'never 552 null'],
  ['5.3.0', 'the program of local delivery printed: user unknown', 'repeated null 5.3.0'],
  ['4.4.7', 'Expired', 'never null 4.4.7'],
  [null, null, 'never null null'],
];

for (const [status, diagnosticCode, expected] of notices) {
  test(`a report of ${status} with "${diagnosticCode}" suppresses ${expected}`, () => {
    const { meaning, report } = explain('structured', status, diagnosticCode);
    assert.equal(`${meaning.suppresses} ${report.smtpCode} ${report.enhancedCode}`, expected);
  });
}

test('the reply that a program quotes behind its own words decides', () => {
  const cases: [status: string, diagnosticCode: string, expected: string][] = [
    [
      '5.0.0',
      'host mx.rcpt.example[192.0.2.1] said: 551 <bob@rcpt.example> is a deactivated mailbox',
      'now 551',
    ],
    [
      '5.0.0',
      'host mx.rcpt.example[192.0.2.1] said: 550 5.7.1 <bob@rcpt.example>... Relaying denied',
      'never 550',
    ],
    ['5.0.0', "5.1.0 - Unknown address error 550-'No such user (bob)' (delivery attempts: 0)", 'now 550'],
    ['5.0.0', "5.1.0 - Unknown address error 550-'5.7.1 <b@bounce.example>... Access denied'", 'never 550'],
    ['5.0.0', "5.3.0 - Other mail system problem 550-'SPF check failed'", 'never 550'],
    ['5.1.1', "5.1.1 - Bad destination email address 'reject' (delivery attempts: 0)", 'now null'],
  ];
  for (const [status, diagnosticCode, expected] of cases) {
    const { meaning, report } = explain('structured', status, diagnosticCode);
    assert.equal(`${meaning.suppresses} ${report.smtpCode}`, expected, diagnosticCode);
    assert.equal(report.text, diagnosticCode);
  }
});

test('a program that says which command was refused is believed', () => {
  const { meaning } = explain('structured', '5.0.0', '550 Denied (in reply to RCPT TO command)');
  assert.deepEqual([meaning.class, meaning.suppresses], ['hard-unconfirmed', 'repeated']);
  const late = explain('structured', '5.0.0', '550 Denied (in reply to end of DATA command)');
  assert.deepEqual([late.meaning.class, late.meaning.suppresses], ['policy', 'never']);
});

test('the text next to a report says which command was refused', () => {
  const refused = (explanation: string) => {
    const notice: Notice = {
      ...{ form: 'structured', action: 'failed', status: '5.0.0', diagnosticCode: '550 User unknown' },
      ...{
        explanation,
        finalRecipient: null,
        originalRecipient: null,
        remoteMta: null,
        willRetryUntil: null,
      },
    };
    return explainNotice(packagedReplies(), notice).meaning.suppresses;
  };
  assert.equal(refused('host mx.rcpt.example said: 550 User unknown (in reply to RCPT TO command)'), 'now');
  assert.equal(
    refused('host mx.rcpt.example said: 550 User unknown (in reply to MAIL FROM command)'),
    'never',
  );
  assert.equal(refused('550 User unknown (in reply to end of DATA command)'), 'repeated');
});

test('text for people suppresses only where it quotes the reply of a server', () => {
  assert.equal(explain('text', '5.1.1', '550 5.1.1 User unknown').meaning.suppresses, 'repeated');
  assert.equal(explain('text', '5.1.1', 'The user is unknown').meaning.suppresses, 'never');
});

test('text for people counts in full where it quotes the reply to RCPT', () => {
  const said = (words: string) =>
    explain('text', '5.1.1', `550 5.1.1 User unknown ${words}`).meaning.suppresses;
  assert.equal(said('(in reply to RCPT TO command)'), 'now');
  assert.equal(said('(state 14)'), 'now');
  assert.equal(said('(state 17)'), 'repeated');
  assert.equal(said('(in reply to end of DATA command)'), 'repeated');
});

test('a bounce that does not suppress is transient when it passes by itself', () => {
  const typeOf = (status: string, diagnosticCode: string) => {
    const { meaning, report } = explain('structured', status, diagnosticCode);
    return bounceTypeOf(meaning, { enhancedCode: report.enhancedCode, isSuppressed: false });
  };
  assert.equal(typeOf('5.2.2', '552 5.2.2 Full'), 'transient');
  assert.equal(typeOf('4.4.7', 'Expired'), 'transient');
  assert.equal(typeOf('5.7.1', '550 5.7.1 Blocked'), 'undetermined');
  assert.equal(typeOf('5.4.1', '550 5.4.1 Access denied'), 'undetermined');
});
