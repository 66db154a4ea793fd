/**
 * Reads the addresses of a field as they stand, with groups, source routes and comments (RFC 5322 sections 3.4 and 4.4), for ENVELOPE.
 * It never fails: what is not an address becomes one with a missing part. Encoded-words stay as they are.
 */
import { endOfComment, unquote } from './tokens.ts';

/**
 * An address, or the mark of a group (RFC 9051 section 7.5.2): its start has a name in `mailbox` and no host, its end has neither.
 */
export type EnvelopeAddress = {
  name: string | null;
  route: string | null;
  mailbox: string | null;
  host: string | null;
};

/** Values for parts that an address lacks, as other servers write them: NIL would mark a group. */
export const MISSING_MAILBOX = 'MISSING_MAILBOX';
export const MISSING_HOST = 'MISSING_DOMAIN';

/** The address in place of those that a program without UTF-8 could not write to. Nobody ever has it (RFC 6858 section 2.1). */
const NOBODY = { route: null, mailbox: 'invalid', host: 'internationalized-address.invalid' } as const;

/** Returns what is shown in place of an address in UTF-8 (RFC 6858 section 2.1): its name says which address it was. */
export function surrogateAddress({ name, mailbox, host }: EnvelopeAddress): EnvelopeAddress {
  const address = `${mailbox}@${host}`;
  return { ...NOBODY, name: name === null ? address : `${name} (${address})` };
}

const GROUP_END: EnvelopeAddress = { name: null, route: null, mailbox: null, host: null };

/** The text of an address so far: as a phrase, with its spaces, and as an address, without them. */
type Words = {
  phrase: string;
  spec: string;
  /** Position of the last `@` in `spec` that is not quoted; -1 when there is none. */
  at: number;
  /** True when `spec` begins with an `@`, as a source route does. */
  isRoute: boolean;
  hasSpace: boolean;
};

const EMPTY: Readonly<Words> = { phrase: '', spec: '', at: -1, isRoute: false, hasSpace: false };

/**
 * Matches a quoted string or domain literal, either of which may lack its end, an encoded-word, whatever it contains, or other text
 * without a special character.
 */
const WORD = /"(?:[^"\\]+|\\[\s\S])*"?|\[[^\]]*\]?|=\?[^?\s]{1,64}\?[BbQq]\?[^?\s]*\?=|[^\s()<>,;:"@[]+/y;
const SPACES = /\s+/y;

/** Returns the addresses and the marks of groups, in order, and at most so many of them. */
export function readAddressList(text: string, maxAddresses: number): EnvelopeAddress[] {
  return new AddressReader(text, maxAddresses).read();
}

class AddressReader {
  readonly #text: string;
  readonly #max: number;
  readonly #addresses: EnvelopeAddress[] = [];
  #words: Words = { ...EMPTY };
  /** The phrase in front of the address that is in angle brackets; undefined outside of them. */
  #name: string | undefined;
  /** True after the angle brackets: the words up to the next address mean nothing. */
  #isComplete = false;
  #route: string | null = null;
  #comment = '';
  #isInGroup = false;

  constructor(text: string, maxAddresses: number) {
    this.#text = text;
    this.#max = maxAddresses;
  }

  read(): EnvelopeAddress[] {
    for (let at = 0; at < this.#text.length && this.#addresses.length < this.#max; ) at = this.#step(at);
    this.#endAddress();
    if (this.#isInGroup) this.#addresses.push(GROUP_END);
    return this.#addresses.slice(0, this.#max);
  }

  /** Reads one element and returns the position after it. */
  #step(at: number): number {
    const character = this.#text[at] ?? '';
    if (character === '(') return this.#readComment(at);
    const spaces = this.#match(SPACES, at);
    const word = spaces === '' ? this.#match(WORD, at) : '';
    if (spaces !== '') this.#words.hasSpace = true;
    else if (word !== '') this.#addWord(word);
    else this.#readSpecial(character);
    return at + Math.max(1, spaces.length + word.length);
  }

  #readSpecial(character: string): void {
    if (character === ',') this.#readComma();
    else if (character === ';') this.#endGroup();
    else if (character === ':') this.#readColon();
    else if (character === '<') this.#openAngle();
    else if (character === '>') this.#isComplete = this.#name !== undefined;
    else if (character === '@') this.#readAt();
  }

  /** Hosts of a source route are separated by commas too. */
  #readComma(): void {
    if (this.#name !== undefined && this.#words.isRoute && !this.#isComplete) this.#addWord(',');
    else this.#endAddress();
  }

  #readAt(): void {
    const words = this.#words;
    if (this.#isComplete) return;
    words.isRoute ||= words.spec === '';
    words.at = words.spec.length;
    words.hasSpace = false;
    this.#addWord('@');
  }

  #match(pattern: RegExp, at: number): string {
    pattern.lastIndex = at;
    return pattern.exec(this.#text)?.[0] ?? '';
  }

  /** Some programs write the name of a person as a comment after the address (RFC 5322 section 3.4). */
  #readComment(at: number): number {
    const end = endOfComment(this.#text, at);
    this.#comment ||= this.#text
      .slice(at + 1, end)
      .replace(/\)$/, '')
      .replace(/\\([\s\S])/g, '$1')
      .trim();
    this.#words.hasSpace = true;
    return end;
  }

  #addWord(word: string): void {
    const words = this.#words;
    if (this.#isComplete) return;
    const plain = word.startsWith('"') ? unquote(word) : word;
    const space = words.hasSpace && words.phrase !== '' ? ' ' : '';
    words.phrase += space + plain;
    words.spec += plain;
    words.hasSpace = false;
  }

  #openAngle(): void {
    if (this.#isComplete) return;
    this.#name ??= this.#words.phrase;
    this.#words = { ...EMPTY };
  }

  /** A colon ends the name of a group, or a source route (RFC 5322 section 4.4). */
  #readColon(): void {
    const { phrase, spec, isRoute, at } = this.#words;
    if (this.#isComplete) return;
    const startsGroup = this.#name === undefined && !this.#isInGroup && at < 0;
    if (!startsGroup && !(this.#name !== undefined && isRoute)) {
      this.#addWord(':');
      return;
    }
    if (startsGroup) this.#addresses.push({ ...GROUP_END, mailbox: phrase });
    else this.#route = spec;
    this.#isInGroup ||= startsGroup;
    if (startsGroup) this.#comment = '';
    this.#words = { ...EMPTY };
  }

  #endGroup(): void {
    this.#endAddress();
    if (this.#isInGroup) this.#addresses.push(GROUP_END);
    this.#isInGroup = false;
  }

  #endAddress(): void {
    const { spec, at } = this.#words;
    const name = this.#name || this.#comment || null;
    if (this.#name !== undefined || spec !== '') {
      const mailbox = at < 0 ? spec : spec.slice(0, at);
      const host = at < 0 ? '' : spec.slice(at + 1);
      this.#addresses.push({
        name,
        route: this.#route,
        mailbox: mailbox || MISSING_MAILBOX,
        host: host || MISSING_HOST,
      });
    }
    this.#words = { ...EMPTY };
    this.#name = undefined;
    this.#isComplete = false;
    this.#route = null;
    this.#comment = '';
  }
}
