/**
 * Finds the parts of a message, as offsets of its octets. The octets are read once, line by line, so that the time is linear whatever
 * a stranger wrote: a line is compared with all open boundaries by one look into a map. A line ends with LF, with or without CR.
 */

import { CR, findOctet, LF, SPACE, TAB } from '../octets.ts';
import { findValue, type HeaderField, readFields, startsField } from './header-block.ts';
import { type MimeParameter, type ParameterField, readParameterField, readToken } from './mime-fields.ts';
import { isIdentityEncoding } from './transfer-encoding.ts';

/** A message or a part of one. Its body begins where its header ends; the header includes the empty line. */
export type MimeEntity = {
  /** Offset of the header. */
  header: number;
  /** Offset of the body. */
  body: number;
  /** Offset of the end of the body. */
  end: number;
  /** Number of line ends in the body. */
  lines: number;
  fields: HeaderField[];
  /** Media type in lower case; the default where the field is missing or not valid (RFC 2045 section 5.2). */
  type: string;
  subtype: string;
  parameters: MimeParameter[];
  /** Transfer encoding in lower case (RFC 2045 section 6). */
  encoding: string;
  disposition: ParameterField | undefined;
  /** Parts of a multipart, of which there is at least one. */
  parts: MimeEntity[];
  /** The message inside a message/rfc822 or message/global. */
  message: MimeEntity | undefined;
};

/** Reports a message with more parts, or deeper ones, than any program writes. */
export class TooComplexError extends Error {
  override readonly name = 'TooComplexError';
}

/** Maximum depth of parts in parts. Forwarded mail has a level or two each time, and readers show far fewer. */
export const MAX_DEPTH = 100;
/** Maximum number of parts. Digests have some hundreds. */
export const MAX_PARTS = 10_000;
/** Maximum length of a line with a boundary. RFC 2046 section 5.1.1 allows 70 characters; some programs write more. */
const MAX_BOUNDARY_OCTETS = 998;

const HYPHEN = 0x2d;

/** A multipart whose end has not been reached. Others may have the same boundary. */
type OpenMultipart = { boundary: string; outer: OpenMultipart | undefined };

/** A line that delimits the parts of an open multipart. */
type Delimiter = OctetLine & { multipart: OpenMultipart; isLast: boolean };
type OctetLine = { start: number; next: number };

type Position = { depth: number; defaultType: 'text/plain' | 'message/rfc822' };

/**
 * Returns the tree of a message.
 * @throws TooComplexError when it exceeds MAX_DEPTH or the maximum number of parts
 */
export function readMimeTree(octets: Buffer, maxParts = MAX_PARTS): MimeEntity {
  return new TreeReader(octets, maxParts).readEntity({ depth: 0, defaultType: 'text/plain' });
}

class TreeReader {
  readonly #octets: Buffer;
  readonly #maxParts: number;
  readonly #open = new Map<string, OpenMultipart>();
  /** The delimiter that ended the last entity; undefined at the end of the message. */
  #delimiter: Delimiter | undefined;
  #at = 0;
  /** Offset at which the innermost part of a multipart began. */
  #partStart = 0;
  /** Number of line ends before `#at`. */
  #lines = 0;
  #parts = 0;

  constructor(octets: Buffer, maxParts: number) {
    this.#octets = octets;
    this.#maxParts = maxParts;
  }

