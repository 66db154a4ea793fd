import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressReadings, type Notice } from '../../../src/mail/dsn/notice.ts';
import { MAX_REPORT_BYTES, readReturnedMail } from '../../../src/mail/dsn/read.ts';
import * as bounces from './bounces.ts';

function noticesOf(message: string): Notice[] {
  const read = readReturnedMail(Buffer.from(message));
  assert.equal(read.kind, 'bounce');
  return read.kind === 'bounce' ? read.notices : [];
}

/** Returns the content of a notice without the fields that are null in most forms. */
function brief(message: string): unknown[] {
  return noticesOf(message).map(({ form, action, status, diagnosticCode, finalRecipient }) => [
    ...[form, action, status, finalRecipient, diagnosticCode],
  ]);
}

const bob = 'bob@rcpt.example';

test('Postfix: the recipient, the one before it was forwarded, the status and the reply are read', () => {
  assert.deepEqual(noticesOf(bounces.POSTFIX), [
    {
      form: 'structured',
      action: 'failed',
      status: '5.1.1',
      diagnosticCode:
        '550 5.1.1 <forwarded@other.example>: Recipient address rejected: User unknown in virtual mailbox table',
      explanation: null,
      finalRecipient: 'forwarded@other.example',
      originalRecipient: bob,
      remoteMta: 'mail.other.example',
      willRetryUntil: null,
    },
  ]);
});

test('a report takes the reason that it does not have from the text next to it', () => {
  const report = (text: string, rest = '') =>
    noticesOf(
      bounces.statusReport(
        `Reporting-MTA: dns; exim.example\n\nAction: failed\nFinal-Recipient: rfc822;${bob}\nStatus: 5.0.0\n${rest}`,
        'message/delivery-status',
        `The following address(es) failed:\n\n  ${bob}\n    ${text}\n`,
      ),
    )[0];
  assert.equal(report('Unrouteable address')?.diagnosticCode, 'Unrouteable address');
  const refused = `host mx.rcpt.example [192.0.2.1]\n    SMTP error from remote mail server after RCPT TO:<${bob}>:\n    550 No such user`;
  assert.equal(report(refused)?.diagnosticCode, '550 No such user');
  const both = report(refused, 'Diagnostic-Code: smtp; 550 Denied\n');
  assert.equal(both?.diagnosticCode, '550 Denied');
  assert.match(both?.explanation ?? '', /after RCPT TO:/);
});

test('a bounce that a gateway returns in its own without a recipient is read', () => {
  const inner = bounces.POSTFIX.replace(
    'From: MAILER-DAEMON@mx.example',
    'From: MAILER-DAEMON@mx.example\nTo: b+1@bounce.example',
  );
  const outer = `From: Mail Delivery Subsystem <MAILER-DAEMON@gateway.example>
To: NotificationRecipients@gateway.example
Subject: Returned mail: User unknown
Content-Type: multipart/mixed; boundary=outer

--outer

----- The following addresses had permanent delivery errors -----

--outer
Content-Type: message/rfc822

${inner}
--outer--
`;
  const originalRecipients = noticesOf(outer).map(({ originalRecipient }) => originalRecipient);
  assert.deepEqual(originalRecipients, [bob]);
});

test('OpenSMTPD calls a failure an error', () => {
  const [notice] = noticesOf(
    bounces.statusReport(
      `Reporting-MTA: dns; mx.example\n\nFinal-Recipient: rfc822; ${bob}\nAction: error\nStatus: 5.0.0\n`,
    ),
  );
  assert.equal(notice?.action, 'failed');
});

test('a delay is read with the time until which the server keeps trying', () => {
  const [delay] = noticesOf(bounces.POSTFIX_DELAY);
  assert.deepEqual(
    [delay?.action, delay?.status, delay?.willRetryUntil],
    ['delayed', '4.4.1', Date.UTC(2026, 10, 29, 14)],
  );
});

const MACHINE_READABLE: [name: string, message: string, expected: unknown[][]][] = [
  ['Exim', bounces.EXIM, [['5.0.0', bob, '550 5.1.1 The account does not exist. Please check the address.']]],
  [
    'SES',
    bounces.SES,
    [
      ['5.2.2', bob, '552 5.2.2 Over quota'],
      ['5.7.1', 'eve@rcpt.example', '554 5.7.1 Message rejected because of spam'],
    ],
  ],
  ['RFC 6533', bounces.INTERNATIONAL, [['5.1.1', 'b\u00f6b@r\u00e7pt.example', null]]],
];

