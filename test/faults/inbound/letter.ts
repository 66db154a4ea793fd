/**
 * One message that servers send to the daemon: a letter for a route, a mailbox or the postmaster, one of which cannot be forwarded and comes
 * back to its sender, one whose sender asks for a report of the delivery, a report about a domain, or what the mail of a reader leads to. A letter whose reply was not read is sent again, as servers do, under another Message-ID: each
 * transmission can be told from the others.
 */
import { createHash } from 'node:crypto';
import { DMARC_XML } from '../../mail/reports/fixtures.ts';
import { signTestMessage, type TestKey } from '../../support/sign-message.ts';
import type { Sent } from '../smtp-clients.ts';
import { HOSTNAME, RECIPIENT_DOMAIN, SENDER_DOMAIN } from '../world.ts';
import { MAILBOX_ADDRESS } from './mailbox.ts';
import type { Reader } from './readers.ts';

/** What a reader's mail leads to. */
export const ANSWERS = ['bounce', 'complaint', 'unsubscribe'] as const;
export type LetterKind =
  | (typeof ANSWERS)[number]
  | 'post'
  | 'mailbox'
  | 'notified'
  | 'forward'
  | 'returned'
  | 'report';

/** The names of its transmissions are their Message-IDs without angle brackets. */
export type Letter = Sent & {
  kind: LetterKind;
  /** Its place among all letters, from 1. */
  number: number;
  /** The reader whose mail it is about; undefined for a letter that answers nobody. */
  reader: Reader | undefined;
  hasFile: boolean;
};

/** Domains of the author of the letters, and of the provider that passes complaints on and signs them. */
const AUTHOR_DOMAIN = 'author.test';
const PROVIDER_DOMAIN = 'provider.test';
/** Number of servers that send reports. One reporter may send only some reports a day (mail-reports/reports/store.ts). */
const REPORTERS = 100;
/** Number of domains whose forwarded mail is refused. One domain gets only some notifications at once (mailbox-delivery/forward/notify.ts). */
const RETURNED_DOMAINS = 20;
export const ROUTE_ADDRESS = `letters@${SENDER_DOMAIN}`;
const POSTMASTER_ADDRESS = `postmaster@${SENDER_DOMAIN}`;
/** Address that mail of the postmaster is forwarded to, and the address that asks for DMARC reports about the author's mail. */
export const OPERATOR_ADDRESS = `operator@${RECIPIENT_DOMAIN}`;
export const REPORTED_ADDRESS = `dmarc@${AUTHOR_DOMAIN}`;
/** Above what is stored in the database (256 KiB). */
const FILE_BYTES = 300 * 1024;
const PATTERN_BYTES = 31;

/** Returns the zone text of the senders, and of the sender's domain, whose mail comes to the daemon. */
export function zoneOfSenders({ record }: TestKey): string {
  const signers = [PROVIDER_DOMAIN, ...Array.from({ length: REPORTERS }, (_, number) => reporter(number))];
  return [
    ...signers.map((domain) => `s1._domainkey.${domain} TXT "${record}"`),
    ...Array.from({ length: RETURNED_DOMAINS }, (_, number) => zoneOfReturned(returnedDomain(number))),
    `_dmarc.${AUTHOR_DOMAIN} TXT "v=DMARC1; p=none; rua=mailto:${REPORTED_ADDRESS}"`,
    `${AUTHOR_DOMAIN} MX 10 mx.${RECIPIENT_DOMAIN}`,
    `${SENDER_DOMAIN} MX 10 ${HOSTNAME}`,
  ].join('\n');
}

function reporter(number: number): string {
  return `reporter-${number % REPORTERS}.test`;
}

function returnedDomain(number: number): string {
  return `returned-${number % RETURNED_DOMAINS}.test`;
}

/** A sender is told of a failure when SPF has proven it, and gets mail at the sink. */
function zoneOfReturned(domain: string): string {
  return `${domain} TXT "v=spf1 ip4:127.0.0.0/8 -all"\n${domain} MX 10 mx.${RECIPIENT_DOMAIN}`;
}

/** Returns the sender of a letter that comes back, or that is reported to be delivered. Each letter has another one. */
export function returnedSender({ number }: Pick<Letter, 'number'>): string {
  return `ann-${number}@${returnedDomain(number)}`;
}

/** Returns true for an address that `returnedSender` returns. */
export function isReturnedSender(address: string): boolean {
  return /@returned-\d+\.test$/.test(address);
}

/** Returns true for the rewritten sender (SRS) of a forwarded letter that comes back. */
export function isRefused(mailFrom: string): boolean {
  return /=returned-\d+\.test=/i.test(mailFrom);
}

