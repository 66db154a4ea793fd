/**
 * One message that somebody hands in. A message whose reply was not read is handed in again: by a person under another Message-ID and to
 * another recipient, so that each transmission can be told from the others, and by an application under the same Idempotency-Key.
 */
import { createHash } from 'node:crypto';
import type { Sent, Transmission } from '../smtp-clients.ts';
import { RECIPIENT_DOMAIN, SENDER_DOMAIN } from '../world.ts';

/**
 * `away` goes to another server, `here` to a mailbox of this one, and `refused` to a server that refuses it, so that the writer gets a
 * report. `application` is handed in with an API key.
 */
export type MailKind = 'away' | 'here' | 'refused' | 'application';

export type Mail = Sent & {
  kind: MailKind;
  /** Its place among all mail of its kind, from 1. */
  number: number;
  hasFile: boolean;
};

/** The person who writes, the one who gets mail, and the one whose mail is refused everywhere. */
export const WRITER = `ann@${SENDER_DOMAIN}`;
export const READER = `bob@${SENDER_DOMAIN}`;
export const REFUSED_WRITER = `eve@${SENDER_DOMAIN}`;
const APPLICATION = `shop@${SENDER_DOMAIN}`;
/** Above what is stored in the database (256 KiB). */
const FILE_BYTES = 300 * 1024;
const PATTERN_BYTES = 31;
const LINE = /.{76}/g;

/** Returns the name of a transmission, counted from 1, which is its Message-ID without angle brackets. */
export function nameOf({ kind, number }: Pick<Mail, 'kind' | 'number'>, transmission: number): string {
  return `${kind}-${number}.${transmission}@${SENDER_DOMAIN}`;
}

/** Returns the names of all transmissions so far. */
export function namesOf(mail: Mail): string[] {
  return Array.from({ length: mail.transmissions }, (_, index) => nameOf(mail, index + 1));
}

/** Returns the recipient of a transmission. All those of an application's message have the same one. */
export function recipientOf({ kind, number }: Pick<Mail, 'kind' | 'number'>, transmission: number): string {
  if (kind === 'here') return READER;
  const suffix = kind === 'application' ? '' : `.${transmission}`;
  return `${kind}-${number}${suffix}@${RECIPIENT_DOMAIN}`;
}

/** Returns what a client sends. */
export function transmissionOf(mail: Mail, transmission: number): Transmission {
  const name = nameOf(mail, transmission);
  const from = writerOf(mail.kind);
  const to = recipientOf(mail, transmission);
  const header = [
    `From: ${from}`,
    `To: ${to}`,
    `Subject: ${mail.kind}-${mail.number}`,
    `Message-ID: <${name}>`,
    ...(mail.kind === 'application' ? [`X-Service-Idempotency-Key: ${mail.kind}-${mail.number}`] : []),
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="part"',
  ];
  const bytes = [...header, '', ...bodyOf(mail), ''].join('\r\n');
  // The writer is told of the failure alone, also when a slow machine needs more than the half hour after which delays are reported.
  const wishes = mail.kind === 'refused' ? ' NOTIFY=FAILURE' : '';
  return { name, from, to, wishes, bytes };
}

function writerOf(kind: MailKind): string {
  if (kind === 'application') return APPLICATION;
  return kind === 'refused' ? REFUSED_WRITER : WRITER;
}

function bodyOf(mail: Mail): string[] {
  const text = ['--part', 'Content-Type: text/plain', '', 'A message.'];
  if (!mail.hasFile) return [...text, '--part--'];
  return [
    ...text,
    '--part',
    'Content-Type: application/octet-stream',
    'Content-Disposition: attachment; filename="file.bin"',
    'Content-Transfer-Encoding: base64',
    '',
    fileOf(mail).toString('base64').replace(LINE, '$&\r\n'),
    '--part--',
  ];
}

/** The files of two messages differ, because equal bytes would share one file. */
function fileOf({ kind, number }: Pick<Mail, 'kind' | 'number'>): Buffer {
  const pattern = createHash('sha256').update(`${kind}-${number}`).digest().subarray(0, PATTERN_BYTES);
  return Buffer.alloc(FILE_BYTES, pattern);
}

/** Returns SHA-256 of each file that a message carries. */
export function filesOf(mail: Mail): string[] {
  return mail.hasFile ? [createHash('sha256').update(fileOf(mail)).digest('hex')] : [];
}
