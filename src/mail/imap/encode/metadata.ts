/** Writes METADATA responses (RFC 5464 section 4.4). */

import { writeAstring } from './astring.ts';
import { encodeMailboxName } from './mailbox-name.ts';
import { type TextForm, writeOctets, writeString } from './strings.ts';

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

function writeMailbox(mailbox: string, form: TextForm): string {
  return writeAstring(encodeMailboxName(mailbox, form), form);
}

function writeValue(value: Uint8Array | undefined): Buffer[] {
  if (!value) return [Buffer.from('NIL')];
  const octets = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  const text = octets.length <= MAX_QUOTED_OCTETS ? octets.toString('latin1') : undefined;
  if (text !== undefined && QUOTED.test(text)) return [Buffer.from(writeString(text, '7bit'))];
  return writeOctets(octets, { isBinary: octets.includes(0) });
}
