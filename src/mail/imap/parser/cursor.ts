/**
 * Reads the tokens of one command (RFC 9051 section 9). The bytes are those of the wire, literals included, without the
 * CRLF that ends the command. Real clients send more spaces than the grammar has: several between arguments, and some inside of
 * parentheses and behind the last argument. They mean nothing, and are skipped.
 */

import { decodeKnownCharset } from '../../message/charset.ts';
import { CR, LF, SPACE } from '../../octets.ts';
import { bad } from '../command-error.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = 0x28;
const OPENING_BRACE = 0x7b;
const TILDE = 0x7e;

/**
 * Printable characters that are not part of each kind of token. `}` and `~` are, and so is `]` except in atoms. Strings without quotes may
 * have `%`, `*` and `\`, although the grammar wants quotes around them: passwords and search texts that people type have them.
 */
const isAtomOctet = printableExcept('(){%*"\\]');
const isAstringOctet = printableExcept('(){"');
const isPatternOctet = printableExcept('(){"\\');
const isTagOctet = printableExcept('(){%*"\\+');
const isWordOctet = octetsOf((character) => /[A-Za-z0-9._-]/.test(character));
const isSetOctet = octetsOf((character) => /[0-9*:,$]/.test(character));
const isLetter = octetsOf((character) => /[A-Za-z]/.test(character));
const isDigit = octetsOf((character) => /[0-9]/.test(character));

/** A literal in the middle of a command. The framing has made sure that its bytes are there. */
const LITERAL = /^~?\{(\d{1,15})\+?\}\r?\n/;
/** Announcement of a literal whose bytes are not part of the command. */
const ANNOUNCEMENT = /^~?\{\d+\+?\}$/;
/** Maximum length of a literal's announcement, `~{` to LF. */
const MAX_ANNOUNCEMENT_OCTETS = 24;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** Names of UTF-8 and of its part ASCII. Texts in them are checked. */
const UTF8_NAMES: ReadonlySet<string> = new Set(['UTF-8', 'UTF8', 'US-ASCII', 'ASCII']);

function printableExcept(specials: string): Uint8Array {
  return octetsOf((character) => /[!-~]/.test(character) && !specials.includes(character));
}

function octetsOf(isAllowed: (character: string) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, octet) => Number(isAllowed(String.fromCharCode(octet))));
}

/** Every method moves past what it returns, and throws `CommandError` when something else stands there. */
export class Cursor {
  readonly #bytes: Buffer;
  #at = 0;
  /** Charset of strings; undefined for UTF-8. */
  #charset: string | undefined;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** True when nothing but spaces follows. */
  get isAtEnd(): boolean {
    return this.#afterSpaces() >= this.#bytes.length;
  }

  get isAtList(): boolean {
    return this.#bytes[this.#at] === OPENING;
  }

