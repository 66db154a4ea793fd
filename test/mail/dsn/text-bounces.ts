/** Bounces for people in the forms of many mail servers, written for these tests. Each fails for `bob@rcpt.example`. */

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

export const TEXT_BOUNCES: Record<string, [message: string, expected: Expected]> = {
  'Active!hunter': [
    mail({
      from: '"MAILER-DAEMON" <MAILER-DAEMON@mx.example>',
      subject: 'FAILURE NOTICE : Hi',
      parts: [
        text(
          '  ----- The following addresses had permanent fatal errors -----\n\n>>> bob@rcpt.example <bob@rcpt.example>\n\n  ----- Transcript of session follows -----\n550 sorry, no mailbox here by that name (#5.1.1 - chkusr)\n',
        ),
      ],
    }),
    { diagnostic: /^550 sorry, no mailbox/, status: '5.1.1' },
  ],
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
  BIGLOBE: [
    mail({
      subject: 'Returned mail: Service unavailable',
      parts: [
        text(
          "   ----- The following addresses had delivery problems -----\nbob@rcpt.example\n\n   ----- Non-delivered information -----\nThe number of messages in recipient's mailbox exceeded the local limit.\n",
        ),
      ],
    }),
    { diagnostic: /./ },
  ],
  Domino: [
    plain(
      'Your message\n\n  Subject: Hi\n\nwas not delivered to:\n\n  bob@rcpt.example\n\nbecause:\n\n  User bob (bob@rcpt.example) not listed in Domino Directory\n',
      { from: 'Postmaster@mx.example', subject: 'DELIVERY FAILURE: User bob (bob@rcpt.example) not listed' },
    ),
    { diagnostic: /User bob \(bob@rcpt\.example\) not listed in Domino Directory/ },
  ],
  'DragonFly Mail Agent, without an address of its own': [
    plain(
      'This is the DragonFly Mail Agent v0.13 at mx.example.\n\nThere was an error delivering your mail to <bob@rcpt.example>.\n\nmx.rcpt.example [192.0.2.1] did not like our final DATA:\n550-5.7.26 Unauthenticated mail is not\n\n550 5.7.26 accepted\n\nMessage headers follow.\n\nReceived: from root (uid 0)\nTo: <bob@rcpt.example>\n',
      { from: 'MAILER-DAEMON <>', subject: 'Mail delivery failed' },
    ),
    { diagnostic: /^550 5\.7\.26/, status: '5.7.26' },
  ],
  'Exchange 5.5': [
    mail({
      from: 'System Administrator <postmaster@mx.example>',
      subject: 'Undeliverable: Hi',
      header: 'Precedence: bulk\n',
      parts: [
        text(
          'Your message\n\n  To:      team@rcpt.example\n  Subject: Hi\n  Sent:    Tue, 24 Nov 2026 15:00:00 +0100\n\ndid not reach the following recipient(s):\n\nbob@rcpt.example on Tue, 24 Nov 2026 15:01:00 +0100\n    The recipient name is not recognized\n\tThe MTS-ID of the original message is: c=us;a= ;p=rcpt\n    MSEXCH:IMS:rcpt:SITE:MX 0 (000C05A6) Unknown Recipient\n',
        ),
      ],
    }),
    { diagnostic: /The recipient name is not recognized/ },
  ],
  'Exim, after an alias': [
    plain(
      'This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error. The following address(es) failed:\n\n  bob@rcpt.example\n    (generated from info@rcpt.example)\n    SMTP error from remote mail server after RCPT TO:<bob@rcpt.example>:\n    host mx.rcpt.example [192.0.2.1]: 554 5.7.1 <bob@rcpt.example>:\n    Recipient address rejected: Access denied\n\n------ This is a copy of the message, including all the headers. ------\n\nReturn-path: <b+1@bounce.example>\nTo: info@rcpt.example\n',
      { header: 'Auto-Submitted: auto-replied\nX-Failed-Recipients: bob@rcpt.example\n' },
    ),
    { diagnostic: /^554 5\.7\.1 <bob@rcpt\.example>: Recipient address rejected/, status: '5.7.1' },
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
  GMX: [
    plain(
      'This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of\nits recipients. This is a permanent error. The following address\nfailed:\n\n"bob@rcpt.example":\nSMTP error from remote server after RCPT command:\nhost: mx.rcpt.example\n5.1.1 <bob@rcpt.example>... User Unknown\n\n\n--- The header of the original message is following. ---\n\nReceived: from [192.0.2.1] by mx.example\nTo: bob@rcpt.example\n',
      { subject: 'Mail delivery failed: returning message to sender' },
    ),
    { diagnostic: /User Unknown/, status: '5.1.1' },
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
  InterScan: [
    mail({
      from: '"InterScan MSS" <postmaster@mx.example>',
      subject: '=?ISO-2022-JP?B?GyRCJWEhPCVrGyhC?=',
      parts: [
        text(
          '...\n\nSent <<< RCPT TO:<bob@rcpt.example>\nReceived >>> 550 5.1.1 <bob@rcpt.example>... user unknown\n',
        ),
      ],
    }),
    { diagnostic: /^550 5\.1\.1 <bob@rcpt\.example>\.\.\. user unknown/, status: '5.1.1' },
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
  MailFoundry: [
    mail({
      subject: 'Message delivery has failed',
      parts: [
        text(
          'Unable to deliver message to: <bob@rcpt.example>\nDelivery failed for the following reason:\nServer mx.rcpt.example[192.0.2.1] failed with: 550 <bob@rcpt.example> No such user here\n',
        ),
      ],
    }),
    { diagnostic: /^550 <bob@rcpt\.example> No such user here/ },
  ],
  MailMarshal: [
    mail({
      subject: 'Undeliverable Mail: "Hi"',
      parts: [
        text(
          'Your message:\n   From:    ada@sender.example\n   Subject: Hi\n\nCould not be delivered because of\n\n550 5.1.1 User unknown\n\nThe following recipients were affected:\n    bob@rcpt.example\n\nAdditional Information\n======================\nOriginal Sender:    <ada@sender.example>\nReporting-MTA:      <mx.example>\n',
        ),
      ],
      copy: null,
    }),
    { diagnostic: /^550 5\.1\.1 User unknown/, status: '5.1.1' },
  ],
  'm-FILTER': [
    plain(
      'The mail could not be sent.\nbob@rcpt.example\n\n\n-------server message\n550 unknown user <bob@rcpt.example>\n\n-------SMTP command\nDATA\n\n-------original message\nReceived: from 192.0.2.1 by m-FILTER\nTo: bob@rcpt.example\n',
      {
        from: 'POSTMASTER <postmaster@mx.example>',
      },
    ),
    { diagnostic: /^550 unknown user/ },
  ],
  'MX Logic': [
    plain(
      'A message that you have sent could not be delivered to one or more\nrecipients.  The following address failed:\n\n  <bob@rcpt.example>: 550 5.1.1 <bob@rcpt.example>: User unknown in relay recipient table\n\n\nIncluded is a copy of the message header:\n-----------------------------------------\nReceived: from unknown [192.0.2.1]\nTo: Bob <bob@rcpt.example>\n',
    ),
    { diagnostic: /^550 5\.1\.1 <bob@rcpt\.example>: User unknown in relay/, status: '5.1.1' },
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
  'Postfix, as text alone': [
    plain(
      "This is the mail system at host mx.example.\n\nI'm sorry to have to inform you that your message could not\nbe delivered to one or more recipients. It's attached below.\n\nFor further assistance, please send mail to postmaster.\n\n                   The mail system\n\n<bob@rcpt.example> (expanded from\n    <info@rcpt.example>): host mx.rcpt.example[192.0.2.1] said: 550 5.1.1\n    <bob@rcpt.example>: User unknown (in reply to RCPT TO command)\n",
      { subject: 'Undelivered Mail Returned to Sender' },
    ),
    { diagnostic: /^550 5\.1\.1 <bob@rcpt\.example>: User unknown/, status: '5.1.1' },
  ],
  'Sendmail 5': [
    plain(
      '   ----- Transcript of session follows -----\n550 rcpt.example (smtp)... 550 Host unknown\n554 <bob@rcpt.example>... 550 Host unknown (Authoritative answer from name server)\n\n   ----- Unsent message follows -----\nReceived: by mx.example\nFrom: ada@sender.example\nTo: bob@rcpt.example\n',
      { subject: 'Returned mail: Host unknown' },
    ),
    { diagnostic: /^554 <bob@rcpt\.example>\.\.\. 550 Host unknown/ },
  ],
  'Sendmail 8, as text alone': [
    plain(
      'The original message was received at Tue, 24 Nov 2026 15:00:00 +0100\nfrom sender.example\n\n   ----- The following addresses had permanent fatal errors -----\n<bob@rcpt.example>\n    (reason: 550 5.1.1 <bob@rcpt.example>... User unknown)\n\n   ----- Transcript of session follows -----\n... while talking to mx.rcpt.example.:\n>>> RCPT To:<bob@rcpt.example>\n<<< 550 5.1.1 <bob@rcpt.example>... User unknown\n550 5.1.1 <bob@rcpt.example>... User unknown\n',
      { subject: 'Returned mail: see transcript for details' },
    ),
    { diagnostic: /^550 5\.1\.1 <bob@rcpt\.example>\.\.\. User unknown/, status: '5.1.1' },
  ],
  Yahoo: [
    plain(
      "Message from rcpt.example.\nUnable to deliver message to the following address(es).\n\n<bob@rcpt.example>:\nThis user doesn't have a rcpt.example account (bob@rcpt.example) [0]\n\n--- Original message follows.\n\nX-Originating-IP: [192.0.2.3]\nReturn-Path: <b+1@bounce.example>\nTo: bob@rcpt.example\n",
      { subject: 'Delivery failure' },
    ),
    { diagnostic: /^This user doesn't have a rcpt\.example account/ },
  ],
  'a list of recipients with marks, of an unknown server': [
    mail({
      from: 'Mail Delivery System <Mail.Delivery.System@mx.example>',
      subject: 'Delivery status notification',
      parts: [
        text(
          '============\nDelivery to the following recipients failed permanently:\n\n   * bob@rcpt.example\n\n\n============\n   Technical details:\n\nSMTP:RCPT host 192.0.2.8: 553 5.3.0 <bob@rcpt.example>... No such user here\n',
        ),
      ],
    }),
    { diagnostic: /^553 5\.3\.0 <bob@rcpt\.example>\.\.\. No such user here/, status: '5.3.0' },
  ],
  'an address with the reason in brackets, and a copy without a header of its part': [
    mail({
      from: '"Mail Deliver System" <MAILER-DAEMON@mx.example>',
      subject: 'Returned Mail: User unknown',
      parts: [
        text(
          'The original message was received at Tue, 24 Nov 2026\nfrom b+1@bounce.example\n\n---The following addresses had delivery errors---\n\nbob@rcpt.example [User unknown]\n',
        ),
      ],
      copy: COPY,
    }),
    { diagnostic: /User unknown/ },
  ],
  Zoho: [
    mail({
      from: 'mailer-daemon@mx.example',
      subject: 'Undelivered Mail Returned to Sender',
      parts: [
        text(
          'This message was created automatically by mail delivery software.\nA message that you sent could not be delivered to one or more of its recipients. This is a permanent error.\n\nbob@rcpt.example Invalid Address, ERROR_CODE :550, ERROR_CODE :5.1.1 <bob@rcpt.example>... User Unknown\n\n\nReceived:from mx.example by mx.sender.example\nTo:<bob@rcpt.example>\n',
        ),
      ],
      copy: null,
    }),
    { diagnostic: /Invalid Address, ERROR_CODE/, status: '5.1.1' },
  ],
  'a local name alone: the message that is returned names the recipient': [
    mail({
      from: 'MAILER-DAEMON@mx.example',
      parts: [text('The user bob.rcpt.example could not be found. Your message was not delivered.\n')],
    }),
    { diagnostic: /was not delivered|could not be found/ },
  ],
  'a sentence with the reply in square brackets': [
    plain(
      'We had trouble delivering your message. Full details follow:\n\nSubject: Hi\n\n1 error(s):\n\nSMTP Server <mx.rcpt.example> rejected recipient <bob@rcpt.example> (Error following RCPT command). It responded as follows: [550 5.1.1 <bob@rcpt.example>... User Unknown]\n',
      { subject: 'There was an error sending your mail' },
    ),
    { diagnostic: /^550 5\.1\.1 <bob@rcpt\.example>\.\.\. User Unknown/, status: '5.1.1' },
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
  'MailEnable, with the type of the address': [
    plain(
      'MailEnable: Message could not be delivered to some recipients.\nThe following recipient(s) could not be reached:\n\n\tRecipient: [SMTP:bob@rcpt.example]\n\tReason: Remote SMTP Server Returned: 550 No mailbox\n\n\nMessage headers follow:\n',
      { from: '"Delivery Subsystem" <POSTMASTER@mx.example>', subject: 'Message Delivery Failure' },
    ),
    { diagnostic: /^550 No mailbox/ },
  ],
  'LSMTP, with the fields of Listserv': [
    plain(
      'An error was detected while processing the message.\n\n--> Error description:\nError-for:  bob@rcpt.example\nError-Code: 0\nError-Text: Mailer mx.rcpt.example said:\n            "554 The message goes in circles"\n\nError-End:  One error reported.\n',
      { from: 'postmaster@mx.example', subject: 'Undelivered mail' },
    ),
    { diagnostic: /^554 The message goes in circles/ },
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
