/** The one message every row sends: an email of text and HTML whose JSON is 4 KiB. */

export const SENDER_DOMAIN = 'sender.test';
export const RECIPIENT_DOMAIN = 'recipient.test';
export const SENDER = `bench@${SENDER_DOMAIN}`;
/** The load generator counts in these digits, so that each message has a recipient of its own. */
export const RECIPIENT_DIGITS = '0000000';
export const RECIPIENT = `r${RECIPIENT_DIGITS}@${RECIPIENT_DOMAIN}`;

const JSON_BYTES = 4096;
const BOUNDARY = 'bench-boundary-5f1c';
const SENTENCE = 'Your order has been packed and will leave our warehouse this afternoon.\n';

export type Email = {
  from: string;
  to: string[];
  subject: string;
  text: string;
  html: string;
  type: 'transactional';
};

export function sampleEmail(sender = SENDER): Email {
  const email: Email = {
    from: sender,
    to: [RECIPIENT],
    subject: 'Your order is on its way',
    text: SENTENCE.repeat(24),
    html: `<!doctype html><html><body>\n${`<p>${SENTENCE.trimEnd()}</p>\n`.repeat(24)}</body></html>\n`,
    type: 'transactional',
  };
  const missing = JSON_BYTES - Buffer.byteLength(JSON.stringify(email));
  if (missing < 0) throw new Error('the sample email is larger than it may be');
  return { ...email, text: `${'.'.repeat(missing)}${email.text}` };
}

/** The same email in Internet message format, lines ended by CRLF; without Date and Message-ID. */
export function toMessage(email: Email): string {
  return [
    `From: ${email.from}`,
    `To: ${email.to.join(', ')}`,
    `Subject: ${email.subject}`,
    'MIME-Version: 1.0',
    `Content-Type: multipart/alternative; boundary="${BOUNDARY}"`,
    '',
    `--${BOUNDARY}`,
    'Content-Type: text/plain; charset=utf-8',
    '',
    crlf(email.text),
    `--${BOUNDARY}`,
    'Content-Type: text/html; charset=utf-8',
    '',
    crlf(email.html),
    `--${BOUNDARY}--`,
    '',
  ].join('\r\n');
}

function crlf(text: string): string {
  return text.replaceAll('\n', '\r\n');
}
