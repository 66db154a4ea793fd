/**
 * The header of a message for clients that do not read UTF-8 (RFC 6858): addresses that they cannot write to become addresses of nobody,
 * names and subjects become encoded-words, and what cannot be shown is left out.
 */
import { isAscii } from 'node:buffer';
import { encodeWords } from '../encoded-word.ts';
import { type EnvelopeAddress, readAddressList, surrogateAddress } from '../message/address-list.ts';
import { readFieldLines, unfoldValue } from '../message/header-block.ts';
import { CR, LF } from '../octets.ts';
import type { Chunks } from './session.ts';

/** Fields with addresses (RFC 6858 section 2.1). */
const ADDRESS_FIELDS: ReadonlySet<string> = new Set(
  ['bcc', 'cc', 'from', 'reply-to', 'return-path', 'sender', 'to'].flatMap((name) => [
    name,
    `resent-${name}`,
  ]),
);
/** Fields whose values are text for people. */
const TEXT_FIELDS: ReadonlySet<string> = new Set(['subject', 'comments', 'content-description']);
/** Fields with parameters of MIME, of which those that are not ASCII are left out (RFC 6858 section 2.2). */
const PARAMETER_FIELDS: ReadonlySet<string> = new Set(['content-type', 'content-disposition']);

/** Maximum number of addresses of a field that are shown. Longer lists are not written by people. */
const MAX_ADDRESSES = 1_000;
/**
 * Maximum size of the fields of a header that are rewritten together, which takes some 30 ms of the thread of all connections. Further
 * fields that are not ASCII are left out. The headers of people have less than a tenth of that.
 */
export const MAX_REWRITTEN_OCTETS = 64 * 1024;
const PARAMETER = /;\s*[^;="\s]+\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^;]*)/g;
const PLAIN_PHRASE = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~ -]*$/;

/** Returns a header that is ASCII, with the empty line at its end where it has one. One that is ASCII already is returned unchanged. */
export function surrogateHeader(header: Buffer): Buffer {
  if (isAscii(header)) return header;
  const pieces: Buffer[] = [];
  let leftOctets = MAX_REWRITTEN_OCTETS;
  for (const { name, start, value, end } of readFieldLines(header, { start: 0, end: header.length })) {
    const lines = header.subarray(start, end);
    if (isAscii(lines)) {
      pieces.push(lines);
      continue;
    }
    leftOctets -= lines.length;
    if (leftOctets >= 0)
      pieces.push(
        Buffer.from(surrogateField(header.subarray(start, value), name, header.subarray(value, end))),
      );
  }
  return Buffer.concat(pieces);
}

/** Returns a field that is ASCII; an empty text when it cannot be shown. `label` is the name with its colon. */
function surrogateField(label: Buffer, name: string, value: Buffer): string {
  if (!isAscii(label)) return '';
  const text = unfoldValue(value);
  const shown = surrogateValue(name, text);
  return shown === undefined ? '' : `${label.toString('latin1')} ${shown}\r\n`;
}

function surrogateValue(name: string, text: string): string | undefined {
  if (ADDRESS_FIELDS.has(name))
    return readAddressList(text, MAX_ADDRESSES).flatMap(writeAddress).join(',\r\n ');
  if (TEXT_FIELDS.has(name)) return fold(encodeWords(text));
  if (PARAMETER_FIELDS.has(name)) {
    const kept = text.replace(PARAMETER, (parameter) => (isPlain(parameter) ? parameter : ''));
    return isPlain(kept) ? kept : undefined;
  }
  return undefined;
}

/** Returns an address, or nothing for the mark of a group. */
function writeAddress(given: EnvelopeAddress): string[] {
  const { name, mailbox, host } = given;
  if (mailbox === null || host === null) return [];
  const address = `${mailbox}@${host}`;
  if (!isPlain(address)) {
    const nobody = surrogateAddress(given);
    return [`${fold(encodeWords(nobody.name ?? ''))}\r\n <${nobody.mailbox}@${nobody.host}>`];
  }
  if (name === null || name === '') return [address];
  return [`${PLAIN_PHRASE.test(name) ? name : fold(writePhrase(name))} <${address}>`];
}

function writePhrase(name: string): string {
  return isPlain(name) ? `"${name.replace(/["\\]/g, '\\$&')}"` : encodeWords(name);
}

/** Puts each encoded-word on a line of its own. */
function fold(words: string): string {
  return words.replaceAll('?= =?', '?=\r\n =?');
}

function isPlain(text: string): boolean {
  return isAscii(Buffer.from(text));
}

const HEADER_END = Buffer.from('\r\n\r\n');
/** Maximum size of a header that is not ASCII, which is held in memory. Messages from other servers have the same limit. */
const MAX_HEADER_OCTETS = 256 * 1024;

/** Yields a message with a header that is ASCII. A longer header that is not ASCII is refused. */
export async function* withSurrogateHeader(chunks: Chunks): Chunks {
  let held: Buffer = Buffer.alloc(0);
  try {
    for (;;) {
      const next = await chunks.next();
      if (next.done && next.value !== undefined) return next.value;
      const octets = next.done ? held : held.length === 0 ? next.value : Buffer.concat([held, next.value]);
      const end = endOfHeader(octets);
      if (end >= 0 || next.done) {
        yield surrogateMessage(octets);
        return next.done ? undefined : yield* chunks;
      }
      if (octets.length > MAX_HEADER_OCTETS) {
        if (!isAscii(octets)) return NEEDS_UTF8;
        yield octets;
        return yield* chunks;
      }
      held = octets;
    }
  } finally {
    await chunks.return(undefined);
  }
}

const NEEDS_UTF8 = { refused: true, code: 'UTF8', text: 'The header of the message needs UTF8' } as const;

/** Returns the offset of the body; -1 when the header goes on. A message may begin with its body. */
function endOfHeader(octets: Buffer): number {
  if (octets[0] === CR && octets[1] === LF) return 0;
  const end = octets.indexOf(HEADER_END);
  return end < 0 ? -1 : end + HEADER_END.length;
}

/** Returns the beginning of a message, with its whole header, with a header that is ASCII. */
export function surrogateMessage(octets: Buffer): Buffer {
  if (isAscii(octets)) return octets;
  const end = endOfHeader(octets);
  const header = end < 0 ? octets : octets.subarray(0, end);
  if (isAscii(header)) return octets;
  return Buffer.concat([surrogateHeader(header), octets.subarray(header.length)]);
}
