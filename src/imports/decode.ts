/**
 * Decodes a file to UTF-8 and validates it piece by piece. Spreadsheets save UTF-8 with or without a byte order mark,
 * or UTF-16 with one. The request or encoding.ts names any other encoding, because a wrong one would produce wrong names.
 */
import { isUtf8 } from 'node:buffer';
import { AppError } from '../system/errors.ts';
import type { FileEncoding } from './encoding.ts';
import { firstBroken, wholeUtf8 } from './utf8.ts';

const UTF8_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const UTF16_LITTLE_MARK = Buffer.from([0xff, 0xfe]);
const UTF16_BIG_MARK = Buffer.from([0xfe, 0xff]);

/**
 * Maximum size of a decoded piece. csv-parse takes 25 µs for each record of the wrong length, and a piece holds at
 * most 1,000.
 */
const SLICE_BYTES = 2 * 1024;

type Pieces = AsyncIterable<Buffer> | Iterable<Buffer>;
/** `readBytes` is the number of bytes of the file up to the end of the text. */
type Decoded = { text: Buffer; readBytes: number };

/**
 * Yields the text in short pieces of whole characters. Without an encoding, the file must be UTF-8 or begin with a byte order mark.
 * @throws AppError validation_error naming the first invalid byte
 */
export function decode(file: Pieces, encoding?: FileEncoding): AsyncGenerator<Decoded> {
  return encoding === undefined || encoding === 'utf-8' ? decodeUnicode(file) : decodeAs(file, encoding);
}

/**
 * Yields the text of a file in an encoding that it does not name itself.
 * @throws AppError validation_error naming the slice with the invalid byte
 */
async function* decodeAs(file: Pieces, encoding: FileEncoding): AsyncGenerator<Decoded> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  let readBytes = 0;
  const read = (slice: Buffer, stream: boolean): Buffer => {
    try {
      return Buffer.from(decoder.decode(slice, { stream }));
    } catch {
      throw badFile(`The file is not ${encoding}: bytes ${readBytes + 1} to ${readBytes + slice.length}`);
    }
  };
  for await (const piece of file) {
    for (let start = 0; start < piece.length; start += SLICE_BYTES) {
      const slice = piece.subarray(start, start + SLICE_BYTES);
      const text = read(slice, true);
      refuseNul(text, readBytes);
      readBytes += slice.length;
      if (text.length > 0) yield { text, readBytes };
    }
  }
  const text = read(Buffer.alloc(0), false);
  if (text.length > 0) yield { text, readBytes };
}

async function* decodeUnicode(file: Pieces): AsyncGenerator<Decoded> {
  let encoding: Encoding | undefined;
  let rest: Buffer<ArrayBufferLike> = Buffer.alloc(0);
  let restAt = 0;
  for await (const piece of file) {
    for (let start = 0; start < piece.length; start += SLICE_BYTES) {
      const slice = piece.subarray(start, start + SLICE_BYTES);
      let bytes = rest.length === 0 ? slice : Buffer.concat([rest, slice]);
      if (!encoding) {
        if (bytes.length < UTF8_MARK.length) {
          rest = bytes;
          continue;
        }
        encoding = findEncoding(bytes);
        restAt = encoding.markBytes;
        bytes = bytes.subarray(encoding.markBytes);
      }
      const whole = encoding.wholeBytes(bytes);
      yield { text: encoding.toUtf8(bytes.subarray(0, whole), restAt), readBytes: restAt + whole };
      rest = bytes.subarray(whole);
      restAt += whole;
    }
  }
  if (rest.length === 0) return;
  const { markBytes, toUtf8 } = encoding ?? findEncoding(rest);
  const left = encoding ? rest : rest.subarray(markBytes);
  if (left.length > 0) yield { text: toUtf8(left, restAt), readBytes: restAt + rest.length };
}

type Encoding = {
  markBytes: number;
  /** Returns the number of leading bytes that are complete characters or certainly wrong. */
  wholeBytes(bytes: Buffer): number;
  /** Converts the bytes to UTF-8. `at` is their offset in the file, for error messages. */
  toUtf8(bytes: Buffer, at: number): Buffer;
};

function findEncoding(bytes: Buffer): Encoding {
  const startsWith = (mark: Buffer) => bytes.subarray(0, mark.length).equals(mark);
  if (startsWith(UTF16_LITTLE_MARK)) return utf16((pairs) => pairs);
  // The bytes belong to the file, so a copy is swapped.
  if (startsWith(UTF16_BIG_MARK)) return utf16((pairs) => Buffer.from(pairs).swap16());
  return {
    markBytes: startsWith(UTF8_MARK) ? UTF8_MARK.length : 0,
    wholeBytes: wholeUtf8,
    toUtf8: checkUtf8,
  };
}

function checkUtf8(bytes: Buffer, at: number): Buffer {
  if (!isUtf8(bytes)) throw notUtf8(at + firstBroken(bytes));
  refuseNul(bytes, at);
  return bytes;
}

function utf16(toLittleEndian: (pairs: Buffer) => Buffer): Encoding {
  return {
    markBytes: UTF16_LITTLE_MARK.length,
    wholeBytes(bytes) {
      const even = bytes.length - (bytes.length % 2);
      if (even === 0) return 0;
      const last = toLittleEndian(bytes.subarray(even - 2, even)).readUInt16LE();
      return isHighSurrogate(last) ? even - 2 : even;
    },
    toUtf8(bytes, at) {
      if (bytes.length % 2 === 1) throw badUtf16(at + bytes.length - 1);
      const text = toLittleEndian(bytes).toString('utf16le');
      if (!text.isWellFormed()) throw badUtf16(at + 2 * firstLone(text));
      const nul = text.indexOf('\0');
      if (nul >= 0) throw holdsNul(at + 2 * nul);
      return Buffer.from(text);
    },
  };
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** Returns the position of the first unpaired surrogate. */
function firstLone(text: string): number {
  const repaired = text.toWellFormed();
  let at = 0;
  while (text.charCodeAt(at) === repaired.charCodeAt(at)) at++;
  return at;
}

function refuseNul(bytes: Buffer, at: number): void {
  const nul = bytes.indexOf(0);
  if (nul >= 0) throw holdsNul(at + nul);
}

function notUtf8(at: number): AppError {
  return badFile(
    `The file must be UTF-8; byte ${at + 1} is not. Save it as "CSV UTF-8", or name its \`encoding\``,
  );
}

function badUtf16(at: number): AppError {
  return badFile(`The file says it is UTF-16, but byte ${at + 1} is not`);
}

function holdsNul(at: number): AppError {
  return badFile(`The file must be text in UTF-8; byte ${at + 1} is a NUL`);
}

function badFile(message: string): AppError {
  return new AppError('validation_error', message);
}
