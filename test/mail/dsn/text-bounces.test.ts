/** Bounces for people in the forms of mail servers, written for these tests. Each fails for `bob@rcpt.example`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readReturnedMail } from '../../../src/mail/dsn/read.ts';

/** The header of the message that is returned. */
const COPY = `Return-Path: <b+1@bounce.example>
Received: from mx.sender.example by mx.example; Tue, 24 Nov 2026 15:00:00 +0100
Message-ID: <em_x@sender.example>
From: Ada <ada@sender.example>
To: Bob <bob@rcpt.example>
Subject: Hi

Hello
`;

type Mail = {
  from?: string;
  subject?: string;
  header?: string;
  parts: readonly string[];
  copy?: string | null;
};

/** Returns a message of several parts. The returned message is the last part, unless `copy` is null. */
function mail({
  from = 'postmaster@mx.example',
  subject = 'Undeliverable mail',
  header = '',
  ...rest
}: Mail): string {
  const { parts, copy = `Content-Type: message/rfc822\n\n${COPY}` } = rest;
  const all = copy === null ? parts : [...parts, copy];
  return `Return-Path: <>
From: ${from}
To: b+1@bounce.example
Subject: ${subject}
${header}Content-Type: multipart/mixed; boundary="=_q"

${all.map((part) => `--=_q\n${part}\n`).join('')}--=_q--
`;
}

const text = (body: string) => `Content-Type: text/plain\n\n${body}`;

/** Returns a message of text, which returns the message in its text. */
function plain(
  body: string,
  { from = 'MAILER-DAEMON@mx.example', subject = 'failure notice', header = '' } = {},
): string {
  return `From: ${from}\nTo: b+1@bounce.example\nSubject: ${subject}\n${header}\n${body}`;
}

type Expected = {
  diagnostic: RegExp;
  status?: string;
  recipients?: readonly (string | null)[];
  action?: string;
};

