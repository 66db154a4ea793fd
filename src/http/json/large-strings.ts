/**
 * Attachments are base64 in JSON: strings of many megabytes that need not become JavaScript strings. On routes with
 * `detachesContent`, each large string under the key "content" is removed from the text before it is parsed. Its
 * bytes stay in the buffer of the body, and `request.body` contains a placeholder, so a body of 34 MB parses like one
 * of a few kilobytes.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { nextSlice } from '../../system/slices.ts';
import { endOfString, MAX_STRINGS } from './json-shape.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True when large strings under the key "content" become placeholders in the body (`detachedOf`). */
    detachesContent?: boolean;
  }
}

/** The strings that were removed from a body. `value` is a string of the parsed body. */
export type Detached = {
  /**
   * Returns the characters, as bytes, of the string that this placeholder represents; undefined when `value` is not a
   * placeholder. The caller must not change them.
   */
  find(value: string): Uint8Array | undefined;
  /** Returns the SHA-256 hash of those bytes in hex. */
  hash(value: string): string | undefined;
};

/** Minimum size of a detached string. A smaller one costs less to parse than to detach. */
export const DETACHED_BYTES = 64 * 1024;
/** Matches a name separator and the white space around it (RFC 8259 section 2). */
const JUST_COLON = /^[ \t\r\n]*:[ \t\r\n]*$/;
/** Amount that is hashed or unescaped between two turns of the event loop. It takes a few milliseconds. */
const SLICE_BYTES = 2 * 1024 * 1024;
const SLICE_ESCAPES = 32 * 1024;

const KEY = Buffer.from('content');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Secret part of placeholders, so that callers cannot forge one. The NUL in them keeps them from being accepted as a
 * text, a name or an address.
 */
const SECRET = randomBytes(8).toString('hex');

type Content = { bytes: Uint8Array; hash: string | undefined };

const contents = new WeakMap<FastifyRequest, Content[]>();

/** Returns the strings that were detached from the body of this request. */
export function detachedOf(request: FastifyRequest): Detached {
  const taken = contents.get(request) ?? [];
  const find = (value: string): Content | undefined =>
    value.startsWith('\0') ? taken.find((_, index) => value === placeholder(index)) : undefined;
  return {
    find: (value) => find(value)?.bytes,
    hash(value) {
      const content = find(value);
      if (!content) return undefined;
      content.hash ??= createHash('sha256').update(content.bytes).digest('hex');
      return content.hash;
    },
  };
}

function placeholder(index: number): string {
  return `\0content-${SECRET}-${index}`;
}

/**
 * Returns the JSON text without its large contents. Contents with escapes are unescaped in place. When the request
 * has an idempotency key the contents are hashed here, in slices, because the hash will be needed and computing it at
 * once would block the event loop.
 */
export async function detachContent(request: FastifyRequest, json: Buffer): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const taken: Content[] = [];
  let from = 0;
  for (const { start, end } of findContents(json)) {
    const bytes = await withoutEscapes(json.subarray(start, end));
    if (!bytes) continue;
    pieces.push(
      json.subarray(from, start),
      Buffer.from(JSON.stringify(placeholder(taken.length)).slice(1, -1)),
    );
    const isHashed = request.headers['idempotency-key'] !== undefined;
    taken.push({ bytes, hash: isHashed ? await hashInSlices(bytes) : undefined });
    from = end;
  }
  if (taken.length === 0) return json;
  contents.set(request, taken);
  return Buffer.concat([...pieces, json.subarray(from)]);
}

/**
 * Finds large contents; each range excludes the quotes. Ranges in an invalid text are arbitrary, because the parser
 * then refuses the rest.
 */
function findContents(json: Buffer): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  let key = { start: 0, end: 0 };
  let quote = json.indexOf(QUOTE);
  for (let strings = 0; quote >= 0 && strings <= MAX_STRINGS; strings++) {
    const string = { start: quote + 1, end: endOfString(json, quote) };
    const isLarge = string.end - string.start >= DETACHED_BYTES;
    if (isLarge && isContentKey(json, key, quote)) found.push(string);
    key = string;
    quote = json.indexOf(QUOTE, string.end + 1);
  }
  return found;
}

/** Returns true when the previous string is `"content"` and only its colon lies between. */
function isContentKey(json: Buffer, key: { start: number; end: number }, quote: number): boolean {
  if (!json.subarray(key.start, key.end).equals(KEY)) return false;
  const gap = json.subarray(key.end + 1, quote);
  return JUST_COLON.test(gap.toString('latin1'));
}

/**
 * Removes the escapes of a string in place and returns its bytes. Returns undefined, with nothing changed, when an
 * escape represents more than one byte: such a string is not base64 and stays in the text.
 */
async function withoutEscapes(string: Buffer): Promise<Buffer | undefined> {
  const first = string.indexOf(BACKSLASH);
  if (first < 0) return string;
  let seen = 0;
  for (let at = first; at >= 0; at = string.indexOf(BACKSLASH, at + escapeLength(string, at))) {
    if (escapedByte(string, at) === undefined) return undefined;
    if (++seen % SLICE_ESCAPES === 0) await nextSlice();
  }
  let to = first;
  for (let at = first; at >= 0; ) {
    string[to++] = escapedByte(string, at) ?? 0;
    const rest = at + escapeLength(string, at);
    const next = string.indexOf(BACKSLASH, rest);
    const end = next < 0 ? string.length : next;
    string.copyWithin(to, rest, end);
    to += end - rest;
    at = next;
    if (++seen % SLICE_ESCAPES === 0) await nextSlice();
  }
  return string.subarray(0, to);
}

/** Short escapes and their characters (RFC 8259 section 7). */
const SHORT_ESCAPES = new Map(
  ['""', '\\\\', '//', 'b\b', 'f\f', 'n\n', 'r\r', 't\t'].map((pair) => [
    pair.charCodeAt(0),
    pair.charCodeAt(1),
  ]),
);
const LETTER_U = 0x75;

function escapeLength(string: Buffer, at: number): number {
  return string[at + 1] === LETTER_U ? 6 : 2;
}

/** Returns the ASCII character of an escape; undefined for any other. PHP writes `\/`, and .NET writes `\u002B`. */
function escapedByte(string: Buffer, at: number): number | undefined {
  if (string[at + 1] !== LETTER_U) return SHORT_ESCAPES.get(string[at + 1] ?? 0);
  let code = 0;
  for (let index = at + 2; index < at + 6; index++) code = code * 16 + hexDigit(string[index]);
  return code < 0x80 ? code : undefined;
}

/** Returns the value of a hex digit; NaN for any other byte. */
function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return Number.NaN;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN;
}

async function hashInSlices(bytes: Uint8Array): Promise<string> {
  const hash = createHash('sha256');
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    hash.update(bytes.subarray(at, at + SLICE_BYTES));
    await nextSlice();
  }
  return hash.digest('hex');
}