for (const [name, message, expected] of MACHINE_READABLE)
  test(`${name}: the machine-readable part is read`, () => {
    assert.deepEqual(
      brief(message),
      expected.map((one) => ['structured', 'failed', ...one]),
    );
  });

const FOR_PEOPLE: [name: string, message: string, expected: unknown[][]][] = [
  [
    'qmail',
    bounces.QMAIL,
    [
      ['text', 'failed', '5.1.1', bob, '550 5.1.1 User unknown Giving up on 192.0.2.1.'],
      ['text', 'failed', '5.1.1', 'eve@rcpt.example', 'Sorry, no mailbox here by that name. (#5.1.1)'],
    ],
  ],
  [
    'a delay of Exim',
    bounces.EXIM_DELAY,
    [[...['text', 'delayed', null, bob], 'Delay reason: connection timed out']],
  ],
  [
    'old Gmail',
    bounces.GMAIL_TEXT,
    [['text', 'failed', '5.2.1', bob, '550 550 5.2.1 The mailbox is disabled (state 14).']],
  ],
];

for (const [name, message, expected] of FOR_PEOPLE)
  test(`${name}: the text for people is read`, () => assert.deepEqual(brief(message), expected));

test('line ends, transfer encodings and nested multiparts make no difference', () => {
  const expected = noticesOf(bounces.POSTFIX);
  assert.deepEqual(noticesOf(bounces.POSTFIX.replaceAll('\n', '\r\n')), expected);
  const nested = `Content-Type: multipart/mixed; boundary=outer\n\n--outer\n${bounces.POSTFIX}\n--outer\n\nfooter\n--outer--\n`;
  assert.deepEqual(noticesOf(nested), expected);
  const status = bounces.POSTFIX.split('delivery-status\n\n')[1]?.split('\n--4F2C')[0] ?? '';
  const base64 = Buffer.from(status).toString('base64').replace(/.{76}/g, '$&\n');
  const quoted = status.replaceAll('=', '=3D').replaceAll('Action', '=41ct=\nion');
  for (const [encoding, body] of Object.entries({ base64, 'quoted-printable': quoted })) {
    const type = `message/delivery-status\nContent-Transfer-Encoding: ${encoding}`;
    assert.deepEqual(noticesOf(bounces.statusReport(body, type)), expected, encoding);
  }
});

test('an address of a report is compared as it is written, and with the encodings of ORCPT undone', () => {
  assert.deepEqual(addressReadings('Bob+2Bnews@Rcpt.example'), [
    'bob+2bnews@rcpt.example',
    'bob+news@rcpt.example',
  ]);
  assert.deepEqual(addressReadings('b\\x{F6}b@r\\x{E7}pt.example').at(-1), 'b\u00f6b@xn--rpt-2la.example');
  assert.deepEqual(addressReadings('a@b.example'), ['a@b.example']);
});

/** Returns a report whose author, subject and text do not say that something failed. */
const neutral = (status: string) =>
  bounces
    .statusReport(status)
    .replace('MAILER-DAEMON@', 'ada@')
    .replace('Undelivered Mail Returned to Sender', 'Report')
    .replace('could not deliver your message', 'sends a report');

test('a report without recipients, addresses or actions says nothing', () => {
  for (const status of [
    'Reporting-MTA: dns; mx.example',
    'Final-Recipient: rfc822; bob@rcpt.example\nStatus: 4.2.2',
    'Final-Recipient: rfc822; bob@rcpt.example\nAction: resent\nStatus: 5.1.1',
  ])
    assert.notEqual(readReturnedMail(Buffer.from(neutral(status))).kind, 'bounce', status);
  const [unnamed] = noticesOf(
    bounces.statusReport('Final-Recipient: LOCAL;bob\nAction: failed\nStatus: 5.1.1'),
  );
  assert.equal(unnamed?.finalRecipient, null);
});

test('other mail that comes back is no bounce', () => {
  const letters = [
    'Subject: Re: Hi\n\nYour message did reach me. <bob@rcpt.example>:\n550 5.1.1\n',
    'Subject: Re: Hi\n\n> Hi. This is the qmail-send program\n<bob@rcpt.example>:\n550\n',
    '',
    '\n',
    'Content-Type: multipart/report; boundary=x\n\n',
  ];
  for (const letter of letters) assert.deepEqual(readReturnedMail(Buffer.from(letter)), { kind: 'other' });
});

