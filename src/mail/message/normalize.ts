/**
 * Prepares the header of a message that arrives for storage. Fields are removed which readers could take for fields of this installation,
 * such as Authentication-Results in its name (RFC 8601 section 5): it writes such fields itself, or mail programs believe that the receiving
 * server has written them. The size of the header block and the number of hops are limited. Signatures are verified over the fields as they
 * came, elsewhere.
 */
import { addressKey } from '../address.ts';
import { MAX_HEADER_BYTES, MAX_HEADER_LINES } from '../header-limits.ts';
import { LF, SPACE, TAB } from '../octets.ts';
import { unfoldValue } from './header-block.ts';
import { hostName, namesAuthservId } from './results-owner.ts';

/** Maximum number of Received fields, the same as in Postfix. A message with more goes round in circles (RFC 5321 section 6.3). */
export const MAX_RECEIVED_FIELDS = 50;
/** Maximum length of a field that is kept for the caller. A longer one is cut. */
const MAX_KEPT_BYTES = 8_192;

/** The limit that a message has exceeded. */
export type HeaderExcess = 'header_bytes' | 'header_lines' | 'received_fields';

type NormalizerOptions = OwnFieldOptions & {
  /** Names, in lower case, of the fields whose text is kept for the caller. */
  keep: ReadonlySet<string>;
};

/**
 * Maximum length of a name with its colon: a line has at most 998 characters (RFC 5322 section 2.1.1), and some more white
 * space may stand before the colon.
 */
const MAX_NAME_CHARACTERS = 1_010;
/** Size of a line that has nothing but its CRLF. */
const EMPTY_LINE_BYTES = 2;
/** Matches the name of a field at the beginning of its line (RFC 5322 section 2.2), also with the spaces of obsolete syntax. */
const FIELD_NAME = /^([!-9;-~]{1,998})[ \t]*:/;

type Field = { name: string; lines: Buffer[]; isHeld: boolean };

export class Normalizer {
  readonly #options: NormalizerOptions;
  readonly #kept = new Map<string, string>();
  #isInHeader = true;
  #bytes = 0;
  #lines = 0;
  #receivedFields = 0;
  /** The beginning of a line whose end has not arrived. */
  #partial: Buffer[] = [];
  #field: Field | undefined;
  #excess: HeaderExcess | undefined;

  constructor(options: NormalizerOptions) {
    this.#options = options;
  }

  /** The limit that the message has exceeded. The caller then refuses the message. */
  get excess(): HeaderExcess | undefined {
    return this.#excess;
  }

  /** The text after the colon of the first field of each kept name, unfolded. It is complete once the header block has ended. */
  get kept(): ReadonlyMap<string, string> {
    return this.#kept;
  }

  /**
   * Takes the next piece, whose lines end with CRLF and which may be cut anywhere, and returns what is to be stored of it and of
   * earlier pieces.
   */
  next(piece: Buffer): Buffer[] {
    return this.#isInHeader ? joinAdjacent(this.#readHeader(piece)) : [piece];
  }

