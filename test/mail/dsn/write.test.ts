/** Notifications that this program writes, as its own reader and other programs read them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type StructuredHeader, simpleParser } from 'mailparser';
import { addressReadings } from '../../../src/mail/dsn/notice.ts';
import { readReturnedMail } from '../../../src/mail/dsn/read.ts';
import { composeSenderReport, type SenderReport } from '../../../src/mail/dsn/sender-report.ts';
import { composeReport } from '../../../src/mail/dsn/write.ts';

const HEADER = 'From: Ann <ann@sender.example>\r\nSubject: Help\r\nX-Long:\r\n one\r\n two\r\n';
const REPORT: SenderReport = {
  messageId: 'em_1@mx.postrider.example',
  hostname: 'mx.postrider.example',
  to: { name: undefined, address: 'ann@sender.example', localPart: 'ann', domain: 'sender.example' },
  action: 'failed',
  recipients: [{ address: 'abuse@shop.example' }],
  status: '5.7.30',
  arrivedAt: 1_800_000_000_000,
  header: Buffer.from(HEADER),
};

/** Returns the notification with these parts, whose octets are all in ASCII. */
function compose(report: Partial<SenderReport> = {}): string {
  const { bytes, headerBytes } = composeSenderReport({ ...REPORT, ...report });
  const message = bytes.toString('latin1');
  assert.match(message, /^[\t\r\n -~]*$/);
  assert.ok(message.split('\r\n').every((line) => line.length <= 998 && !/[\r\n]/.test(line)));
  assert.equal(message.indexOf('\r\n\r\n') + 4, headerBytes);
  return message;
}

function noticeOf(message: string) {
  const read = readReturnedMail(Buffer.from(message, 'latin1'));
  assert.ok(read.kind === 'bounce' && read.notices.length === 1, 'it has one notice');
  return read.notices[0] ?? assert.fail();
}

test('our reader finds the recipient, the action and the status', () => {
  const { form, action, status, finalRecipient, originalRecipient } = noticeOf(compose());
  assert.deepEqual(
    [form, action, status, finalRecipient, originalRecipient],
    ['structured', 'failed', '5.7.30', 'abuse@shop.example', null],
  );
});

test('mailparser finds a report with its three parts, and the fields that stop answers to it', async () => {
  const { headers, headerLines, subject, from, to, text, attachments } = await simpleParser(compose());
  const { value, params } = headers.get('content-type') as StructuredHeader;
  assert.deepEqual([value, params['report-type']], ['multipart/report', 'delivery-status']);
  assert.equal(headers.get('auto-submitted'), 'auto-replied');
  assert.equal(headers.get('message-id'), '<em_1@mx.postrider.example>');
  assert.ok(!headerLines.some(({ key }) => key === 'date'), 'the queue adds the date');
  assert.equal(subject, 'Your message could not be delivered');
  assert.equal(from?.value[0]?.address, 'postmaster@mx.postrider.example');
  assert.deepEqual([to].flat()[0]?.value[0]?.address, 'ann@sender.example');
  assert.match(text ?? '', /<abuse@shop\.example>[\s\S]*5\.7\.30/);
  // The machine-readable part is text to mailparser.
  const status =
    'Reporting-MTA: dns; mx.postrider.example\nArrival-Date: Fri, 15 Jan 2027 08:00:00 +0000\n\n' +
    'Final-Recipient: rfc822; abuse@shop.example\nAction: failed\nStatus: 5.7.30\n';
  assert.ok(text?.includes(status), text);
  assert.deepEqual(
    attachments.map(({ contentType, content }) => [contentType, content.toString('latin1')]),
    [['text/rfc822-headers', HEADER]],
  );
});

test('an address in UTF-8 has its own type, in a form that every server can carry', () => {
  const recipient = 'ab+ü=\\x@bücher.example';
  const message = compose({ recipients: [{ address: recipient }] });
  const encoded = 'ab\\x{2B}\\x{FC}\\x{3D}\\x{5C}x@b\\x{FC}cher.example';
  assert.ok(message.includes(`\r\nFinal-Recipient: utf-8; ${encoded}\r\n`), message);
  const { finalRecipient } = noticeOf(message);
  assert.equal(finalRecipient, encoded);
  const plain = noticeOf(compose({ recipients: [{ address: 'abuse@bücher.example' }] })).finalRecipient ?? '';
  assert.ok(addressReadings(plain).includes('abuse@xn--bcher-kva.example'));
});

