/**
 * Writes a message (RFC 5322, RFC 2045) from its parts. The same composition gives the same bytes, so that a resend is
 * recognisable as one. Blind copies are not part of a composition: they live in the envelope alone (RFC 5322 3.6.3).
 */
import { createHash } from 'node:crypto';
import type { Mailbox } from '../address.ts';
import { type EncodedBody, encodeBody } from './body.ts';
import { addressField, formatDate, structuredField, textField } from './headers.ts';

export type Composition = {
  from: Mailbox;
  to: Mailbox[];
  cc: Mailbox[];
  replyTo: Mailbox[];
  subject: string;
  text: string | undefined;
  html: string | undefined;
  /** Without its angle brackets. */
  messageId: string;
  dateMs: number;
  /** Any text; the boundary between the parts is derived from it. */
  boundarySeed: string;
};

/** The id's characters: those of RFC 5322 3.6.4 dot-atom-text on both sides of the `@`. */
const MESSAGE_ID = /^[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~.]+@[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~.]+$/;

const CRLF = Buffer.from('\r\n', 'latin1');

/** The message with CRLF line ends.
 * @throws RangeError when a header field cannot be written without breaking the header */
export function compose(message: Composition): Buffer {
  const { text, html } = message;
  const header = writeHeader(message);
  if (text !== undefined && html !== undefined) {
    return alternative(header, encodeBody(text), encodeBody(html), message.boundarySeed);
  }
  const body = encodeBody(html ?? text ?? '');
  return Buffer.concat([
    ascii(header + partHeader(html === undefined ? 'plain' : 'html', body)),
    body.bytes,
    ascii(body.bytes.subarray(-2).equals(CRLF) ? '' : '\r\n'),
  ]);
}

function writeHeader(message: Composition): string {
  if (!MESSAGE_ID.test(message.messageId)) throw new RangeError('the message id is not one');
  return (
    addressField('From', [message.from]) +
    optionalAddresses('To', message.to) +
    optionalAddresses('Cc', message.cc) +
    optionalAddresses('Reply-To', message.replyTo) +
    textField('Subject', message.subject) +
    structuredField('Date', formatDate(message.dateMs)) +
    structuredField('Message-ID', `<${message.messageId}>`) +
    structuredField('MIME-Version', '1.0')
  );
}

function optionalAddresses(name: string, mailboxes: readonly Mailbox[]): string {
  return mailboxes.length === 0 ? '' : addressField(name, mailboxes);
}

/** The header fields of a text part, with the empty line that ends them. */
function partHeader(subtype: 'plain' | 'html', body: EncodedBody): string {
  return (
    `Content-Type: text/${subtype}; charset=utf-8\r\n` + `Content-Transfer-Encoding: ${body.encoding}\r\n\r\n`
  );
}

/** RFC 2046 5.1.4: the plainest part first. The CRLF before a boundary belongs to the boundary (5.1.1). */
function alternative(header: string, text: EncodedBody, html: EncodedBody, seed: string): Buffer {
  const boundary = chooseBoundary(seed, [text.bytes, html.bytes]);
  return Buffer.concat([
    ascii(
      `${header}Content-Type: multipart/alternative; boundary="${boundary}"\r\n\r\n` +
        `--${boundary}\r\n${partHeader('plain', text)}`,
    ),
    text.bytes,
    ascii(`\r\n--${boundary}\r\n${partHeader('html', html)}`),
    html.bytes,
    ascii(`\r\n--${boundary}--\r\n`),
  ]);
}

/** RFC 2046 5.1.1: a boundary must not appear in what it encloses. `=_` cannot stand in an encoded part; a 7bit one
 * is searched. */
function chooseBoundary(seed: string, bodies: readonly Buffer[]): string {
  for (let round = 0; ; round++) {
    const boundary = `=_${createHash('sha256').update(`${round}:${seed}`).digest('hex').slice(0, 32)}`;
    if (!bodies.some((body) => body.includes(boundary))) return boundary;
  }
}

function ascii(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}