  /** Returns what is left at the end of the message. */
  end(): Buffer[] {
    if (!this.#isInHeader) return [];
    const stored: Buffer[] = [];
    if (this.#partial.length > 0) this.#readLine(Buffer.concat(this.#partial.splice(0)), stored);
    this.#endField(stored);
    return stored;
  }

  #readHeader(bytes: Buffer): Buffer[] {
    const stored: Buffer[] = [];
    let start = 0;
    while (this.#isInHeader && this.#excess === undefined) {
      const end = bytes.indexOf(LF, start);
      const rest = bytes.subarray(start, end < 0 ? bytes.length : end + 1);
      this.#count(rest.length, end >= 0);
      this.#partial.push(rest);
      if (end < 0) return stored;
      start = end + 1;
      const line = this.#partial.length === 1 ? rest : Buffer.concat(this.#partial);
      this.#partial = [];
      this.#readLine(line, stored);
    }
    if (start < bytes.length) stored.push(bytes.subarray(start));
    return stored;
  }

  #count(bytes: number, isWhole: boolean): void {
    this.#bytes += bytes;
    if (isWhole) this.#lines += 1;
    if (this.#bytes > MAX_HEADER_BYTES) this.#excess = 'header_bytes';
    else if (this.#lines > MAX_HEADER_LINES) this.#excess = 'header_lines';
  }

  #readLine(line: Buffer, stored: Buffer[]): void {
    if (this.#field && (line[0] === SPACE || line[0] === TAB)) {
      this.#field.lines.push(line);
      if (!this.#field.isHeld) stored.push(line);
      return;
    }
    this.#endField(stored);
    const name = FIELD_NAME.exec(line.toString('latin1', 0, MAX_NAME_CHARACTERS))?.[1]?.toLowerCase();
    if (name === undefined) {
      // Only an empty line ends the header block (RFC 5322 section 2.1). Programs that read the message look for fields after
      // a line that is no field, so forged results are looked for there too.
      if (line.length <= EMPTY_LINE_BYTES) this.#isInHeader = false;
      stored.push(line);
      return;
    }
    if (name === 'received' && ++this.#receivedFields > MAX_RECEIVED_FIELDS) this.#excess = 'received_fields';
    this.#field = { name, lines: [line], isHeld: mayPassAsOwn(name) };
    if (!this.#field.isHeld) stored.push(line);
  }

  #endField(stored: Buffer[]): void {
    const field = this.#field;
    this.#field = undefined;
    if (!field) return;
    if (field.isHeld && !passesAsOwn(field.name, textOf(field, MAX_HEADER_BYTES), this.#options))
      stored.push(...field.lines);
    if (this.#options.keep.has(field.name) && !this.#kept.has(field.name))
      this.#kept.set(field.name, keptValue(field));
  }
}

/** Returns the same octets in fewer pieces: lines that follow one another in one piece of memory are one, so that each field costs less. */
function joinAdjacent(pieces: readonly Buffer[]): Buffer[] {
  const joined: Buffer[] = [];
  for (let at = 0; at < pieces.length; ) {
    const first = pieces[at++] as Buffer;
    let { length } = first;
    for (let next = pieces[at]; next && follows(next, first, length); next = pieces[++at])
      length += next.length;
    joined.push(length === first.length ? first : Buffer.from(first.buffer, first.byteOffset, length));
  }
  return joined;
}

/** Returns true for octets that follow so many others in memory. */
function follows({ buffer, byteOffset }: Buffer, first: Buffer, length: number): boolean {
  return buffer === first.buffer && byteOffset === first.byteOffset + length;
}

/** Returns the value of a field that is kept, as all readers of headers see it. */
function keptValue({ lines }: Field): string {
  const field = Buffer.concat(lines).subarray(0, MAX_KEPT_BYTES);
  return unfoldValue(field.subarray(field.indexOf(':') + 1));
}

/** Returns the text after the colon, unfolded (RFC 5322 section 2.2.3). */
function textOf({ lines }: Field, maxBytes: number): string {
  const text = Buffer.concat(lines).toString('utf8', 0, maxBytes);
  return text.slice(text.indexOf(':') + 1).replaceAll('\r\n', '');
}

type OwnFieldOptions = {
  /** Name of this installation in Authentication-Results fields. */
  authservId: string;
  /**
   * Keys of the recipients (`addressKey`). Undefined for a message that a mail server of this machine hands over: its fields about spam and
   * about the way of the message are not those of a stranger.
   */
  recipients: ReadonlySet<string> | undefined;
};

const SPAM_PREFIX = 'x-spam-';
const SPAM_FIELD = 'x-spam';

/** Returns true for the name, in lower case, of a field that may have to be removed. */
function mayPassAsOwn(name: string): boolean {
  return TESTS.has(name) || isSpamField(name);
}

/** Returns true for a field that could pass as one of this installation. `text` is the field after its colon. */
function passesAsOwn(name: string, text: string, options: OwnFieldOptions): boolean {
  if (isSpamField(name)) return options.recipients !== undefined;
  return TESTS.get(name)?.(text, options) ?? false;
}

/** Verdicts of spam filters name no server, so that every one could be ours. */
function isSpamField(name: string): boolean {
  return name === SPAM_FIELD || name.startsWith(SPAM_PREFIX);
}

type Test = (text: string, options: OwnFieldOptions) => boolean;

const TESTS: ReadonlyMap<string, Test> = new Map([
  // The field is added anew (RFC 5321 section 4.4).
  ['return-path', () => true],
  ['authentication-results', (text, { authservId }) => namesAuthservId(text, authservId)],
  [
    'received-spf',
    (text, { authservId, recipients }) => recipients !== undefined && isOwnSpfResult(text, authservId),
  ],
  ['delivered-to', (text, { recipients }) => recipients?.has(addressKey(addressOf(text))) ?? false],
] satisfies [string, Test][]);

/** Matches the key before the receiver of a Received-SPF field, and the comment in which many servers name themselves (RFC 7208 section 9.1). */
const RECEIVER = /(?<![\w.-])receiver\s*=/gi;
const NAMED_IN_COMMENT = /^[^(]*\(\s*([^\s:()]+)\s*:/;

/** A result could be ours without the name of the server that has found it, and with several receivers, one of which a reader may miss. */
function isOwnSpfResult(text: string, authservId: string): boolean {
  const [receiver, ...others] = text.matchAll(RECEIVER);
  if (others.length > 0) return true;
  if (receiver) return namesAuthservId(text.slice(receiver.index + receiver[0].length), authservId);
  const named = NAMED_IN_COMMENT.exec(text)?.[1];
  return named === undefined || hostName(named) === hostName(authservId);
}

function addressOf(text: string): string {
  return (/<([^<>]*)>/.exec(text)?.[1] ?? text).trim();
}
