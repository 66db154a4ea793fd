/** Sends mail to the daemon over SMTP and STARTTLS, as the servers of its readers do. */

import { openSmtp } from '../../mail/smtp/client/open.ts';
import { DEFAULT_SMTP_TIMEOUTS } from '../../mail/smtp/client/timeouts.ts';
import type { Daemon } from '../../main.ts';
import { NAMES } from './environment.ts';

type Mail = {
  /** Sender of the envelope; empty for a bounce. */
  from: string;
  to: string;
  /** The message, with LF line ends. */
  text: string;
};

/**
 * Sends a message to the daemon.
 * @throws Error when the daemon does not take it
 */
export async function sendToDaemon({ app, smtpAddress }: Daemon, { from, to, text }: Mail): Promise<void> {
  const [address = '', port] = smtpAddress.split(':');
  const opened = await openSmtp(app, {
    address,
    port: Number(port),
    serverName: NAMES.hostname,
    heloName: NAMES.receiverHost,
    tls: 'opportunistic',
    timeouts: DEFAULT_SMTP_TIMEOUTS,
  });
  if (!opened.ok) throw new Error(`the daemon takes no mail: ${JSON.stringify(opened.failure)}`);
  const inline = Buffer.from(text.replaceAll('\n', '\r\n'));
  const message = { sizeBytes: inline.length, isEightBit: false, inline, chunks: emptyContent };
  const envelope = { mailFrom: from, recipients: [to], prefix: Buffer.alloc(0), message };
  const { recipients } = await opened.session.transact(envelope).result;
  await opened.session.quit();
  const [result] = recipients;
  if (result?.kind !== 'accepted') throw new Error(`the daemon refused the mail: ${JSON.stringify(result)}`);
}

async function* emptyContent(): AsyncGenerator<Uint8Array> {}

/** Returns the answer of a reader to an email. */
export function replyTo({ messageId, from, to }: { messageId: string; from: string; to: string }): string {
  return `From: You <${from}>
To: Shop <${to}>
Subject: Re: Your order is on its way
Message-ID: <reply@${NAMES.receiver}>
In-Reply-To: ${messageId}

When does it arrive?

On Tuesday, Shop wrote:
> It left the house today.
`;
}

/** Returns the bounce of a server that had accepted the email before it found out that the mailbox does not exist (RFC 3464). */
export function bounceOf(recipient: string): string {
  return `From: MAILER-DAEMON@${NAMES.receiverHost}
Subject: Undelivered Mail Returned to Sender
Auto-Submitted: auto-replied
Content-Type: multipart/report; report-type=delivery-status; boundary=part

--part

The mailbox does not exist.

--part
Content-Type: message/delivery-status

Reporting-MTA: dns; ${NAMES.receiverHost}

Final-Recipient: rfc822; ${recipient}
Action: failed
Status: 5.1.1
Diagnostic-Code: smtp; 550 5.1.1 no such mailbox

--part--
`;
}
