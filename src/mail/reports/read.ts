/** Finds the report in a message and reads it. Hostile reports can be slow to read, so this runs in a thread (reader.ts). */
import { decodeCharset } from '../message/charset.ts';
import { toLines } from '../message/lenient-header.ts';
import { type MimePart, partBytes, readMessage } from '../message/lenient-parts.ts';
import { UnreadableDocumentError } from '../xml.ts';
import { readDmarcReport } from './dmarc.ts';
import type { Report } from './report.ts';
import { readTlsReport } from './tls.ts';
import { unpack } from './unpack.ts';

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
