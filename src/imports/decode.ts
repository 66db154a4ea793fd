/**
 * Decodes a file to UTF-8 and validates it piece by piece. Spreadsheets save UTF-8 with or without a byte order mark,
 * or UTF-16 with one; any other encoding would produce wrong names.
 */
import { isUtf8 } from 'node:buffer';
import { AppError } from '../system/errors.ts';

const UTF8_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const UTF16_LITTLE_MARK = Buffer.from([0xff, 0xfe]);
const UTF16_BIG_MARK = Buffer.from([0xfe, 0xff]);

/**
 * Maximum size of a decoded piece. csv-parse takes 25 µs for each record of the wrong length, and a piece holds at
 * most 1,000.
 */
const SLICE_BYTES = 2 * 1024;

/** `readBytes` is the number of bytes of the file up to the end of the text. */
type Decoded = { text: Buffer; readBytes: number };

/**
 * Yields the text in short pieces of whole characters.
 * @throws AppError validation_error naming the first invalid byte
 */
export async function* decode(file: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<Decoded> {
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

/**
 * Returns the number of bytes before an incomplete last character. A character has one to four bytes, and all but the
 * first begin with the bits 10 (RFC 3629 section 3).
 */
function wholeUtf8(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const octet = bytes[bytes.length - back] ?? 0;
    if ((octet & 0b1100_0000) === 0b1000_0000) continue;
    const needed = octet >= 0b1111_0000 ? 4 : octet >= 0b1110_0000 ? 3 : octet >= 0b1100_0000 ? 2 : 1;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Returns the position of the first invalid character. It is searched by halving, once, when the file is refused. */
function firstBroken(bytes: Buffer): number {
  let good = 0;
  let bad = bytes.length;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    const start = bytes.subarray(0, middle);
    if (isUtf8(start.subarray(0, wholeUtf8(start)))) good = middle;
    else bad = middle;
  }
  return wholeUtf8(bytes.subarray(0, good));
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
  return badFile(`The file must be UTF-8; byte ${at + 1} is not. Save it as "CSV UTF-8"`);
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