const TEXT_BOUNCES: Record<string, [message: string, expected: Expected]> = {
  'Amazon WorkMail, with the fields of a report in quoted-printable text': [
    mail({
      from: 'MAILER-DAEMON@us-west-2.mailer.example',
      parts: [
        'Content-Type: text/plain\nContent-Transfer-Encoding: quoted-printable\n\nAn error occurred for the following recip=\nients:\nbob@rcpt.example\n\nTechnical report:\n\nReporting-MTA: d=\nns; mx.example\n\nAction: failed\nFinal-Reci=\npient: rfc822; bob@rcpt.example\nDiagnostic-Code: smtp; 550 5.1.1=\n <bob@rcpt.example>... User Unknown\nStatus: 5.1.1\n',
      ],
    }),
    { diagnostic: /^550 5\.1\.1 <bob@rcpt/, status: '5.1.1' },
  ],
  'Apache James': [
    mail({
      from: 'post_master@mx.example',
      subject: 'Re:Hi',
      parts: [
        text(
          'Error: Invalid user address\n\nError message below:\n550 - Requested action not taken: no such user here\n\nMessage details:\n  Subject: Hi\n  MAIL FROM: b+1@bounce.example\n  RCPT TO: bob@rcpt.example\n  From: ada@sender.example\n',
        ),
      ],
      copy: null,
    }),
    { diagnostic: /^550 - Requested action not taken/ },
  ],
  'EZweb, in Japanese': [
    mail({
      from: 'Postmaster@mx.example',
      subject: 'Mail System Error - Returned Mail',
      parts: [
        `Content-Type: text/plain; charset="ISO-2022-JP"\n\n\u001b$B<!$N$"$F@h$X\u001b(B\n\nEach of the following recipients was rejected by a remote\nmail server.\n\n    Recipient: <bob@rcpt.example>\n    >>> RCPT TO:<bob@rcpt.example>\n    <<< 550 <bob@rcpt.example>: User unknown\n`,
      ],
      copy: null,
    }),
    { diagnostic: /^550 <bob@rcpt\.example>: User unknown/ },
  ],
  'Google, with a report that has nothing in it': [
    mail({
      from: 'Mail Delivery Subsystem <mailer-daemon@mx.example>',
      subject: 'Delivery Status Notification (Failure)',
      header: 'Auto-Submitted: auto-replied\nX-Failed-Recipients: bob@rcpt.example\n',
      parts: [
        'Content-Type: multipart/alternative; boundary=in\n\n--in\nContent-Type: text/plain\n\n** Message not delivered **\n\nYour settings are out of date.\n\nThe response was:\n\nUnspecified Error (SENT_SECOND_EHLO): no AUTH capability\n\n--in\nContent-Type: text/html\n\n<p>Message not delivered</p>\n--in--',
        'Content-Type: message/delivery-status\n\n',
      ],
    }),
    { diagnostic: /Message not delivered/ },
  ],
  IMailServer: [
    plain(
      'Unknown user: bob@rcpt.example\n\n\nOriginal message follows.\n\nReceived: from mx.example [192.0.2.1]\nFrom: Ada <ada@sender.example>\nTo: bob@rcpt.example\n',
      {
        from: '"Postmaster" <postmaster@mx.example>',
        subject: 'Undeliverable Mail',
      },
    ),
    { diagnostic: /^Unknown user: bob@rcpt\.example$/ },
  ],
  'KDDI, from an address of no daemon': [
    mail({
      from: 'no-reply@mx.example',
      subject: 'Mail',
      parts: [
        text(
          'Your mail sent on: Tue, 24 Nov 2026 15:00:00 +0900\n     Could not be delivered to: <bob@rcpt.example>\n     As their mailbox is full.\n',
        ),
      ],
    }),
    { diagnostic: /mailbox is full/ },
  ],
  'Notes, in another language and with the address alone': [
    plain(
      '------- Failure Reasons  --------\n\n\u30c7\u30a3\u30ec\u30af\u30c8\u30ea\nbob@rcpt.example\n\n------- Returned Message --------\nReceived: from mx.example\nTo: team@rcpt.example\n',
      {
        from: 'postmaster@mx.example',
        subject: 'Undeliverable message',
      },
    ),
    { diagnostic: /./ },
  ],
  'OpenSMTPD, about two recipients': [
    plain(
      '    Hi!\n\n    This is the MAILER-DAEMON, please DO NOT REPLY to this e-mail.\n\n    An error has occurred while attempting to deliver a message for\n    the following list of recipients:\n\nbob@rcpt.example: 550 5.2.2 <bob@rcpt.example>... Mailbox Full\neve@rcpt.example: 550 5.1.1 <eve@rcpt.example>... User Unknown\n\n    Below is a copy of the original message:\n\nReceived: from [127.0.0.1]\nFrom: ada@sender.example\n',
      { from: 'Mailer Daemon <MAILER-DAEMON@mx.example>', subject: 'Delivery status notification: error' },
    ),
    {
      diagnostic: /^550 5\.2\.2 <bob@rcpt\.example>\.\.\. Mailbox Full$/,
      status: '5.2.2',
      recipients: ['bob@rcpt.example', 'eve@rcpt.example'],
    },
  ],
  'Sendmail 5': [
    plain(
      '   ----- Transcript of session follows -----\n550 rcpt.example (smtp)... 550 Host unknown\n554 <bob@rcpt.example>... 550 Host unknown (Authoritative answer from name server)\n\n   ----- Unsent message follows -----\nReceived: by mx.example\nFrom: ada@sender.example\nTo: bob@rcpt.example\n',
      { subject: 'Returned mail: Host unknown' },
    ),
    { diagnostic: /^554 <bob@rcpt\.example>\.\.\. 550 Host unknown/ },
  ],
  'a local name alone: the message that is returned names the recipient': [
    mail({
      from: 'MAILER-DAEMON@mx.example',
      parts: [text('The user bob.rcpt.example could not be found. Your message was not delivered.\n')],
    }),
    { diagnostic: /was not delivered|could not be found/ },
  ],
  'Exchange 2007, marked as an automatic reply': [
    mail({
      from: 'Microsoft Exchange <MicrosoftExchange329e71ec88ae4615bbc36ab6ce41109e@mx.example>',
      subject: 'Undeliverable: Hi',
      header: 'Auto-Submitted: auto-replied\n',
      parts: [
        text(
          'Delivery has failed to these recipients or distribution lists:\n\nBob\nThe address was not found.\n\nDiagnostic information for administrators:\n\nGenerating server: mx.example\n\nbob@rcpt.example\n#550 5.1.1 RESOLVER.ADR.RecipNotFound; not found ##\n\nOriginal message headers:\n\nReceived: from mx.sender.example\nTo: Bob <bob@rcpt.example>\n',
        ),
      ],
      copy: null,
    }),
    { diagnostic: /^550 5\.1\.1 RESOLVER\.ADR\.RecipNotFound/, status: '5.1.1' },
  ],
  'HTML alone': [
    mail({
      from: 'postmaster@mx.example',
      parts: [
        'Content-Type: text/html\n\n<p>Your message could not be delivered to:</p><p><a href="mailto:bob@rcpt.example">bob@rcpt.example</a></p><p>550 5.1.1 No such user</p>',
      ],
      copy: null,
    }),
    { diagnostic: /^550 5\.1\.1 No such user/, status: '5.1.1' },
  ],
  'IMail, which calls the address a userid': [
    plain('Invalid final delivery userid: bob@rcpt.example\n\nOriginal message follows.\n', {
      from: '"Postmaster" <postmaster@mx.example>',
      subject: 'Undeliverable Mail',
    }),
    { diagnostic: /Invalid final delivery userid/ },
  ],
  'Exim, with an address that it does not disclose': [
    plain(
      'A message that you sent could not be delivered. This is a permanent error. The following address(es) failed:\n\n  an undisclosed address\n    (generated from bob@rcpt.example)\n\n------ This is a copy of the message, including all the headers. ------\n\nTo: list@sender.example\n',
      { subject: 'Mail delivery failed: returning message to sender' },
    ),
    { diagnostic: /./ },
  ],
  'words that say that nothing was delivered, which are no delay': [
    plain(
      'Your message to bob@rcpt.example has NOT been delivered: this address is wrong.\n\nPlease look for the right one after reading our web site.\n',
      { subject: 'Your message could not be delivered' },
    ),
    { diagnostic: /this address is wrong/ },
  ],
  'a refusal of a Sieve script of Dovecot': [
    `From: Mail Delivery Subsystem <postmaster@mx.example>
To: b+1@bounce.example
Subject: Automatically rejected mail
Auto-Submitted: auto-replied (rejected)
Content-Type: multipart/report; report-type=disposition-notification; boundary="=_q"

--=_q
${text('Your message to <bob@rcpt.example> was automatically rejected:\nNo, thank you\n')}
--=_q
Content-Type: message/disposition-notification

Final-Recipient: rfc822; bob@rcpt.example
Disposition: automatic-action/MDN-sent-automatically; deleted

--=_q
Content-Type: message/rfc822

${COPY}
--=_q--
`,
    { diagnostic: /automatically rejected/ },
  ],
  'no address at all': [
    plain('Your message could not be delivered.\n', { subject: 'Mail delivery failed' }),
    { diagnostic: /could not be delivered/, recipients: [null] },
  ],
  'a warning of Sendmail': [
    plain(
      '    **********************************************\n    **      THIS IS A WARNING MESSAGE ONLY      **\n    **  YOU DO NOT NEED TO RESEND YOUR MESSAGE  **\n    **********************************************\n\n   ----- The following addresses had transient non-fatal errors -----\n<bob@rcpt.example>\n\n   ----- Transcript of session follows -----\n<bob@rcpt.example>... Deferred: Connection timed out with rcpt.example.\nWarning: message still undelivered after 4 hours\nWill keep trying until message is 5 days old\n',
      { subject: 'Warning: could not send message for past 4 hours' },
    ),
    { diagnostic: /Deferred: Connection timed out/, action: 'delayed' },
  ],
};

for (const [name, [message, expected]] of Object.entries(TEXT_BOUNCES))
  test(`${name}: the recipient and the reason are read`, () => {
    const read = readReturnedMail(Buffer.from(message));
    assert.equal(read.kind, 'bounce');
    if (read.kind !== 'bounce') return;
    const { recipients = ['bob@rcpt.example'], diagnostic, action = 'failed', status = null } = expected;
    const finalRecipients = read.notices.map(({ finalRecipient }) => finalRecipient);
    assert.deepEqual(finalRecipients, recipients);
    const [first] = read.notices;
    assert.deepEqual([first?.form, first?.action, first?.status], ['text', action, status]);
    assert.match(first?.diagnosticCode ?? '', diagnostic);
  });