/** Messages that cost a careless reader quadratic time, each of the largest size that is read. */
const BOMBS: Record<string, (bytes: number) => string> = {
  spaces: (bytes) => bounces.statusReport(`Final-Recipient: rfc822; ${' '.repeat(bytes)}x`),
  brackets: (bytes) => bounces.statusReport(`Final-Recipient: rfc822; ${'<'.repeat(bytes)}`),
  groups: (bytes) => bounces.statusReport('Final-Recipient: a;a@b.c\nAction: failed\n\n'.repeat(bytes / 40)),
  'empty lines': (bytes) => bounces.statusReport('\n \n'.repeat(bytes / 3)),
  delimiters: (bytes) => `Content-Type: multipart/report; boundary=x\n\n${'--x\n'.repeat(bytes / 4)}`,
  'half delimiters': (bytes) => `Content-Type: multipart/report; boundary=x\n\n${'\n--xy'.repeat(bytes / 5)}`,
  nesting: (bytes) => 'Content-Type: multipart/mixed; boundary=x\n\n--x\n'.repeat(bytes / 45),
  fields: (bytes) => 'a:b\n'.repeat(bytes / 4),
  folds: (bytes) => `a: ${'\n b'.repeat(bytes / 3)}`,
  addresses: (bytes) => bounces.textBounce(`Hi. This is the x\n\n${'<a@b.c>:\n'.repeat(bytes / 9)}`),
  intro: (bytes) => bounces.textBounce('mail delivery software '.repeat(bytes / 23)),
  'many addresses': (bytes) => bounces.textBounce(`Not delivered:\n${'a@b.c '.repeat(bytes / 6)}`),
  'half addresses': (bytes) => bounces.textBounce(`Not delivered:\n${'a@'.repeat(bytes / 2)}`),
  'quotation marks': (bytes) => bounces.textBounce(`Not delivered:\n${'"@'.repeat(bytes / 2)}`),
  words: (bytes) => bounces.textBounce('could not be trying to '.repeat(bytes / 23)),
  'short lines': (bytes) => bounces.textBounce('could not be\n'.repeat(bytes / 13)),
  tags: (bytes) =>
    `From: postmaster\nSubject: failure notice\nContent-Type: text/html\n\n${'<a '.repeat(bytes / 3)}`,
  'failed recipients': (bytes) => `X-Failed-Recipients: ${'a@b.c, '.repeat(bytes / 7)}\n\n`,
  codes: (bytes) => bounces.textBounce(`Hi. This is the x\n\n<a@b.c>:\n${'5.1.1.'.repeat(bytes / 6)}`),
};

test('hostile messages are read in a few milliseconds, and give no more than the limits', () => {
  for (const [name, bomb] of Object.entries(BOMBS)) {
    const message = Buffer.from(bomb(MAX_REPORT_BYTES));
    const startedAt = process.threadCpuUsage();
    const read = readReturnedMail(message);
    const { user } = process.threadCpuUsage(startedAt);
    assert.ok(user < 250_000, `${name} took ${user} µs`);
    if (read.kind === 'bounce') assert.ok(read.notices.length <= 200, name);
  }
});

test('a server that has given up writes "expired", and other words, in the place of the action', () => {
  for (const action of ['expired', 'Expired (message too old)', 'failure']) {
    const status = `Final-Recipient: rfc822; ${bob}\nAction: ${action}\nStatus: 4.4.7\n`;
    const read = noticesOf(neutral(status));
    assert.deepEqual(
      read.map((notice) => [notice.action, notice.status]),
      [['failed', '4.4.7']],
      action,
    );
  }
});

test('a report whose boundary was changed on its way, or lost, is read from the text', () => {
  const expected = noticesOf(bounces.POSTFIX);
  const spoiled: Record<string, string> = {
    changed: bounces.POSTFIX.replace('boundary="4F2C.1/mx.example"', 'boundary="gateway"'),
    lost: bounces.POSTFIX.replace(';\n\tboundary="4F2C.1/mx.example"', ''),
    indented: bounces.POSTFIX.replace('boundary="4F2C', 'boundary="x').replace(
      /^(?=Final|Action|Status)/gm,
      '  ',
    ),
    'in a part of another type': bounces.POSTFIX.replace('message/delivery-status', 'text/plain'),
  };
  for (const [name, message] of Object.entries(spoiled))
    assert.deepEqual(
      noticesOf(message).map(({ form, status, originalRecipient }) => [form, status, originalRecipient]),
      expected.map(({ status, originalRecipient }) => ['structured', status, originalRecipient]),
      name,
    );
});

