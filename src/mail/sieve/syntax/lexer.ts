/**
 * Reads the tokens of a script (RFC 5228 section 8.1), in linear time. Lines may end with LF alone, since editors write scripts; in
 * strings, each line end becomes CRLF.
 */
import { ScriptFault } from './script-error.ts';

export type Token =
  | { kind: 'identifier' | 'tag' | 'string'; at: number; text: string }
  | { kind: 'number'; at: number; value: number }
  | { kind: ';' | ',' | '{' | '}' | '(' | ')' | '[' | ']' | 'end'; at: number };

/** Matches white space, and comments up to the end of their line. */
const SPACE = /(?:[ \t\r\n]|#[^\n]*)+/y;
const IDENTIFIER = /[A-Za-z_][A-Za-z0-9_]*/y;
const NUMBER = /([0-9]+)([KMGkmg]?)/y;
const TEXT_START = /text:[ \t]*(?:#[^\n]*)?\r?\n/iy;
const QUOTE_OR_ESCAPE = /["\\]/g;
const PUNCTUATION = /[;,{}()[\]]/;

const FACTORS: Readonly<Record<string, number>> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };

/** Yields tokens on demand. */
export class Lexer {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    const nul = text.indexOf('\0');
    if (nul >= 0) throw new ScriptFault('a script must not contain NUL', nul);
  }

  /**
   * Returns the next token, and `end` after the last one.
   * @throws ScriptFault when the text has no token there
   */
  next(): Token {
    this.#skipSpace();
    const at = this.#at;
    const character = this.#text[at];
    if (character === undefined) return { kind: 'end', at };
    if (PUNCTUATION.test(character)) {
      this.#at++;
      return { kind: character as ';', at };
    }
    if (character === '"') return this.#readQuoted(at);
    if (character === ':') return this.#readTag(at);
    return this.#readNumber(at) ?? this.#readMultiLine(at) ?? this.#readIdentifier(at);
  }

  #skipSpace(): void {
    for (;;) {
      this.#match(SPACE);
      if (!this.#text.startsWith('/*', this.#at)) return;
      const end = this.#text.indexOf('*/', this.#at + 2);
      if (end < 0) throw new ScriptFault('this comment has no end', this.#at);
      this.#at = end + 2;
    }
  }

  /** An unknown escape sequence is its character (RFC 5228 section 2.4.2). */
  #readQuoted(at: number): Token {
    QUOTE_OR_ESCAPE.lastIndex = at + 1;
    for (;;) {
      const mark = QUOTE_OR_ESCAPE.exec(this.#text);
      if (!mark) throw new ScriptFault('this string has no end', at);
      if (mark[0] === '"') break;
      QUOTE_OR_ESCAPE.lastIndex++;
    }
    this.#at = QUOTE_OR_ESCAPE.lastIndex;
    const text = this.#text.slice(at + 1, this.#at - 1).replace(/\\([\s\S])/g, '$1');
    return { kind: 'string', at, text: withCrlf(text) };
  }

  /** Dots that begin lines are doubled (RFC 5228 section 2.4.2). */
  #readMultiLine(at: number): Token | undefined {
    if (!this.#match(TEXT_START)) return undefined;
    const lines: string[] = [];
    while (this.#at < this.#text.length) {
      const lineEnd = this.#text.indexOf('\n', this.#at);
      const line = this.#text.slice(this.#at, lineEnd < 0 ? this.#text.length : lineEnd).replace(/\r$/, '');
      this.#at = lineEnd < 0 ? this.#text.length : lineEnd + 1;
      if (line === '.') return { kind: 'string', at, text: lines.join('') };
      lines.push(`${line.startsWith('..') ? line.slice(1) : line}\r\n`);
    }
    throw new ScriptFault('this text has no line with a single dot at its end', at);
  }

  #readTag(at: number): Token {
    this.#at++;
    const name = this.#match(IDENTIFIER);
    if (!name) throw new ScriptFault('a tag needs a name after its colon', at);
    return { kind: 'tag', at, text: name[0].toLowerCase() };
  }

  /** Integers up to 2^53 - 1 are supported; RFC 5228 section 2.4.1 asks for 2^31 - 1. */
  #readNumber(at: number): Token | undefined {
    const match = this.#match(NUMBER);
    if (!match) return undefined;
    const value = Number(match[1]) * (FACTORS[(match[2] ?? '').toLowerCase()] ?? 1);
    if (!Number.isSafeInteger(value)) throw new ScriptFault('this number is too large', at);
    return { kind: 'number', at, value };
  }

  #readIdentifier(at: number): Token {
    const match = this.#match(IDENTIFIER);
    if (!match) {
      const character = String.fromCodePoint(this.#text.codePointAt(at) ?? 0);
      throw new ScriptFault(`the character ${JSON.stringify(character)} cannot stand here`, at);
    }
    return { kind: 'identifier', at, text: match[0].toLowerCase() };
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match) this.#at = pattern.lastIndex;
    return match;
  }
}

function withCrlf(text: string): string {
  return text.includes('\n') ? text.replace(/\r?\n/g, '\r\n') : text;
}
