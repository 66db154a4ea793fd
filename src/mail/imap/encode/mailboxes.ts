/** Writes LIST, LSUB, STATUS (RFC 9051 sections 7.3.1 and 7.3.2) and METADATA responses. */

import { SEPARATOR } from '../list-pattern.ts';
import type { StatusItem, StatusValues } from '../session.ts';
import { encodeMailboxName, type TextForm, writeAstring, writeOctets, writeString } from './strings.ts';

type ListedMailbox = {
  response: 'LIST' | 'LSUB';
  mailbox: string;
  /** Attributes such as `\HasNoChildren`, in this order. */
  attributes: readonly string[];
  /** Criteria of RECURSIVEMATCH that a child fulfils, such as SUBSCRIBED (RFC 5258 section 3.5). */
  childInfo?: readonly string[];
  /** Name that the mailbox had before it was renamed (RFC 5465 section 5.4). */
  oldName?: string | undefined;
};

/** Returns the response for one mailbox, with its CRLF. */
export function writeListed(listed: ListedMailbox, form: TextForm): string {
  const { response, mailbox, attributes, childInfo = [], oldName } = listed;
  const items = [
    ...(childInfo.length > 0 ? [`CHILDINFO (${childInfo.map((name) => `"${name}"`).join(' ')})`] : []),
    ...(oldName === undefined ? [] : [`"OLDNAME" (${writeMailbox(oldName, form)})`]),
  ];
  const extended = items.length > 0 ? ` (${items.join(' ')})` : '';
  const name = writeMailbox(mailbox, form);
  return `* ${response} (${attributes.join(' ')}) "${SEPARATOR}" ${name}${extended}\r\n`;
}

type MailboxStatus = { mailbox: string; items: readonly StatusItem[]; values: StatusValues };

/** Returns the response with the items in the order in which they were asked for, with its CRLF. */
export function writeStatus({ mailbox, items, values }: MailboxStatus, form: TextForm): string {
  const pairs = items.flatMap((item) => {
    const value = values[item];
    if (value === undefined) return [];
    return `${item} ${typeof value === 'string' ? `(${value})` : value}`;
  });
  return `* STATUS ${writeMailbox(mailbox, form)} (${pairs.join(' ')})\r\n`;
}

function writeMailbox(mailbox: string, form: TextForm): string {
  return writeAstring(encodeMailboxName(mailbox, form), form);
}

/** Writes METADATA responses (RFC 5464 section 4.4). */
type WrittenEntry = { entry: string; value: Uint8Array | undefined };

/** Values of this form are quoted, so that people can read them in a transcript. */
const QUOTED = /^[ -~]*$/;
const MAX_QUOTED_OCTETS = 1_000;

/** Returns the response with values, with its CRLF. There is at least one entry; a value that is missing is NIL. */
export function writeMetadata(mailbox: string, entries: readonly WrittenEntry[], form: TextForm): Buffer[] {
  const pieces: Buffer[] = [];
  let before = `* METADATA ${writeMailbox(mailbox, form)} (`;
  for (const { entry, value } of entries) {
    pieces.push(Buffer.from(`${before}${writeAstring(entry, '7bit')} `), ...writeValue(value));
    before = ' ';
  }
  return [...pieces, Buffer.from(')\r\n')];
}

/** Returns the response that names the entries that have changed, with its CRLF (RFC 5464 section 4.4.2). */
export function writeMetadataNames(mailbox: string, entries: readonly string[], form: TextForm): string {
  const names = entries.map((entry) => writeAstring(entry, '7bit'));
  return `* METADATA ${writeMailbox(mailbox, form)} ${names.join(' ')}\r\n`;
}

function writeValue(value: Uint8Array | undefined): Buffer[] {
  if (!value) return [Buffer.from('NIL')];
  const octets = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  const text = octets.length <= MAX_QUOTED_OCTETS ? octets.toString('latin1') : undefined;
  if (text !== undefined && QUOTED.test(text)) return [Buffer.from(writeString(text, '7bit'))];
  return writeOctets(octets, { isBinary: octets.includes(0) });
}