/** Addresses of the daemon that only it can tell. */
export type Addresses = {
  /** The address that is registered with the provider. */
  complaints: string;
  /** The address for reports about the sender's domain. */
  reports: string;
};

type Envelope = { from: string; to: string; wishes?: string };

/** Returns the envelope of a letter. */
export function envelopeOf({ kind, number, reader }: Letter, addresses: Addresses): Envelope {
  switch (kind) {
    case 'post':
      return { from: `ann@${AUTHOR_DOMAIN}`, to: ROUTE_ADDRESS };
    case 'mailbox':
      return { from: `ann@${AUTHOR_DOMAIN}`, to: MAILBOX_ADDRESS };
    case 'notified':
      return { from: returnedSender({ number }), to: MAILBOX_ADDRESS, wishes: ' NOTIFY=SUCCESS' };
    case 'forward':
      return { from: `ann@${AUTHOR_DOMAIN}`, to: POSTMASTER_ADDRESS };
    case 'returned':
      return { from: returnedSender({ number }), to: POSTMASTER_ADDRESS };
    case 'report':
      return { from: `reports@${reporter(number)}`, to: addresses.reports };
    case 'bounce':
      return { from: '', to: reader?.returnPath ?? '' };
    case 'complaint':
      return { from: `fbl@${PROVIDER_DOMAIN}`, to: addresses.complaints };
    case 'unsubscribe':
      return { from: reader?.address ?? '', to: reader?.leaveAddress ?? '' };
  }
}

/** Returns the name of a letter, which is its subject, and the id of the report in it. */
export function nameOf({ number }: Pick<Letter, 'number'>): string {
  return `letter-${number}`;
}

/** Returns the Message-ID of a transmission, counted from 1, without its angle brackets. */
export function messageIdOf(letter: Pick<Letter, 'number'>, transmission: number): string {
  return `${nameOf(letter)}.${transmission}@${AUTHOR_DOMAIN}`;
}

/** Returns the message of the next transmission, with CRLF line ends. `key` is that of all who sign. */
export function messageOf(letter: Letter, messageId: string, key: TestKey): string {
  const message = textOf(letter, messageId).replaceAll('\n', '\r\n');
  switch (letter.kind) {
    case 'complaint':
      return signTestMessage(message, { key, domain: PROVIDER_DOMAIN });
    case 'report':
      return signTestMessage(message, { key, domain: reporter(letter.number) });
    case 'post':
    case 'mailbox':
    case 'notified':
    case 'forward':
    case 'returned':
    case 'bounce':
    case 'unsubscribe':
      return message;
  }
}

function textOf(letter: Letter, messageId: string): string {
  const { kind, number, reader } = letter;
  const name = nameOf(letter);
  const top = `Message-ID: <${messageId}>\nTo: x@${SENDER_DOMAIN}\nSubject: ${name}\nMIME-Version: 1.0\n`;
  switch (kind) {
    case 'post':
    case 'mailbox':
      return `From: ann@${AUTHOR_DOMAIN}\n${top}${letter.hasFile ? withFile(fileOf(letter)) : '\nA letter.\n'}`;
    case 'forward':
      return `From: ann@${AUTHOR_DOMAIN}\n${top}\nA letter for the postmaster.\n`;
    case 'notified':
      return `From: ${returnedSender(letter)}\n${top}\nA letter.\n`;
    case 'returned':
      return `From: ${returnedSender(letter)}\n${top}\nA letter for the postmaster.\n`;
    case 'report':
      return `From: reports@${reporter(number)}\n${top}${reportOf(name)}`;
    case 'bounce':
      return `From: MAILER-DAEMON@${AUTHOR_DOMAIN}\n${top}${bounceOf(reader?.address ?? '')}`;
    case 'complaint':
      return `From: fbl@${PROVIDER_DOMAIN}\n${top}${complaintOf(reader?.returnPath ?? '')}`;
    case 'unsubscribe':
      return `From: ${reader?.address}\n${top}\n\n`;
  }
}

/** Returns the content of the file of a letter. It is different for each: equal bytes would share one file. */
export function fileOf(letter: Pick<Letter, 'number'>): Buffer {
  const pattern = createHash('sha256').update(nameOf(letter)).digest().subarray(0, PATTERN_BYTES);
  return Buffer.alloc(FILE_BYTES, pattern);
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

/** RFC 7489 section 7.2.1.1. */
function reportOf(id: string): string {
  const xml = DMARC_XML.replaceAll('shop.example', SENDER_DOMAIN).replace('17995', id);
  return multipart('mixed', [
    'Content-Type: text/plain\n\nThe report is in the file.',
    `Content-Type: application/xml; name="report.xml"\n\n${xml}`,
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
