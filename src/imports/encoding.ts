/**
 * Finds the encoding of a file. UTF-8 and UTF-16 with a byte order mark say what they are (decode.ts). What is neither is taken for
 * Windows-1252, which spreadsheets and address books write in western Europe; a request can name another encoding.
 */
import { isUtf8 } from 'node:buffer';
import { nextSlice } from '../system/slices.ts';
import { wholeUtf8 } from './utf8.ts';

/** The encodings that a request can name, by their labels in the Encoding Standard of the WHATWG. */
export const ENCODINGS = [
  'utf-8',
  'utf-16le',
  'utf-16be',
  'windows-1250',
  'windows-1251',
  'windows-1252',
  'windows-1253',
  'windows-1254',
  'windows-1257',
  'iso-8859-2',
  'iso-8859-15',
  'koi8-r',
  'macintosh',
  'shift_jis',
  'euc-jp',
  'euc-kr',
  'gb18030',
  'big5',
] as const;
export type FileEncoding = (typeof ENCODINGS)[number];

const UTF16_MARKS = [Buffer.from([0xff, 0xfe]), Buffer.from([0xfe, 0xff])];
/** Octets that Windows-1252 does not define. */
const NOT_WINDOWS_1252 = [0x81, 0x8d, 0x8f, 0x90, 0x9d];
/** Number of characters beyond ASCII that decide whether a file is damaged UTF-8. */
const MAX_COUNTED = 1_000;
/** Number of bytes that are examined at a time: less than a millisecond of the event loop. */
const SLICE_BYTES = 256 * 1024;

/**
 * Returns `windows-1252` for a file that is likely to be written in it; undefined for UTF-8, UTF-16, and anything else, which decode.ts
 * refuses with the byte that is wrong. A file with more valid characters of UTF-8 beyond ASCII than invalid octets is damaged UTF-8.
 */
export async function findEncoding(file: Buffer): Promise<'windows-1252' | undefined> {
  if (UTF16_MARKS.some((mark) => file.subarray(0, mark.length).equals(mark))) return undefined;
  if (await isWhollyUtf8(file)) return undefined;
  let wrong = 0;
  let right = 0;
  for await (const slice of slicesOf(file)) {
    if (NOT_WINDOWS_1252.some((octet) => slice.includes(octet))) return undefined;
    if (wrong + right >= MAX_COUNTED) continue;
    const text = slice.toString();
    wrong += text.match(/\ufffd/g)?.length ?? 0;
    right += text.match(/[^\0-\x7f\ufffd]/gu)?.length ?? 0;
  }
  return right < wrong ? 'windows-1252' : undefined;
}

async function isWhollyUtf8(file: Buffer): Promise<boolean> {
  for await (const slice of slicesOf(file)) if (!isUtf8(slice)) return false;
  return true;
}

/** Yields a file in slices that end with a whole character of UTF-8. */
async function* slicesOf(file: Buffer): AsyncGenerator<Buffer> {
  let start = 0;
  while (start < file.length) {
    const slice = file.subarray(start, start + SLICE_BYTES);
    const isLast = start + slice.length === file.length;
    const length = isLast ? slice.length : wholeUtf8(slice);
    yield slice.subarray(0, length);
    start += length;
    await nextSlice();
  }
}
