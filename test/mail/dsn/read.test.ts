import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressReadings } from '../../../src/mail/dsn/address.ts';
import type { Notice } from '../../../src/mail/dsn/notice.ts';
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
      form: 'status',
      action: 'failed',
      status: '5.1.1',
      diagnosticCode:
        '550 5.1.1 <forwarded@other.example>: Recipient address rejected: User unknown in virtual mailbox table',
      finalRecipient: 'forwarded@other.example',
      originalRecipient: bob,
      remoteMta: 'mail.other.example',
      willRetryUntil: null,
    },
  ]);
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
    'Exchange',
    bounces.EXCHANGE,
    [
      [
        '5.1.10',
        'Bob@Rcpt.Example',
        '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup',
      ],
    ],
  ],
  [
    'SES',
    bounces.SES,
    [
      ['5.2.2', bob, '552 5.2.2 Over quota'],
      ['5.7.1', 'eve@rcpt.example', '554 5.7.1 Message rejected because of spam'],
    ],
  ],
  [
    'Gmail',
    bounces.GMAIL,
    [
      [
        '5.1.1',
        bob,
        '550 5.1.1 The email account that you tried to reach does not exist. Please try double-checking the address. https://support.example/ - gsmtp',
      ],
    ],
  ],
  ['Domino', bounces.DOMINO, [['5.1.1', bob, 'User bob (bob@rcpt.example) not listed in Domino Directory']]],
  ['RFC 6533', bounces.INTERNATIONAL, [['5.1.1', 'b\u00f6b@r\u00e7pt.example', null]]],
];

for (const [name, message, expected] of MACHINE_READABLE)
  test(`${name}: the machine-readable part is read`, () => {
    assert.deepEqual(
      brief(message),
      expected.map((one) => ['status', 'failed', ...one]),
    );
  });

const FOR_PEOPLE: [name: string, message: string, expected: unknown[][]][] = [
  [
    'qmail',
    bounces.QMAIL,
    [
      ['qmail', 'failed', '5.1.1', bob, '550 5.1.1 User unknown Giving up on 192.0.2.1.'],
      ['qmail', 'failed', '5.1.1', 'eve@rcpt.example', 'Sorry, no mailbox here by that name. (#5.1.1)'],
    ],
  ],
  [
    'Yahoo',
    bounces.YAHOO,
    [
      [
        ...['yahoo', 'failed', null, bob],
        "554: delivery error: dd This user doesn't have an account [0] - mta1.mail.example",
      ],
    ],
  ],
  [
    'Exim without a machine-readable part',
    bounces.EXIM_TEXT,
    [['exim', 'failed', '5.1.1', bob, '550 5.1.1 <bob@rcpt.example> unknown']],
  ],
  [
    'a delay of Exim',
    bounces.EXIM_DELAY,
    [
      [
        ...['exim', 'delayed', null, bob],
        'Delay reason: connection timed out No action is required on your part.',
      ],
    ],
  ],
  ['old Exchange', bounces.EXCHANGE_TEXT, [['exchange', 'failed', '5.1.1', bob, '550 5.1.1 User unknown>']]],
  [
    'old Gmail',
    bounces.GMAIL_TEXT,
    [['gmail', 'failed', '5.2.1', bob, '550 550 5.2.1 The mailbox is disabled (state 14).']],
  ],
  [
    'old Domino',
    bounces.DOMINO_TEXT,
    [
      [
        ...['domino', 'failed', null, bob],
        'because: User bob (bob@rcpt.example) not listed in Domino Directory',
      ],
    ],
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

test('a report without recipients, addresses or actions says nothing', () => {
  for (const status of [
    'Reporting-MTA: dns; mx.example',
    'Final-Recipient: rfc822; bob@rcpt.example\nStatus: 4.2.2',
    'Final-Recipient: rfc822; bob@rcpt.example\nAction: resent\nStatus: 5.1.1',
  ])
    assert.notEqual(readReturnedMail(Buffer.from(bounces.statusReport(status))).kind, 'bounce', status);
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
