/** Separates what a program wrote into a bounce from the message that it returns, and reads the recipients of the latter. */

import { decodeCharset } from '../message/charset.ts';
import { stripHtmlAtOnce } from '../message/html-text-strip.ts';
import { findValue, type HeaderField, readHeader, splitEntity } from '../message/lenient-header.ts';
import { type MimePart, partOctets } from '../message/lenient-parts.ts';
import { findNamedAddresses } from './named-address.ts';

/** The two contents of a bounce. */
export type BounceTexts = {
  /** Text that the program wrote. */
  own: string;
  /** Header of the message that is returned; undefined when none is. */
  copy: readonly HeaderField[] | undefined;
};

/** Maximum length of a text that is read. The reason stands at the beginning. */
const MAX_TEXT_CHARACTERS = 64 * 1024;
/** Types of the part with the message that is returned, or with its header. */
const COPY_TYPES: ReadonlySet<string> = new Set([
  ...['message/rfc822', 'text/rfc822-headers', 'text/rfc822', 'message/rfc822-headers', 'message/partial'],
  ...['message/global', 'message/global-headers'],
]);
/** Matches the line that stands before the copy of the message, or the first line of its header. */
const COPY_START =
  /^(?:[-_=*\s]*(?:(?:below (?:this line )?is|this is|included is|enclosed (?:are|is)) (?:a|the) copy\b|(?:the (?:header of the )?)?(?:original|returned|unsent|undelivered) message(?: is)?(?: follow(?:s|ing)|:| header|[-_=*\s.]*$)|message (?:headers?(?: follows?)?|text follows)|headers? of the original|enclosed are the first|original message\b[-_=*\s:]*$)|return-path:|received:(?! *>>>)|dkim-signature:)/i;
/** Fields that name the recipients of a message, those of its envelope first. */
const RECIPIENT_FIELDS = ['x-envelope-to', 'envelope-to', 'x-rcpt-to', 'to', 'x-original-to', 'delivered-to'];

/** Returns true for a part that is the message that is returned, or its header. */
export function isCopy({ type, fields }: MimePart): boolean {
  // Some programs return the header of the message in the place of the header of the part.
  return COPY_TYPES.has(type) || fields.some(({ name }) => name === 'received' || name === 'message-id');
}

/** Splits a bounce into the text of the program and the message that it returns. */
export function splitBounce(parts: readonly MimePart[]): BounceTexts {
  const copy = parts.find((part, index) => index > 0 && isCopy(part));
  const written = parts.filter((part, index) => part !== copy && (index === 0 || !isCopy(part)));
  const plain = written.filter(({ type }) => type === 'text/plain').map(textOf);
  const readable = plain.some((text) => text.trim() !== '')
    ? plain
    : written.filter(({ type }) => type === 'text/html').map((part) => stripHtmlAtOnce(textOf(part)));
  const split = readable.map(splitText);
  const own = split.map((part) => part.own).join('\n\n');
  const quoted = split.find((part) => part.copy !== undefined)?.copy;
  return { own: own.slice(0, MAX_TEXT_CHARACTERS), copy: copy ? headerOf(copy) : quoted };
}

/** Returns the recipients of the message that is returned. */
export function copyRecipients(copy: readonly HeaderField[]): string[] {
  // A bounce that is returned is addressed to the sender of the message that failed.
  if (/^multipart\/report\b/i.test(findValue(copy, 'content-type') ?? '')) return [];
  for (const name of RECIPIENT_FIELDS) {
    const value = findValue(copy, name);
    const addresses = value === undefined ? [] : addressesOf(value);
    if (addresses.length > 0) return addresses;
  }
  return [];
}

function addressesOf(value: string): string[] {
  return findNamedAddresses(value, () => false).map(({ address }) => address);
}

/** Returns the text of a part in its charset. */
function textOf({ fields, encoding, body }: MimePart): string {
  const beginning = body.slice(0, MAX_TEXT_CHARACTERS * 2);
  const octets = Buffer.from(partOctets({ encoding, body: beginning }), 'latin1');
  const type = (findValue(fields, 'content-type') ?? '').slice(0, MAX_TYPE_CHARACTERS);
  const charset = /;\s*charset\s*=\s*"?([^\s";]{1,40})/i.exec(type)?.[1] ?? '';
  return decodeCharset(octets, charset);
}

/** Maximum length of a Content-Type field that is read. */
const MAX_TYPE_CHARACTERS = 1_000;

function headerOf(part: MimePart): readonly HeaderField[] {
  const inside = readHeader(splitEntity(partOctets(part).trimStart()).header);
  return part.fields.some(({ name }) => name === 'received' || name === 'message-id') ? part.fields : inside;
}

function splitText(text: string): BounceTexts {
  const lines = text.slice(0, MAX_TEXT_CHARACTERS * 2).split('\n');
  const at = lines.findIndex((line) => COPY_START.test(line.slice(0, MAX_MARK_CHARACTERS)));
  if (at < 0) return { own: text, copy: undefined };
  // The header begins after the mark, an empty line, and a line under it.
  const start = lines.findIndex(
    (line, index) =>
      index >= at && /^[A-Za-z][A-Za-z0-9-]*: ?\S|^Received:/.test(line) && !/:\s*$/.test(line),
  );
  const header = start < 0 ? '' : splitEntity(lines.slice(start).join('\n')).header;
  return { own: lines.slice(0, at).join('\n'), copy: header === '' ? undefined : readHeader(header) };
}

/** Maximum length of a line that may stand before a copy. */
const MAX_MARK_CHARACTERS = 200;
