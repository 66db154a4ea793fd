/** The texts of the demo. Colours appear only on a terminal (styleText checks standard output and NO_COLOR). */
import { styleText } from 'node:util';
import { type Environment, NAMES } from './environment.ts';
import type { ReceivedMail } from './receiver.ts';
import type { Verdicts } from './verdicts.ts';
import type { ReceivedEvent, RoutePost } from './webhook-receiver.ts';

const LABEL_CHARACTERS = 17;
/** Headers that are shown, in this order. */
const HEADERS = ['From', 'To', 'Subject', 'Message-ID', 'DKIM-Signature'];
const MAX_HEADER_CHARACTERS = 88;

const line = (label: string, text: string) => `  ${label.padEnd(LABEL_CHARACTERS)}${text}`;
const title = (text: string) => `\n${styleText('bold', text)}`;

/** Returns the introduction, which lists the parts of the demo. */
export function introduction({ daemon, receiver, webhooks, certificate }: Environment): string {
  const tls = certificate ? 'offers STARTTLS' : 'no STARTTLS: openssl was not found';
  return [
    styleText('bold', 'Postrider demo: everything runs on 127.0.0.1, and nothing leaves this machine'),
    line('daemon', `${daemon.address}, and ${daemon.smtpAddress} for mail`),
    line('mail server', `127.0.0.1:${receiver.port} for ${NAMES.receiver} (${tls})`),
    line('webhooks', webhooks.url),
  ].join('\n');
}

/** Returns the line about the domain. */
export function domainLine(found: { name: string; status: string; records: readonly unknown[] }): string {
  return line(
    'domain',
    `${found.name}: ${found.records.length} DNS records published, ${verdict(found.status)}`,
  );
}

/** Returns the lines about the email that was sent. */
export function emailLines(id: string, from: string, to: string): string {
  return [
    line('email', `${from} -> ${to}`),
    line('', id),
    title('Events that the webhook endpoint received'),
  ].join('\n');
}

/** Returns the line about one webhook post. */
export function eventLine({ type, signatureValid }: ReceivedEvent): string {
  return line(type, `signature ${verdict(signatureValid ? 'valid' : 'INVALID')}`);
}

/** Returns the lines about the received message, its verdicts and the last webhook post. */
export function summary(findings: { mail: ReceivedMail; verdicts: Verdicts; event: ReceivedEvent }): string {
  const { mail, verdicts, event } = findings;
  return [
    title(`What ${NAMES.receiver} received (${mail.tlsVersion ?? 'without TLS'})`),
    line('MAIL FROM', mail.mailFrom),
    ...HEADERS.flatMap((name) => readHeader(mail.raw, name)),
    line('verdict', formatVerdicts(verdicts)),
    title('The last webhook post'),
    line('signature', event.signature),
    line('body', event.body),
  ].join('\n');
}

/** Returns the lines about the answer of the reader. */
export function replyLines(from: string, to: string): string {
  return [
    title('The reader answers, and an inbound route posts the mail'),
    line('mail', `${from} -> ${to}`),
  ].join('\n');
}

/** Returns the lines about what the route got. */
export function postLines({ auth, subject, replyText, emailId, signatureValid }: RoutePost): string {
  return [
    line('verdict', `SPF ${verdict(auth.spf)}, DMARC ${verdict(auth.dmarc)}`),
    line('subject', subject),
    line('replyText', replyText),
    line('emailId', `${emailId ?? 'none'}, which it answers`),
    line('post', `signature ${verdict(signatureValid ? 'valid' : 'INVALID')}`),
  ].join('\n');
}

/** Returns the lines about an email that comes back. */
export function bounceLines(id: string, from: string, to: string): string {
  return [
    title('An email to a mailbox that does not exist is accepted, and returned later'),
    line('email', `${from} -> ${to}`),
    line('', id),
  ].join('\n');
}

/** Returns the line about the end of the demo. */
export function result(failed: readonly string[]): string {
  return failed.length === 0
    ? `\n${styleText('green', 'Every step succeeded.')}`
    : `\n${styleText('red', `These checks failed: ${failed.join(', ')}`)}`;
}

/** Returns the command with which the reader can send another email. */
export function nextStep(curl: string): string {
  return `${title(`Send another email to any address at ${NAMES.receiver} (Ctrl-C ends the demo)`)}\n${curl}\n`;
}

/** Returns the line about another email that arrived. */
export function receivedLine(mail: ReceivedMail, verdicts: Verdicts): string {
  return line('received', `${mail.recipients.join(', ')}: ${formatVerdicts(verdicts)}`);
}

function formatVerdicts({ spf, dkim, dmarc }: Verdicts): string {
  return `SPF ${verdict(spf)}, DKIM ${verdict(dkim)}, DMARC ${verdict(dmarc)}`;
}

function verdict(text: string): string {
  return styleText(['pass', 'valid', 'verified'].includes(text) ? 'green' : 'red', text);
}

/** Returns the line of one header field, unfolded (RFC 5322 section 2.2.3) and cut to a maximum length. */
function readHeader(raw: Buffer, name: string): string[] {
  const [head = ''] = raw.toString('latin1').split('\r\n\r\n', 1);
  const value = new RegExp(`^${name}:[ \\t]*(.*)$`, 'im').exec(head.replace(/\r\n[ \t]+/g, ' '))?.[1];
  if (value === undefined) return [];
  const shown = value.length > MAX_HEADER_CHARACTERS ? `${value.slice(0, MAX_HEADER_CHARACTERS)}…` : value;
  return [line(name, shown.trim())];
}
