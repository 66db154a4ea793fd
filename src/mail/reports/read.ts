/** Finds the report in a message and reads it. Hostile reports can be slow to read, so this runs in a thread (reader.ts). */

import { gunzipSync, inflateRawSync } from 'node:zlib';
import { decodeCharset } from '../message/charset.ts';
import { toLines } from '../message/lenient-header.ts';
import { type MimePart, partBytes, readMessage } from '../message/lenient-parts.ts';
import { UnreadableDocumentError } from '../xml.ts';
import { readDmarcReport } from './dmarc.ts';
import type { Report } from './report.ts';
import { readTlsReport } from './tls.ts';

/** Maximum number of files of a message that are tried. A report has one. */
const MAX_FILES = 4;
/** Media types of the parts that people read. */
const TEXT_TYPES: ReadonlySet<string> = new Set(['text/plain', 'text/html']);

/** Returns the report in a message, given in octets as they came; undefined when there is none that can be read. */
export function readReport(message: Uint8Array): Report | undefined {
  const { parts } = readMessage(toLines(message));
  // Some reporters call the file a text, so texts are tried last.
  const files = [...parts.filter(isFile), ...parts.filter((part) => !isFile(part))];
  for (const part of files.slice(0, MAX_FILES)) {
    const report = attempt(part);
    if (report) return report;
  }
  return undefined;
}

/** Names and media types of the files differ between servers, so their content decides. */
function isFile({ type }: MimePart): boolean {
  return !TEXT_TYPES.has(type);
}

function attempt(part: MimePart): Report | undefined {
  try {
    const text = decode(unpack(partBytes(part))).trimStart();
    if (text.startsWith('<')) return readDmarcReport(text);
    return text.startsWith('{') ? readTlsReport(text) : undefined;
  } catch (error) {
    if (error instanceof UnreadableDocumentError) return undefined;
    throw error;
  }
}

/** Returns the text of a file. Labels of encodings are often wrong: a byte order mark or valid UTF-8 counts, and anything else is windows-1252. */
function decode(bytes: Buffer): string {
  const mark = bytes.length < 2 ? 0 : bytes.readUInt16BE(0);
  return decodeCharset(bytes, mark === 0xfffe ? 'utf-16le' : mark === 0xfeff ? 'utf-16be' : '');
}

/**
 * Unpacks the file of a report: gzip, or a ZIP archive. Octets around it, which gateways add, are skipped. The size of the result is limited while it is
 * produced, and nothing within it is unpacked again.
 */

/** Maximum size of a report. Reports about large domains have some megabytes. */
export const MAX_UNPACKED_BYTES = 10 * 1024 * 1024;

/** Signatures of the structures of a ZIP archive (APPNOTE.TXT of PKWARE, sections 4.3.12 and 4.3.16). */
const ZIP_ENTRY = 0x02014b50;
const ZIP_LOCAL = 0x04034b50;
const ZIP_END = 0x06054b50;
/** Size of the end of an archive, and the maximum size of the comment after it. */
const ZIP_END_BYTES = 22;
const MAX_COMMENT_BYTES = 65_535;
const ZIP_LOCAL_BYTES = 30;
const ZIP_ENTRY_BYTES = 46;
/** Maximum number of files of an archive, and of members of gzip, that are looked at. A report is one file. */
const MAX_ENTRIES = 16;
const MAX_MEMBERS = 16;
/** Flags in the header of a member of gzip, and the sizes of its header and its trailer (RFC 1952 section 2.3). */
const HEADER_CHECKSUM = 2;
const EXTRA = 4;
const NAME = 8;
const COMMENT = 16;
const GZIP_HEADER_BYTES = 10;
const GZIP_TRAILER_BYTES = 8;
/** Line ends and spaces, which may stand before a file. */
const SPACES: ReadonlySet<number> = new Set([0x0a, 0x0d, 0x20]);
/** Maximum number of line ends and spaces before a file. */
const MAX_SPACES = 64;
/** Methods of compression (section 4.4.5). */
const STORED = 0;
const DEFLATED = 8;

/**
 * Returns the bytes of a report, unpacked when they are packed.
 * @throws UnreadableDocumentError
 */