test('a bounce in a bounce is read when the outer one names nobody', () => {
  const outer = `From: x@mx.example\nContent-Type: multipart/mixed; boundary=outer\n\n--outer\n\nSee below.\n--outer\nContent-Type: message/rfc822\n\n${bounces.POSTFIX}\n--outer--\n`;
  assert.deepEqual(noticesOf(outer), noticesOf(bounces.POSTFIX));
  const away = `Auto-Submitted: auto-replied\n${outer}`;
  assert.equal(readReturnedMail(Buffer.from(away)).kind, 'auto-reply', 'a person who is away returns it');
});

test('the recipient that the machine-readable part does not name is the one that failed', () => {
  const status =
    'Final-Recipient: LOCAL;bob\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: X-Local; 550 gone';
  const named = bounces.statusReport(status).replace('Subject:', `X-Failed-Recipients: ${bob}\nSubject:`);
  assert.deepEqual(brief(named), [['structured', 'failed', '5.1.1', bob, '550 gone']]);
});

test('a route before an address and quotes in it are understood', () => {
  const cases = {
    'rfc822;@mx.example:bob@rcpt.example': bob,
    'rfc822; "bob smith"@rcpt.example': '"bob smith"@rcpt.example',
    'rfc822; <"bob"@rcpt.example>': '"bob"@rcpt.example',
  };
  for (const [field, address] of Object.entries(cases)) {
    const [notice] = noticesOf(bounces.statusReport(`Final-Recipient: ${field}\nAction: failed\n`));
    assert.equal(notice?.finalRecipient, address);
  }
});

/** Mail that looks like a bounce and is none. */
const NO_BOUNCES: Record<string, [kind: 'auto-reply' | 'other', message: string]> = {
  'somebody who has left and says so': [
    'auto-reply',
    'From: Bob <bob@rcpt.example>\nTo: b+1@bounce.example\nSubject: Undeliverable: Hi\nAuto-Submitted: auto-replied\n\nYour message to bob@rcpt.example could not be delivered. Write to eve@rcpt.example.\n',
  ],
  'the same with the message': [
    'auto-reply',
    'From: Bob <bob@rcpt.example>\nPrecedence: bulk\nSubject: Mail delivery\nContent-Type: multipart/mixed; boundary=q\n\n--q\n\nbob@rcpt.example: mailbox disabled, mail could not be delivered.\n--q\nContent-Type: message/rfc822\n\nTo: bob@rcpt.example\n\nHi\n--q--\n',
  ],
  'a postmaster who is away': [
    'auto-reply',
    'From: postmaster@rcpt.example\nSubject: Automatic reply: Undelivered mail\n\nThe mailbox is full. bob@rcpt.example\n',
  ],
  'a receipt that the message was deleted': [
    'auto-reply',
    'From: postmaster@rcpt.example\nSubject: Not read: Hi\nContent-Type: multipart/report; report-type=disposition-notification; boundary=q\n\n--q\n\nYour message to bob@rcpt.example was deleted: delivery failed.\n--q\nContent-Type: message/disposition-notification\n\nFinal-Recipient: rfc822;bob@rcpt.example\nDisposition: automatic-action/MDN-sent-automatically; deleted\n--q--\n',
  ],
  'a question whether the sender is a person': [
    'other',
    'From: bob@rcpt.example\nSubject: Re: Hi\n\nYour message to bob@rcpt.example has not been delivered yet. Please click here.\n\nhttps://rcpt.example/1\n',
  ],
  'a person who quotes a bounce': [
    'other',
    'From: Bob <bob@rcpt.example>\nSubject: Re: Hi\n\nWhat does this mean?\n\n> <bob@rcpt.example>: 550 5.1.1 User unknown\n> Final-Recipient: rfc822; bob@rcpt.example\n> Action: failed\n> Status: 5.1.1\n',
  ],
  'a complaint': [
    'other',
    'From: postmaster@rcpt.example\nSubject: Delivery failure\nContent-Type: multipart/report; boundary=q\n\n--q\n\nbob@rcpt.example: was rejected\n--q\nContent-Type: message/feedback-report\n\nFeedback-Type: abuse\n--q--\n',
  ],
};

for (const [name, [kind, message]] of Object.entries(NO_BOUNCES))
  test(`${name}: no bounce`, () => {
    assert.equal(readReturnedMail(Buffer.from(message)).kind, kind);
  });
