import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_COMPLAINT_BYTES, readFeedbackReport } from '../../src/mail/arf.ts';

/** Returns a feedback report, written for these tests. */
function complaint(report: string, original: string, type = 'message/rfc822'): string {
  return `From: feedback@provider.example
To: c+token@bounce.example
Subject: FW: Hi
MIME-Version: 1.0
Content-Type: multipart/report; report-type=feedback-report; boundary="part"

--part
Content-Type: text/plain; charset=us-ascii

This is a report about a message of yours.

--part
Content-Type: message/feedback-report

${report}
--part
Content-Type: ${type}
Content-Disposition: inline

${original}
--part--
`;
}

const REPORT = `Feedback-Type: Abuse
User-Agent: Provider FBL/1.0
Version: 1
Original-Mail-From: <b+token@bounce.example>
Original-Rcpt-To: <bob@rcpt.example>
Arrival-Date: Tue, 24 Nov 2026 15:00:00 -0500 (EST)
Reported-Domain: sender.example
`;
const ORIGINAL = `Return-Path: <b+other@bounce.example>
CFBL-Address: c+token@bounce.example; report=arf
CFBL-Feedback-ID: c+
 token
Message-ID: <em_x@sender.example>

Subject: this is the body
`;

function valuesOf(message: string): string[] {
  return (readFeedbackReport(Buffer.from(message))?.fields ?? []).map(
    ({ name, value }) => `${name}: ${value}`,
  );
}

test('a report is read with its type, its program, its recipients, and the header of the message', () => {
  const read = readFeedbackReport(Buffer.from(complaint(REPORT, ORIGINAL)));
  assert.deepEqual(
    [read?.feedbackType, read?.userAgent, read?.originalRecipients],
    ['abuse', 'Provider FBL/1.0', ['<bob@rcpt.example>']],
  );
  const values = valuesOf(complaint(REPORT, ORIGINAL));
  for (const value of [
    'original-mail-from: <b+token@bounce.example>',
    'return-path: <b+other@bounce.example>',
    'cfbl-address: c+token@bounce.example; report=arf',
    'message-id: <em_x@sender.example>',
  ])
    assert.ok(values.includes(value), value);
  assert.ok(!values.some((value) => value.startsWith('subject')), 'the body is not read');
});

test('the header alone suffices, with any of its types, and encoded', () => {
  for (const type of ['text/rfc822-headers', 'text/rfc822; charset=UTF-8', 'message/global-headers'])
    assert.ok(
      valuesOf(complaint(REPORT, 'CFBL-Feedback-ID: c+token', type)).includes('cfbl-feedback-id: c+token'),
      type,
    );
  const encoded = Buffer.from(ORIGINAL).toString('base64');
  const type = 'message/rfc822\nContent-Transfer-Encoding: base64';
  assert.ok(valuesOf(complaint(REPORT, encoded, type)).includes('message-id: <em_x@sender.example>'));
});

test('the types of RFC 5965 are told apart', () => {
  for (const type of ['fraud', 'virus', 'other', 'not-spam', 'auth-failure'])
    assert.equal(
      readFeedbackReport(Buffer.from(complaint(`Feedback-Type: ${type}`, ORIGINAL)))?.feedbackType,
      type,
    );
});

test('mail without a report or without its type is no complaint', () => {
  assert.equal(readFeedbackReport(Buffer.from(`Subject: Stop!\n\n${REPORT}`)), undefined);
  assert.equal(readFeedbackReport(Buffer.from(complaint('User-Agent: x', ORIGINAL))), undefined);
  assert.equal(readFeedbackReport(Buffer.from(complaint('Feedback-Type: ', ORIGINAL))), undefined);
});

test('a report without the message is read, and so is a hostile one', () => {
  const [alone = ''] = complaint(REPORT, '').split('--part\nContent-Type: message/rfc822');
  assert.equal(readFeedbackReport(Buffer.from(alone))?.feedbackType, 'abuse');
  const many = `Feedback-Type: abuse\n${'Original-Rcpt-To: a@b.example\n'.repeat(10_000)}`;
  const read = readFeedbackReport(Buffer.from(complaint(many, 'a: b\n'.repeat(MAX_COMPLAINT_BYTES / 5))));
  assert.ok(read && read.originalRecipients.length <= 20 && read.fields.length <= 2_000);
});

/** A complaint of Outlook.com in its older form. */
const MICROSOFT = `From: staff@provider.example
Subject: complaint about message from 192.0.2.1
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="part"

--part
Content-Type: message/rfc822
Content-Disposition: inline

X-HmXmrOriginalRecipient: bob@rcpt.example
X-Reporter-IP: 192.0.2.9
Return-Path: <b+token@bounce.example>
Message-ID: <em_x@sender.example>

X-HmXmrOriginalRecipient: eve@rcpt.example
--part--
`;

test('the older form of Outlook.com is a complaint: the message alone, with the reader in its header', () => {
  const expected = ['abuse', null, ['bob@rcpt.example']];
  for (const message of [MICROSOFT, MICROSOFT.replaceAll('\n', '\r\n'), MICROSOFT.replace('X-Hm', 'x-HM')]) {
    const read = readFeedbackReport(Buffer.from(message));
    assert.deepEqual([read?.feedbackType, read?.userAgent, read?.originalRecipients], expected);
    assert.ok(valuesOf(message).includes('return-path: <b+token@bounce.example>'));
  }
  const withoutReader = MICROSOFT.replace('X-HmXmrOriginalRecipient: bob@rcpt.example\n', '');
  assert.equal(readFeedbackReport(Buffer.from(withoutReader)), undefined, 'a message that is forwarded');
  const inText = MICROSOFT.replace('message/rfc822', 'text/plain');
  assert.equal(readFeedbackReport(Buffer.from(inText)), undefined, 'a letter about a complaint');
});