export function unpack(bytes: Buffer): Buffer {
  try {
    const unpacked = unpackOnce(bytes);
    if (unpacked.length > MAX_UNPACKED_BYTES) throw new UnreadableDocumentError('the report is too large');
    return unpacked;
  } catch (error) {
    if (error instanceof UnreadableDocumentError) throw error;
    throw new UnreadableDocumentError('the report cannot be unpacked', { cause: error });
  }
}

function unpackOnce(given: Buffer): Buffer {
  const bytes = given.subarray(countSpaces(given));
  if (isGzip(bytes)) return gunzip(bytes);
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) return unzip(bytes);
  return given;
}

function countSpaces(bytes: Buffer): number {
  let at = 0;
  while (at < MAX_SPACES && SPACES.has(bytes[at] ?? 0)) at++;
  return at;
}

function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** Returns the contents of all members (RFC 1952 section 2.2), up to octets that are none. */
function gunzip(bytes: Buffer): Buffer {
  const contents: Buffer[] = [];
  let rest = bytes;
  let free = MAX_UNPACKED_BYTES;
  do {
    const start = headerBytes(rest);
    const { engine } = inflateRawSync(rest.subarray(start), {
      info: true,
      maxOutputLength: free,
    }) as unknown as { engine: { bytesWritten: number } };
    const end = start + engine.bytesWritten + GZIP_TRAILER_BYTES;
    // The checksum is verified once the end of the member is known.
    const content = gunzipSync(rest.subarray(0, end), { maxOutputLength: free });
    contents.push(content);
    // Zero is no length of a limit.
    free = Math.max(1, free - content.length);
    rest = rest.subarray(end);
  } while (isGzip(rest) && contents.length < MAX_MEMBERS);
  return Buffer.concat(contents);
}

/** Returns the length of the header of a member (RFC 1952 section 2.3). */
function headerBytes(bytes: Buffer): number {
  const flags = bytes[3] ?? 0;
  let at = GZIP_HEADER_BYTES;
  if (flags & EXTRA) at += 2 + bytes.readUInt16LE(at);
  for (const flag of [NAME, COMMENT]) if (flags & flag) at = bytes.indexOf(0, at) + 1;
  return flags & HEADER_CHECKSUM ? at + 2 : at;
}

/** Returns the first file of an archive that has content. The directory at its end counts, as it does for other programs. */
function unzip(bytes: Buffer): Buffer {
  const end = bytes.lastIndexOf(signature(ZIP_END));
  if (end < Math.max(0, bytes.length - ZIP_END_BYTES - MAX_COMMENT_BYTES))
    throw new UnreadableDocumentError('the archive has no end');
  let entry = bytes.readUInt32LE(end + 16);
  for (let tried = 1; tried < MAX_ENTRIES && isPassedOver(bytes, entry); tried++)
    entry = nextEntry(bytes, entry);
  if (bytes.readUInt32LE(entry) !== ZIP_ENTRY) throw new UnreadableDocumentError('the archive has no file');
  const method = bytes.readUInt16LE(entry + 10);
  const packedBytes = bytes.readUInt32LE(entry + 20);
  const local = bytes.readUInt32LE(entry + 42);
  if (bytes.readUInt32LE(local) !== ZIP_LOCAL) throw new UnreadableDocumentError('the archive has no file');
  const start = local + ZIP_LOCAL_BYTES + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
  const packed = bytes.subarray(start, start + packedBytes);
  switch (method) {
    case STORED:
      return packed;
    case DEFLATED:
      return inflateRawSync(packed, { maxOutputLength: MAX_UNPACKED_BYTES });
    default:
      throw new UnreadableDocumentError('the archive uses another compression');
  }
}

/** Returns true for a folder, an empty file, and what macOS adds to an archive. */
function isPassedOver(bytes: Buffer, entry: number): boolean {
  if (bytes.readUInt32LE(entry) !== ZIP_ENTRY) return false;
  const start = entry + ZIP_ENTRY_BYTES;
  const name = bytes.toString('latin1', start, start + bytes.readUInt16LE(entry + 28));
  return bytes.readUInt32LE(entry + 24) === 0 || name.endsWith('/') || name.startsWith('__MACOSX/');
}

/** Returns the offset of the next file in the directory (section 4.3.12). */
function nextEntry(bytes: Buffer, entry: number): number {
  const lengths = [28, 30, 32].map((offset) => bytes.readUInt16LE(entry + offset));
  return lengths.reduce((sum, length) => sum + length, entry + ZIP_ENTRY_BYTES);
}

function signature(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
