/**
 * One message that servers send to the daemon: a letter for a route, or what the mail of a reader leads to. A letter whose
 * reply was not read is sent again, as servers do, under another Message-ID: each transmission can be told from the others.
 */
import { createHash } from 'node:crypto';
import { signTestMessage, type TestKey } from '../../support/sign-message.ts';
import { SENDER_DOMAIN } from '../world.ts';
import type { Reader } from './readers.ts';

export type LetterKind = 'post' | 'bounce' | 'complaint' | 'unsubscribe';

export type Letter = {
  kind: LetterKind;
  name: string;
  /** The reader whose mail it is about; undefined for a letter to the route. */
  reader: Reader | undefined;
  /** Content of its file; undefined when it has none. */
  file: Buffer | undefined;
  /** Number of transmissions so far. */
  transmissions: number;
  /** Ids that the daemon answered with, by Message-ID without angle brackets. */
  acknowledged: Map<string, string>;
};

/** Domains of the author of the letters, and of the provider that passes complaints on and signs them. */
export const AUTHOR_DOMAIN = 'author.test';
const PROVIDER_DOMAIN = 'provider.test';
export const ROUTE_ADDRESS = `letters@${SENDER_DOMAIN}`;

/** Returns the zone text of the senders. */
export function zoneOfSenders({ record }: TestKey): string {
  return `s1._domainkey.${PROVIDER_DOMAIN} TXT "${record}"`;
}

type Envelope = { from: string; to: string };

/** Returns the envelope of a letter. `complaintsTo` is the address that is registered with the provider. */
export function envelopeOf({ kind, reader }: Letter, complaintsTo: string): Envelope {
  switch (kind) {
    case 'post':
      return { from: `ann@${AUTHOR_DOMAIN}`, to: ROUTE_ADDRESS };
    case 'bounce':
      return { from: '', to: reader?.returnPath ?? '' };
    case 'complaint':
      return { from: `fbl@${PROVIDER_DOMAIN}`, to: complaintsTo };
    case 'unsubscribe':
      return { from: reader?.address ?? '', to: reader?.leaveAddress ?? '' };
  }
}

/** Returns the Message-ID of a transmission, counted from 1, without its angle brackets. */
export function messageIdOf({ name }: Pick<Letter, 'name'>, transmission: number): string {
  return `${name}.${transmission}@${AUTHOR_DOMAIN}`;
}

/** Returns the message of the next transmission, with CRLF line ends. */
export function messageOf(letter: Letter, messageId: string, providerKey: TestKey): string {
  const message = textOf(letter, messageId).replaceAll('\n', '\r\n');
  return letter.kind === 'complaint'
    ? signTestMessage(message, { key: providerKey, domain: PROVIDER_DOMAIN })
    : message;
}

function textOf({ kind, name, reader, file }: Letter, messageId: string): string {
  const top = `Message-ID: <${messageId}>\nTo: x@${SENDER_DOMAIN}\nSubject: ${name}\nMIME-Version: 1.0\n`;
  switch (kind) {
    case 'post':
      return `From: ann@${AUTHOR_DOMAIN}\n${top}${file ? withFile(file) : '\nA letter.\n'}`;
    case 'bounce':
      return `From: MAILER-DAEMON@${AUTHOR_DOMAIN}\n${top}${bounceOf(reader?.address ?? '')}`;
    case 'complaint':
      return `From: fbl@${PROVIDER_DOMAIN}\n${top}${complaintOf(reader?.returnPath ?? '')}`;
    case 'unsubscribe':
      return `From: ${reader?.address}\n${top}\n\n`;
  }
}

function withFile(file: Buffer): string {
  const lines = file.toString('base64').replace(/.{76}/g, '$&\n');
  return multipart('mixed', [
    'Content-Type: text/plain\n\nA letter with a file.',
    `Content-Type: application/octet-stream; name="file.bin"\nContent-Transfer-Encoding: base64\n\n${lines}`,
  ]);
}

/** RFC 3464. */
function bounceOf(address: string): string {
  const recipient = `Final-Recipient: rfc822; ${address}\nAction: failed\nStatus: 5.1.1`;
  return multipart('report; report-type=delivery-status', [
    'Content-Type: text/plain\n\nNobody has this address.',
    `Content-Type: message/delivery-status\n\nReporting-MTA: dns; mx.${AUTHOR_DOMAIN}\n\n${recipient}\n`,
  ]);
}

/** RFC 5965. */
function complaintOf(returnPath: string): string {
  return multipart('report; report-type=feedback-report', [
    'Content-Type: message/feedback-report\n\nFeedback-Type: abuse\nUser-Agent: faults/1\nVersion: 1\n',
    `Content-Type: text/rfc822-headers\n\nReturn-Path: <${returnPath}>\nSubject: News\n`,
  ]);
}

function multipart(type: string, parts: readonly string[]): string {
  const body = parts.map((part) => `--part\n${part}\n`).join('');
  return `Content-Type: multipart/${type}; boundary=part\n\n${body}--part--\n`;
}

/** Returns the SHA-256 of a file in hexadecimal digits. */
export function hashOf(file: Uint8Array): string {
  return createHash('sha256').update(file).digest('hex');
}
