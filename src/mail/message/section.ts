/**
 * Finds what FETCH asks for in the octets of a stored message (RFC 9051 section 6.4.5.1), from the offsets of its parts alone. All
 * functions are total: what a message does not have is undefined.
 */
import { type OctetRange, readFieldLines } from './header-block.ts';

/** A message or a part of one, as it is stored with the message. Offsets are those of `MimeEntity`. */
export type StoredPart = {
  header: number;
  body: number;
  end: number;
  /** Transfer encoding in lower case. */
  encoding: string;
  /** Parts of a multipart; empty for other types. */
  parts: readonly StoredPart[];
  /** The message inside a message/rfc822 or message/global. */
  message?: StoredPart | undefined;
};

export type Section = {
  /** Numbers of nested parts such as 1.2.3; empty for the whole message. */
  part: readonly number[];
  /** Kind of text; undefined for the whole message or the body of the part. */
  text: 'HEADER' | 'HEADER.FIELDS' | 'HEADER.FIELDS.NOT' | 'TEXT' | 'MIME' | undefined;
  /** Names of header fields in any case. */
  fields: readonly string[];
};

/** Octets from `offset` on, at most `count`. */
export type PartialRange = { offset: number; count: number };

/** Returns the octets of a section before header fields are chosen (`chooseFields`); undefined when there is no such section. */
export function findSection(root: StoredPart, { part, text }: Section): OctetRange | undefined {
  if (part.length === 0) return rangeOf(root, text);
  const found = findPart(root, part);
  if (!found) return undefined;
  if (text === 'MIME') return { start: found.header, end: found.body };
  if (text === undefined) return { start: found.body, end: found.end };
  return found.message && rangeOf(found.message, text);
}

function rangeOf({ header, body, end }: StoredPart, text: Section['text']): OctetRange | undefined {
  if (text === 'MIME') return undefined;
  if (text === undefined) return { start: header, end };
  return text === 'TEXT' ? { start: body, end } : { start: header, end: body };
}

/**
 * Returns the part with these numbers. Those of a multipart count its parts; a message that is not a multipart has its body as part 1;
 * the parts of a message in a message have the numbers of its own parts behind that of the outer one.
 */
function findPart(root: StoredPart, numbers: readonly number[]): StoredPart | undefined {
  let found: StoredPart | undefined;
  let container: StoredPart | undefined = root;
  let isMessage = true;
  for (const number of numbers) {
    found = innerPart(container, number, isMessage);
    isMessage = found?.message !== undefined;
    container = found?.message ?? found;
  }
  return found;
}

function innerPart(
  container: StoredPart | undefined,
  number: number,
  isMessage: boolean,
): StoredPart | undefined {
  if (!container || container.parts.length > 0) return container?.parts[number - 1];
  return isMessage && number === 1 ? container : undefined;
}

/**
 * Returns the header with the fields that a section asks for, or without those that it does not (RFC 9051 section 6.4.5.1). The
 * empty line at its end stays. A section of other text is returned as it is.
 */
export function chooseFields(header: Buffer, { text, fields }: Pick<Section, 'text' | 'fields'>): Buffer {
  if (text !== 'HEADER.FIELDS' && text !== 'HEADER.FIELDS.NOT') return header;
  const names = new Set(fields.map((name) => name.toLowerCase()));
  const chosen: Buffer[] = [];
  for (const { name, start, end } of readFieldLines(header, { start: 0, end: header.length })) {
    const isNamed = names.has(name);
    const lines = header.subarray(start, end);
    if (isNamed === (text === 'HEADER.FIELDS') || isEmptyLine(lines)) chosen.push(lines);
  }
  return Buffer.concat(chosen);
}

/**
 * Chooses fields of the headers of one message. The lines of a header are found once when several sections choose from it, because a client
 * may ask for hundreds of sections.
 */
export class FieldChooser {
  /** True once a section has chosen. Most messages have one, for which lines need no names. */
  #isUsed = false;
  /** Headers by their offset. */
  #headers: Map<number, HeaderLines> | undefined;

  /** Returns what `chooseFields` returns for the header at this offset of the message, which is always the same one. */
  choose(header: Buffer, offset: number, section: Pick<Section, 'text' | 'fields'>): Buffer {
    if (section.text !== 'HEADER.FIELDS' && section.text !== 'HEADER.FIELDS.NOT') return header;
    if (!this.#isUsed) {
      this.#isUsed = true;
      return chooseFields(header, section);
    }
    this.#headers ??= new Map();
    const lines = this.#headers.get(offset) ?? new HeaderLines(header);
    this.#headers.set(offset, lines);
    return lines.choose(section);
  }
}

/** The lines of a header by the names of their fields. */
class HeaderLines {
  readonly #lines: Buffer[] = [];
  /** Indexes of lines by the name of their field, in lower case. Empty lines have the empty name. */
  readonly #byName = new Map<string, number[]>();

  constructor(header: Buffer) {
    for (const { name, start, end } of readFieldLines(header, { start: 0, end: header.length })) {
      const lines = header.subarray(start, end);
      const index = this.#lines.push(lines) - 1;
      if (name === '' && !isEmptyLine(lines)) continue;
      const known = this.#byName.get(name);
      if (known) known.push(index);
      else this.#byName.set(name, [index]);
    }
  }

  choose({ text, fields }: Pick<Section, 'text' | 'fields'>): Buffer {
    const names = new Set(fields.map((name) => name.toLowerCase()));
    const named = [...names].flatMap((name) => this.#byName.get(name) ?? []);
    if (text === 'HEADER.FIELDS') {
      const chosen = [...named, ...(this.#byName.get('') ?? [])].sort((a, b) => a - b);
      return Buffer.concat(chosen.map((index) => this.#lines[index] as Buffer));
    }
    const left = new Set(named);
    return Buffer.concat(this.#lines.filter((_, index) => !left.has(index)));
  }
}

function isEmptyLine(line: Buffer): boolean {
  return line.length <= 2 && line.toString('latin1').trim() === '';
}

/** Returns the octets of a range that a partial FETCH asks for. It is empty when it begins after the end. */
export function partialRange({ start, end }: OctetRange, partial: PartialRange | undefined): OctetRange {
  if (!partial) return { start, end };
  const from = Math.min(start + partial.offset, end);
  return { start: from, end: Math.min(from + partial.count, end) };
}

/**
 * Returns the octets of a part that BINARY decodes, and their transfer encoding (RFC 9051 section 6.4.5); undefined
 * when there is no such part. The whole message and a part with parts inside are not encoded.
 */
export function findBinary(
  root: StoredPart,
  part: readonly number[],
): { range: OctetRange; encoding: string } | undefined {
  const range = findSection(root, { part, text: undefined, fields: [] });
  const found = findPart(root, part);
  const hasParts = !found || found.parts.length > 0 || found.message !== undefined;
  return range && { range, encoding: hasParts ? 'binary' : found.encoding };
}
