/**
 * Makes a header legal that a mail program wrote: text in other octets than ASCII is encoded, in parameters as RFC 2231 section 4 says, and
 * no line has more than 998 octets. What is legal stays as it is, octet by octet.
 */

import { isAscii, isUtf8 } from 'node:buffer';
import { fieldValue, type HeaderField, splitFields } from '../../dkim/verify/header-fields.ts';
import { decodeCharset } from '../charset.ts';
import { cleanFilename, extendedValue } from '../filename.ts';
import { writeParameter } from '../media-type.ts';
import { type MimeParameter, readParameterField } from '../mime-fields.ts';
import { encodeWordsOf, isAsciiText } from './encode-text.ts';
import { type FieldKind, hasLongLine, legalField } from './legal-field.ts';

/** `keepsUtf8` is true for a message that may have UTF-8 in its header, because its client asked for SMTPUTF8 (RFC 6532). */
export type Repair = { keepsUtf8: boolean };

/** Returns a header, which has CRLF line ends and may end in its empty line. */
export function repairHeader(header: Buffer, repair: Repair): Buffer {
  if (isAscii(header) && !hasLongLine(header)) return header;
  const text = header.toString('latin1');
  const fields = splitFields(text).map((field) => `${repairField(field, repair)}\r\n`);
  const end = /(?:^|\r\n)\r\n$/.test(text) ? '\r\n' : '';
  return Buffer.from(fields.join('') + end, 'latin1');
}

/**
 * Returns the text of a field, one character for each octet and without its last CRLF. Octets that are no ASCII are read as UTF-8 when they
 * are valid UTF-8, and else as windows-1252.
 */
export function repairField(field: HeaderField, { keepsUtf8 }: Repair): string {
  const octets = Buffer.from(field.text, 'latin1');
  const needsEncoding = !(isAscii(octets) || (keepsUtf8 && isUtf8(octets)));
  if (!needsEncoding && !hasLongLine(octets)) return field.text;
  const name = field.text.slice(0, field.text.indexOf(':')).trimEnd();
  const unfolded = Buffer.from(fieldValue(field).replace(/\r\n/g, ''), 'latin1');
  const value = decodeCharset(unfolded, '');
  return Buffer.from(legalField(name, value, { encode: encodeValue, needsEncoding })).toString('latin1');
}

function encodeValue(kind: FieldKind, value: string): string {
  return kind === 'parameters' ? encodeParameters(value) : encodeWordsOf(kind, value);
}

const PRINTABLE_ASCII = /^[ -~]*$/;
/** Matches the name of a parameter (RFC 2045 section 5.1, RFC 2231 section 7). */
const PARAMETER_NAME = /^[a-z0-9!#$&+\-.^_`{|}~]+$/;
const FILE_NAMES: ReadonlySet<string> = new Set(['filename', 'name']);

/** Names of files are cut to the 255 octets that file systems allow. A value with parameters that cannot be written stays as it is. */
function encodeParameters(value: string): string {
  const field = readParameterField(value);
  if (!field || !isAsciiText(field.value)) return value;
  const parameters = field.parameters.map(encodeParameter);
  return parameters.includes(undefined) ? value : ` ${[field.value, ...parameters].join('; ')}`;
}

function encodeParameter({ name, value, isExtended }: MimeParameter): string | undefined {
  if (!PARAMETER_NAME.test(name)) return undefined;
  const text = FILE_NAMES.has(name) ? cleanFilename(value) : value;
  if (isExtended || !isAsciiText(text)) return `${name}*=${extendedValue(text)}`;
  return PRINTABLE_ASCII.test(text) ? writeParameter(name, text) : undefined;
}