  /** True before a list whose first item begins with a letter. */
  get isAtWordList(): boolean {
    return this.isAtList && isLetter[this.#bytes[this.#at + 1] ?? 0] === 1;
  }

  /** True before the space in front of a list. */
  get isBeforeList(): boolean {
    return this.#bytes[this.#at] === SPACE && this.#bytes[this.#afterSpaces()] === OPENING;
  }

  get isAtQuote(): boolean {
    return this.#bytes[this.#at] === QUOTE;
  }

  /** True before a number, `*` or `$`. */
  get isAtSet(): boolean {
    return isSetOctet[this.#bytes[this.#at] ?? 0] === 1;
  }

  /** True before the announcement of a literal whose bytes are not part of the command. */
  get isAtAnnouncement(): boolean {
    return ANNOUNCEMENT.test(this.#bytes.toString('latin1', this.#at));
  }

  end(): void {
    if (!this.isAtEnd) bad('The command has more arguments than it may have');
  }

  /**
   * Moves past this ASCII text, in any case. Returns false, and stays, when something else stands there. Spaces may follow a space or an
   * opening parenthesis, and may stand before a closing one.
   */
  skip(text: string): boolean {
    const from = text === ')' ? this.#afterSpaces() : this.#at;
    // No string is made of the octets, because a command can have tens of thousands of keys.
    for (let at = 0; at < text.length; at++)
      if (upperCase(this.#bytes[from + at]) !== text.charCodeAt(at)) return false;
    this.#at = from + text.length;
    if (text.endsWith(' ') || text.endsWith('(')) this.#at = this.#afterSpaces();
    return true;
  }

  expect(text: string): void {
    if (!this.skip(text)) bad(`The command needs ${text === ' ' ? 'a space' : text} at octet ${this.#at}`);
  }

  space(): void {
    if (!this.skip(' ')) bad(`The command needs one more argument at octet ${this.#at}`);
  }

  /** Sets the charset of the strings that follow. Returns false when it is unknown. */
  setCharset(name: string): boolean {
    const isUtf8 = UTF8_NAMES.has(name.toUpperCase());
    if (!isUtf8 && decodeKnownCharset(Buffer.alloc(0), name) === undefined) return false;
    this.#charset = isUtf8 ? undefined : name;
    return true;
  }

  tag(): string {
    return this.#token(isTagOctet, 'a tag');
  }

  atom(): string {
    return this.#token(isAtomOctet, 'an atom');
  }

  /** Returns letters, digits, dots, hyphens and underscores, in upper case: a keyword of the protocol. */
  word(): string {
    return this.#token(isWordOctet, 'a keyword').toUpperCase();
  }

  /** Returns the characters of a set of numbers, which are not checked yet. */
  setText(): string {
    return this.#token(isSetOctet, 'a set of numbers');
  }

  astring(): string {
    return this.#isAtString ? this.string() : this.#token(isAstringOctet, 'a string');
  }

  /** Returns a pattern of LIST, which may have wildcards. */
  listPattern(): string {
    return this.#isAtString ? this.string() : this.#token(isPatternOctet, 'a pattern');
  }

  /** Returns undefined for NIL. */
  nstring(): string | undefined {
    if (this.#isAtString) return this.string();
    if (!this.skip('NIL')) bad(`The command needs a string or NIL at octet ${this.#at}`);
    return undefined;
  }

  /** Returns the octets of a string; undefined for NIL. Those of a binary literal may have NUL. */
  nstringOctets(): Buffer | undefined {
    if (!this.#isAtString) return this.nstring() as undefined;
    const isBinary = this.#bytes[this.#at] === TILDE;
    const octets = this.#stringOctets();
    return isBinary || !octets.includes(0) ? octets : bad('A string must not have the octet NUL');
  }

  /** Returns a quoted string or a literal as text. */
  string(): string {
    const bytes = this.#stringOctets();
    if (bytes.includes(0)) bad('A string must not have the octet NUL');
    const text = this.#charset === undefined ? undefined : decodeKnownCharset(bytes, this.#charset);
    if (text !== undefined) return text;
    try {
      return utf8.decode(bytes);
    } catch {
      return bad('A string must be UTF-8');
    }
  }

  /** Returns everything up to the end, without spaces there. */
  rest(): string {
    const rest = this.#bytes.toString('latin1', this.#at).trimEnd();
    this.#at = this.#bytes.length;
    return rest;
  }

  /** Moves past the announcement of a message, with which the bytes end. */
  announcement(): void {
    if (!this.isAtAnnouncement) bad(`The command needs a literal at octet ${this.#at}`);
    this.#at = this.#bytes.length;
  }

  /** Returns an integer from 0 on. It is exact up to 2^53, and larger ones are that. */
  number(): number {
    const digits = this.#token(isDigit, 'a number');
    if (digits.length > 20) bad('The number is too large');
    return Math.min(Number(digits), Number.MAX_SAFE_INTEGER);
  }

  /** Returns an integer from 1 on. */
  positiveNumber(): number {
    const number = this.number();
    return number === 0 ? bad('The number must be at least 1') : number;
  }

  /**
   * Reads `(item item …)` and returns its items; the list may be empty. `read` must move on. A list that is too long is refused before
   * the rest of it is read.
   */
  list<T>(read: () => T, maxItems = Number.POSITIVE_INFINITY): T[] {
    this.expect('(');
    const items: T[] = [];
    while (!this.skip(')')) {
      if (items.length === maxItems) bad(`A list has at most ${maxItems} items`, 'LIMIT');
      if (items.length > 0) this.space();
      items.push(read());
    }
    return items;
  }

  /** Returns the position of the first octet that is not a space. */
  #afterSpaces(): number {
    let at = this.#at;
    while (this.#bytes[at] === SPACE) at++;
    return at;
  }

  get #isAtString(): boolean {
    const octet = this.#bytes[this.#at];
    if (octet === QUOTE || octet === OPENING_BRACE) return true;
    return octet === TILDE && this.#bytes[this.#at + 1] === OPENING_BRACE;
  }

  #stringOctets(): Buffer {
    return this.#bytes[this.#at] === QUOTE ? this.#quoted() : this.#literal();
  }

  #token(allowed: Uint8Array, what: string): string {
    const from = this.#at;
    let to = from;
    while (to < this.#bytes.length && allowed[this.#bytes[to] ?? 0] === 1) to++;
    if (to === from) bad(`The command needs ${what} at octet ${from}`);
    this.#at = to;
    return this.#bytes.toString('latin1', from, to);
  }

  #quoted(): Buffer {
    const from = this.#at + 1;
    let escapes = 0;
    for (let at = from; at < this.#bytes.length; at++) {
      const octet = this.#bytes[at];
      if (octet === QUOTE) {
        this.#at = at + 1;
        return escapes === 0
          ? this.#bytes.subarray(from, at)
          : withoutEscapes(this.#bytes.subarray(from, at));
      }
      if (octet === CR || octet === LF) break;
      if (octet !== BACKSLASH) continue;
      at++;
      escapes++;
      const escaped = this.#bytes[at];
      if (escaped !== QUOTE && escaped !== BACKSLASH)
        bad('A backslash in a string stands before " or \\ only');
    }
    return bad('A quoted string does not end');
  }

  #literal(): Buffer {
    const head = this.#bytes.toString('latin1', this.#at, this.#at + MAX_ANNOUNCEMENT_OCTETS);
    const [announcement = '', digits] = LITERAL.exec(head) ?? [];
    const from = this.#at + announcement.length;
    const to = from + Number(digits ?? Number.NaN);
    if (!(to <= this.#bytes.length)) bad(`The command needs a string at octet ${this.#at}`);
    this.#at = to;
    return this.#bytes.subarray(from, to);
  }
}

function upperCase(octet: number | undefined): number | undefined {
  return octet !== undefined && octet >= 0x61 && octet <= 0x7a ? octet - 0x20 : octet;
}

function withoutEscapes(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString('latin1').replace(/\\(.)/gs, '$1'), 'latin1');
}