test('a header in UTF-8, with long lines or with other octets is encoded, and comes back', async () => {
  const headerIn = async (message: string) => {
    const { contentType, content } = (await simpleParser(message)).attachments.at(-1) ?? assert.fail();
    return [contentType, content.toString('utf8')];
  };
  const long = `${HEADER}X: ${'a'.repeat(2_000)}\r\n`;
  const utf8 = 'From: ann@sender.example\r\nSubject: Grüße 👋\r\n';
  assert.deepEqual(await headerIn(compose({ header: Buffer.from(long) })), ['text/rfc822-headers', long]);
  assert.deepEqual(await headerIn(compose({ header: Buffer.from(utf8) })), ['message/global-headers', utf8]);
  assert.deepEqual(await headerIn(compose({ header: Buffer.from('Subject: \xe9\r\n', 'latin1') })), [
    'message/global-headers',
    'Subject: \ufffd\r\n',
  ]);
});

test('a header that holds lines like boundaries adds no part', () => {
  const [, boundary] = /boundary="([^"]+)"/.exec(compose()) ?? assert.fail();
  const header = Buffer.from(`${HEADER}X: y\r\n--${boundary}\r\nContent-Type: message/delivery-status\r\n`);
  const message = compose({ header });
  assert.doesNotMatch(message, new RegExp(`boundary="${boundary}"`));
  assert.equal(noticeOf(message).finalRecipient, 'abuse@shop.example');
});

test('a notification in UTF-8 has addresses as they are, and our reader finds them', () => {
  const { bytes } = composeSenderReport({
    ...REPORT,
    recipients: [{ address: 'zoë@bücher.example' }],
    isUtf8: true,
  });
  const message = bytes.toString('latin1');
  assert.match(message, /\r\nContent-Type: message\/global-delivery-status\r\n/);
  const { action, finalRecipient } = noticeOf(message);
  assert.deepEqual([action, finalRecipient], ['failed', 'zoë@bücher.example']);
});

test('each fate has its action, words of its own, and the addresses that the sender wrote first', () => {
  for (const [action, status, words] of [
    ['delivered', '2.0.0', 'was delivered'],
    ['relayed', '2.0.0', 'sent on to another server'],
    ['expanded', '2.0.0', 'sent on to several addresses'],
    ['delayed', '4.2.0', 'It is tried again.'],
  ] as const) {
    const recipients = [{ address: 'abuse@shop.example', original: 'rfc822;Ab@shop.example' }];
    const message = compose({ action, status, recipients, envelopeId: 'QQ314159' });
    assert.match(message, new RegExp(words));
    assert.match(message, /\r\nOriginal-Envelope-Id: QQ314159\r\n/);
    const notice = noticeOf(message);
    assert.deepEqual([notice.action, notice.status], [action, status]);
    assert.equal(notice.originalRecipient, 'Ab@shop.example');
  }
});

test('a whole message is returned octet by octet, with the type that its header asks for', () => {
  const recipients = [{ address: 'bob@shop.example', action: 'failed', status: '5.1.1' }] as const;
  for (const [header, body, type] of [
    ['Subject: Help\r\n', 'Hi\r\n', 'message/rfc822'],
    ['Subject: Help\r\n', 'Grüße\r\n', 'message/rfc822'],
    ['Subject: Grüße\r\n', 'Hi\r\n', 'message/global'],
  ] as const) {
    const message = Buffer.from(`${header}\r\n${body}`);
    const parts = { header: Buffer.from(header), message, recipients, subject: 's', text: 't' };
    const { bytes, headerBytes } = composeReport({ ...REPORT, ...parts });
    const report = bytes.toString();
    assert.ok(report.includes(`\r\nContent-Type: ${type}\r\n`), report);
    assert.ok(report.includes(`\r\n\r\n${header}\r\n${body}\r\n--`), report);
    const isEightBit = /[^\0-\x7f]/.test(header + body);
    assert.equal(bytes.subarray(0, headerBytes).includes('Content-Transfer-Encoding: 8bit'), isEightBit);
  }
});
