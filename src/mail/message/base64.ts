/**
 * Base64 as a body (RFC 2045 section 6.8): lines of 76 characters, produced in slices, so that a large attachment is
 * in memory only once. Input that is base64 already is only cut into lines.
 */
import { CR, LF } from '../octets.ts';

export type Base64Source =
  /** Canonical base64 (RFC 4648 section 4) without line breaks. The code that accepted it has checked it. */
  { kind: 'base64'; ascii: Uint8Array } | { kind: 'bytes'; bytes: Uint8Array };

/** Maximum length of a line (RFC 2045 section 6.8). */
const LINE_CHARACTERS = 76;
const LINE_BYTES = (LINE_CHARACTERS / 4) * 3;
/**
 * Number of lines per slice, about 156 KiB: large enough for one write to a file, small enough to take a fraction of
 * a millisecond.
 */
const SLICE_LINES = 2_048;

/** Yields the lines of the encoded form with CRLF between them, and none after the last. */
export function* base64Lines(source: Base64Source): Generator<Buffer> {
  const [input, perLine] =
    source.kind === 'base64' ? [source.ascii, LINE_CHARACTERS] : [source.bytes, LINE_BYTES];
  const sliceLength = SLICE_LINES * perLine;
  for (let start = 0; start < input.length; start += sliceLength) {
    const slice = bufferOf(input.subarray(start, start + sliceLength));
    const characters = source.kind === 'base64' ? slice : Buffer.from(slice.toString('base64'), 'latin1');
    yield cutIntoLines(characters, start > 0);
  }
}

/** Returns the decoded bytes. */
export function bytesOf(source: Base64Source): Buffer {
  if (source.kind === 'bytes') return bufferOf(source.bytes);
  return Buffer.from(bufferOf(source.ascii).toString('latin1'), 'base64');
}

function cutIntoLines(characters: Buffer, continues: boolean): Buffer {
  const breaks = Math.ceil(characters.length / LINE_CHARACTERS) - (continues ? 0 : 1);
  const output = Buffer.allocUnsafe(characters.length + 2 * breaks);
  let at = 0;
  for (let start = 0; start < characters.length; start += LINE_CHARACTERS) {
    if (continues || start > 0) {
      output[at++] = CR;
      output[at++] = LF;
    }
    at += characters.copy(output, at, start, start + LINE_CHARACTERS);
  }
  return output;
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
