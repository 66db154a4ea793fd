/** The message of a run, whose header a script may edit (RFC 5293). */
import { findOctet } from '../../find-octet.ts';
import { readFieldLines } from '../../message/header-block.ts';
import { LF } from '../../octets.ts';
import { type HeaderLines, HeaderView } from './header-view.ts';

const CRLF = Buffer.from('\r\n');

/** Maximum size of a header that a script has edited. Our own limit, that of messages which are received. */
const MAX_EDITED_HEADER_OCTETS = 256 * 1024;

export class SieveMessage {
  readonly octets: Buffer;
  readonly sizeBytes: number;
  #fields: readonly HeaderLines[];
  #header: HeaderView;
  #isEdited = false;
  #edited: Buffer | undefined;

  constructor({ octets, sizeBytes }: { octets: Uint8Array; sizeBytes: number }) {
    this.octets = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength);
    this.sizeBytes = sizeBytes;
    this.#fields = readLines(this.octets);
    this.#header = new HeaderView(this.#fields);
  }

  get fields(): readonly HeaderLines[] {
    return this.#fields;
  }

  get header(): HeaderView {
    return this.#header;
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
}

function readLines(octets: Buffer): HeaderLines[] {
  const lines: HeaderLines[] = [];
  for (const { name, start, end, value } of readFieldLines(octets, { start: 0, end: octets.length })) {
    if (name === '' && isEmptyLine(octets, start)) break;
    lines.push({ name, lines: octets.subarray(start, end), valueStart: value - start });
  }
  return lines;
}

function isEmptyLine(octets: Buffer, start: number): boolean {
  const end = findOctet(octets, LF, start);
  return end >= 0 && octets.toString('latin1', start, end).trim() === '';
}