  /** Reads an entity up to the delimiter that ends it. */
  readEntity(position: Position): MimeEntity {
    this.#parts++;
    if (this.#parts > this.#maxParts || position.depth > MAX_DEPTH)
      throw new TooComplexError('it has too many parts');
    const header = this.#at;
    this.#readHeader();
    const body = this.#at;
    const lines = this.#lines;
    const fields = readFields(this.#octets, { start: header, end: body });
    const entity: MimeEntity = {
      header,
      body,
      end: body,
      lines: 0,
      fields,
      ...readType(valuesOf(fields, 'content-type'), position.defaultType),
      encoding: readToken(findValue(fields, 'content-transfer-encoding') ?? '') || '7bit',
      disposition: readParameterField(findValue(fields, 'content-disposition') ?? ''),
      parts: [],
      message: undefined,
    };
    if (!this.#delimiter) this.#readBody(entity, position);
    return this.#finish(entity, lines);
  }

  /**
   * Reads up to the empty line, which is a part of the header. A delimiter ends the header too. Lines at its end that are no fields are
   * the beginning of a body whose empty line is missing.
   */
  #readHeader(): void {
    this.#delimiter = undefined;
    let bodyStart: { at: number; lines: number } | undefined;
    while (this.#at < this.#octets.length) {
      const line = this.#peekLine();
      this.#delimiter = this.#delimiterOf(line);
      const isEmpty = contentEnd(this.#octets, line) === line.start;
      if (this.#delimiter || isEmpty) {
        if (!this.#delimiter) this.#consume(line);
        break;
      }
      if (startsField(this.#octets, { start: line.start, end: line.next })) bodyStart = undefined;
      else if (!isFolded(this.#octets, line)) bodyStart ??= { at: line.start, lines: this.#lines };
      this.#consume(line);
    }
    if (!bodyStart) return;
    this.#delimiter = undefined;
    this.#at = bodyStart.at;
    this.#lines = bodyStart.lines;
  }

  #readBody(entity: MimeEntity, { depth }: Position): void {
    const { type, subtype, parameters } = entity;
    const boundary = type === 'multipart' ? boundaryOf(parameters) : '';
    if (boundary !== '') {
      const defaultType = subtype === 'digest' ? 'message/rfc822' : 'text/plain';
      this.#readParts(entity, boundary, { depth: depth + 1, defaultType });
    } else if (isMessage(entity)) {
      entity.message = this.readEntity({ depth: depth + 1, defaultType: 'text/plain' });
    } else {
      this.#skipToDelimiter();
    }
  }

  #readParts({ parts }: MimeEntity, boundary: string, position: Position): void {
    const multipart = { boundary, outer: this.#open.get(boundary) };
    this.#open.set(boundary, multipart);
    this.#skipToDelimiter();
    while (this.#delimiter?.multipart === multipart && !this.#delimiter.isLast) {
      this.#consume(this.#delimiter);
      this.#partStart = this.#at;
      parts.push(this.readEntity(position));
    }
    if (multipart.outer) this.#open.set(boundary, multipart.outer);
    else this.#open.delete(boundary);
    // An epilogue follows the last delimiter (RFC 2046 section 5.1.1).
    if (this.#delimiter?.multipart === multipart) {
      this.#consume(this.#delimiter);
      this.#skipToDelimiter();
    }
  }

  #skipToDelimiter(): void {
    this.#delimiter = undefined;
    while (this.#at < this.#octets.length) {
      const line = this.#peekLine();
      this.#delimiter = this.#delimiterOf(line);
      if (this.#delimiter) return;
      this.#consume(line);
    }
  }

  /**
   * Ends an entity before the delimiter. The line end in front of a delimiter belongs to it, even when it is the empty line of a header
   * (RFC 2046 section 5.1.1).
   */
  #finish(entity: MimeEntity, linesBefore: number): MimeEntity {
    const { start = this.#at } = this.#delimiter ?? {};
    const end = this.#delimiter ? contentEnd(this.#octets, { start: this.#partStart, next: start }) : start;
    const lines = this.#lines - linesBefore - (end < start ? 1 : 0);
    entity.header = Math.min(entity.header, end);
    entity.lines = entity.body < end ? lines : 0;
    entity.body = Math.min(entity.body, end);
    entity.end = end;
    // A multipart has at least one part. Its body is shown as it is when it has none.
    if (entity.type === 'multipart' && entity.parts.length === 0) {
      const types = readTypes(valuesOf(entity.fields, 'content-type'));
      Object.assign(entity, chooseType(types.filter(({ type }) => type !== 'multipart')));
    }
    return entity;
  }

  #peekLine(): OctetLine {
    const end = findOctet(this.#octets, LF, this.#at);
    return { start: this.#at, next: end < 0 ? this.#octets.length : end + 1 };
  }

  #consume({ next }: OctetLine): void {
    if (next > 0 && this.#octets[next - 1] === LF) this.#lines++;
    this.#at = next;
  }

  /**
   * Returns the delimiter that a line is. Only white space may follow the boundary. RFC 2046 section 5.1.1 would compare the beginning of
   * the line alone, but the boundary of a multipart may be the beginning of that of another one inside.
   */
  #delimiterOf(line: OctetLine): Delimiter | undefined {
    const { start } = line;
    if (this.#octets[start] !== HYPHEN || this.#octets[start + 1] !== HYPHEN || this.#open.size === 0)
      return undefined;
    if (line.next - start > MAX_BOUNDARY_OCTETS) return undefined;
    let end = contentEnd(this.#octets, line);
    while (end > start && (this.#octets[end - 1] === SPACE || this.#octets[end - 1] === TAB)) end--;
    const text = this.#octets.toString('latin1', start + 2, end);
    const next = this.#open.get(text);
    if (next) return { ...line, multipart: next, isLast: false };
    const last = text.endsWith('--') ? this.#open.get(text.slice(0, -2)) : undefined;
    return last && { ...line, multipart: last, isLast: true };
  }
}

/** Returns the boundary as one character for each octet, without the white space at its end; empty when there is none. */
function boundaryOf(parameters: readonly MimeParameter[]): string {
  const value = parameters.find(({ name }) => name === 'boundary')?.value ?? '';
  return Buffer.from(value.trimEnd()).toString('latin1');
}

function isFolded(octets: Buffer, { start }: OctetLine): boolean {
  return octets[start] === SPACE || octets[start] === TAB;
}

/** Returns the offset at which the content of lines ends and their last line end begins. */
function contentEnd(octets: Buffer, { start, next }: OctetLine): number {
  if (next <= start || octets[next - 1] !== LF) return next;
  return next - 1 > start && octets[next - 2] === CR ? next - 2 : next - 1;
}

const TYPE = /^([^/]+)\/([^/]+)$/;

type MediaType = Pick<MimeEntity, 'type' | 'subtype' | 'parameters'>;

function readType(values: readonly string[], defaultType: Position['defaultType']): MediaType {
  return chooseType(readTypes(values.length === 0 ? [defaultType] : values));
}

/**
 * Chooses one of several types: a multipart with a boundary before others, because its body shows whether it is one, and else the first.
 */
function chooseType(types: readonly MediaType[]): MediaType {
  const multipart = types.find(
    ({ type, parameters }) => type === 'multipart' && boundaryOf(parameters) !== '',
  );
  return multipart ?? types[0] ?? { type: 'text', subtype: 'plain', parameters: [] };
}

/** Reads the values of Content-Type, of which there should be one. One that is not valid means plain text (RFC 2045 section 5.2). */
function readTypes(values: readonly string[]): MediaType[] {
  const fields = values.flatMap((value) => readParameterField(value) ?? []);
  const valid = fields.flatMap(({ value, parameters }) => {
    const [, type = '', subtype = ''] = TYPE.exec(value) ?? [];
    return type === '' ? [] : [{ type, subtype, parameters }];
  });
  const [first] = fields;
  return valid.length > 0 || !first
    ? valid
    : [{ type: 'text', subtype: 'plain', parameters: first.parameters }];
}

function valuesOf(fields: readonly HeaderField[], name: string): string[] {
  return fields.filter((field) => field.name === name).map(({ value }) => value);
}

/** A message that is encoded, which RFC 2046 section 5.2.1 forbids, is not taken apart. */
function isMessage({ type, subtype, encoding }: MimeEntity): boolean {
  return type === 'message' && (subtype === 'rfc822' || subtype === 'global') && isIdentityEncoding(encoding);
}

/** Maximum size of the header of an opaque message that is read. Reading it takes milliseconds. */
const MAX_OPAQUE_HEADER_OCTETS = 64 * 1024;

/** Returns a message as one part of unknown content, with the fields of its header, in little time. */
export function readOpaque(octets: Buffer): MimeEntity {
  const body = findBody(octets);
  const fields = readFields(octets, { start: 0, end: Math.min(body, MAX_OPAQUE_HEADER_OCTETS) });
  const description = { type: 'application', subtype: 'octet-stream', parameters: [], encoding: '8bit' };
  const inner = { disposition: undefined, parts: [], message: undefined };
  return { header: 0, body, end: octets.length, lines: 0, fields, ...description, ...inner };
}

/** Returns the structure of a message; one that is too complex is one part of unknown content. */
export function readTreeOrOpaque(octets: Buffer): MimeEntity {
  try {
    return readMimeTree(octets);
  } catch (error) {
    if (error instanceof TooComplexError) return readOpaque(octets);
    throw error;
  }
}

/** Returns the offset after the first empty line. */
function findBody(octets: Buffer): number {
  for (let start = 0; start < octets.length; ) {
    const end = findOctet(octets, LF, start);
    if (end < 0) break;
    if (contentEnd(octets, { start, next: end + 1 }) === start) return end + 1;
    start = end + 1;
  }
  return octets.length;
}
