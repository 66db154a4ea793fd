/** Bounces in the forms in which servers send them, written for these tests. */

const ORIGINAL = `Content-Type: text/rfc822-headers

Message-ID: <em_x@sender.example>
Subject: Hi
`;

/** Returns a message of `multipart/report` whose machine-readable part is `status`. */
export function statusReport(
  status: string,
  type = 'message/delivery-status',
  text = 'The mail system could not deliver your message.',
): string {
  return `From: MAILER-DAEMON@mx.example
Subject: Undelivered Mail Returned to Sender
Auto-Submitted: auto-replied
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status;
\tboundary="4F2C.1/mx.example"

This is a MIME-encapsulated message.

--4F2C.1/mx.example
Content-Description: Notification
Content-Type: text/plain; charset=us-ascii

${text}

--4F2C.1/mx.example
Content-Type: ${type}

${status}
--4F2C.1/mx.example
${ORIGINAL}
--4F2C.1/mx.example--
`;
}

/** Returns a message of plain text. */
export function textBounce(text: string, header = ''): string {
  return `From: postmaster@mx.example\nSubject: failure notice\n${header}\n${text}`;
}

export const POSTFIX = statusReport(`Reporting-MTA: dns; mx.example
X-Postfix-Queue-ID: 4F2C
X-Postfix-Sender: rfc822; b+1@bounce.example
Arrival-Date: Tue, 24 Nov 2026 15:00:00 +0100 (CET)

Final-Recipient: rfc822; forwarded@other.example
Original-Recipient: rfc822;bob@rcpt.example
Action: failed
Status: 5.1.1
Remote-MTA: dns; mail.other.example
Diagnostic-Code: smtp; 550 5.1.1 <forwarded@other.example>: Recipient address
    rejected: User unknown in virtual mailbox table
`);

export const POSTFIX_DELAY = statusReport(`Reporting-MTA: dns; mx.example

Final-Recipient: rfc822; bob@rcpt.example
Action: delayed
Status: 4.4.1
Diagnostic-Code: X-Postfix; connect to mail.rcpt.example[192.0.2.1]:25: timed out
Will-Retry-Until: Sun, 29 Nov 2026 15:00:00 +0100 (CET)
`);

export const EXIM = statusReport(`Reporting-MTA: dns; exim.example

Action: failed
Final-Recipient: rfc822;bob@rcpt.example
Status: 5.0.0
Remote-MTA: dns; mail.rcpt.example
Diagnostic-Code: smtp; 550-5.1.1 The account does not exist.
 550 5.1.1 Please check the address.
`);

export const SES = statusReport(`Reporting-MTA: dns; a8-1.smtp-out.example
Arrival-Date: Tue, 24 Nov 2026 14:00:00 UTC

Final-Recipient: RFC822; <bob@rcpt.example>
Action: FAILED (permanently)
Status: 5.2.2 (mailbox full)
Diagnostic-Code: smtp; 552 5.2.2 Over quota
Last-Attempt-Date: Tue, 24 Nov 2026 14:00:01 UTC
Original-Recipient: rfc822;bob+2Bnews@rcpt.example

Final-Recipient: rfc822; <eve@rcpt.example>
Action: failed
Status: 5.7.1
Diagnostic-Code: smtp; 554 5.7.1 Message rejected because of spam
`);

export const INTERNATIONAL = statusReport(
  `Reporting-MTA: dns; mx.example

Final-Recipient: utf-8; b\u00f6b@r\u00e7pt.example
Original-Recipient: utf-8; b\\x{F6}b@r\\x{E7}pt.example
Action: failed
Status: 5.1.1
`,
  'message/global-delivery-status',
);

export const QMAIL = textBounce(`Hi. This is the qmail-send program at mx.example.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out.

<bob@rcpt.example>:
192.0.2.1 does not like recipient.
Remote host said: 550 5.1.1 User unknown
Giving up on 192.0.2.1.

<eve@rcpt.example>:
Sorry, no mailbox here by that name. (#5.1.1)

--- Below this line is a copy of the message.

Return-Path: <b+1@bounce.example>
To: <mallory@rcpt.example>
`);

export const EXIM_DELAY = textBounce(
  `This message was created automatically by mail delivery software.
A message that you sent has not yet been delivered to one or more of its
recipients after more than 24 hours on the queue on exim.example.

The address to which the message has not yet been delivered is:

  bob@rcpt.example
    Delay reason: connection timed out

No action is required on your part.
`,
  'Auto-Submitted: auto-generated\n',
);

export const GMAIL_TEXT = textBounce(`Delivery to the following recipient failed permanently:

     bob@rcpt.example

Technical details of permanent failure:
The other server answered: 550 550 5.2.1 The mailbox is disabled (state 14).

----- Original message -----
`);
