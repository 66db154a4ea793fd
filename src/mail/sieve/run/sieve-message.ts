/** The message of a run, whose header a script may edit (RFC 5293), and its parts. */
import { readFieldLines } from '../../message/header-block.ts';
import { type MimeEntity, readTreeOrOpaque } from '../../message/mime-tree.ts';
import { findOctet, LF } from '../../octets.ts';
import { MatchValue } from '../comparator.ts';
import { type HeaderLines, HeaderView } from './header-view.ts';

const CRLF = Buffer.from('\r\n');

/** Maximum size of a header that a script has edited. It is that of messages which are received. */
const MAX_EDITED_HEADER_OCTETS = 256 * 1024;

/** A part of a message, or the message itself as its outermost part. */
export type SievePart = {
  entity: MimeEntity;
  header: HeaderView;
  /** Parts of a multipart, or the message inside a message. */
  parts: readonly SievePart[];
};

/** Texts of a part: as it was transferred, decoded, without markup, its header, and what stands around the parts of a multipart. */
export type TextKind = 'raw' | 'content' | 'visible' | 'header' | 'prologue' | 'epilogue';

export class SieveMessage {
  readonly octets: Buffer;
  readonly sizeBytes: number;
  #fields: readonly HeaderLines[];
  #header: HeaderView;
  #isEdited = false;
  #edited: Buffer | undefined;
  #root: SievePart | undefined;
  readonly #texts: Readonly<Record<TextKind, Map<MimeEntity, MatchValue>>> = {
    raw: new Map(),
    content: new Map(),
    visible: new Map(),
    header: new Map(),
    prologue: new Map(),
    epilogue: new Map(),
  };

  constructor({ octets, sizeBytes }: { octets: Uint8Array; sizeBytes: number }) {
    this.octets = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength);
    this.sizeBytes = sizeBytes;
    this.#fields = readLines(this.octets, 0);
    this.#header = new HeaderView(this.#fields);
  }

  get fields(): readonly HeaderLines[] {
    return this.#fields;
  }

  get header(): HeaderView {
    return this.#header;
  }

  /** The message as a part. One that is too complex has no parts inside. */
  get root(): SievePart {
    this.#root ??= this.#toPart(readTreeOrOpaque(this.octets));
    return { ...this.#root, header: this.#header };
  }

  /**
   * Replaces the fields of the header.
   * @returns false when the header would be larger than any that is received
   */
  edit(fields: readonly HeaderLines[]): boolean {
    if (fields.reduce((sum, { lines }) => sum + lines.length, 0) > MAX_EDITED_HEADER_OCTETS) return false;
    this.#fields = fields;
    this.#header = new HeaderView(fields);
    this.#isEdited = true;
    this.#edited = undefined;
    return true;
  }

  /** Returns the header with its empty line; undefined when it was not edited. */
  editedHeader(): Buffer | undefined {
    if (this.#isEdited) this.#edited ??= Buffer.concat([...this.#fields.map(({ lines }) => lines), CRLF]);
    return this.#edited;
  }

  /** Returns a text of a part, which is read once: rules may ask for it many times. */
  textOf(kind: TextKind, part: MimeEntity, read: () => string): MatchValue {
    const known = this.#texts[kind];
    const text = known.get(part) ?? new MatchValue(read());
    known.set(part, text);
    return text;
  }

  /** Returns a part as a message of its own. */
  partAsMessage({ entity }: SievePart): SieveMessage {
    const octets = this.octets.subarray(entity.header, entity.end);
    return new SieveMessage({ octets, sizeBytes: octets.length });
  }

  #toPart(entity: MimeEntity): SievePart {
    const header = new HeaderView(readLines(this.octets.subarray(0, entity.body), entity.header));
    const inner = entity.message ? [entity.message] : entity.parts;
    return { entity, header, parts: inner.map((part) => this.#toPart(part)) };
  }
}

/** Reads the lines of a header up to its empty line. */
function readLines(octets: Buffer, from: number): HeaderLines[] {
  const lines: HeaderLines[] = [];
  for (const { name, start, end, value } of readFieldLines(octets, { start: from, end: octets.length })) {
    if (name === '' && isEmptyLine(octets, start)) break;
    lines.push({ name, lines: octets.subarray(start, end), valueStart: value - start });
  }
  return lines;
}

function isEmptyLine(octets: Buffer, start: number): boolean {
  const end = findOctet(octets, LF, start);
  return octets.toString('latin1', start, end < 0 ? octets.length : end).trim() === '';
}
