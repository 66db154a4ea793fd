/**
 * Reads the format and the size of an image from its first bytes, before anything decodes it: a file of a few bytes may stand for gigabytes of
 * pixels. Where a format names a size more than once, the largest counts.
 */

type ImageSize = { width: number; height: number };

/** Returns the size of an image; undefined for anything but PNG, JPEG, GIF and still WebP, SVG among them. */
export function readImageSize(bytes: Buffer): ImageSize | undefined {
  try {
    return READERS.find(({ matches }) => matches(bytes))?.read(bytes);
  } catch (error) {
    // The file ends before its size does.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

type Reader = { matches(bytes: Buffer): boolean; read(bytes: Buffer): ImageSize | undefined };

const isAt = (bytes: Buffer, at: number, text: string) =>
  bytes.toString('latin1', at, at + text.length) === text;

const READERS: readonly Reader[] = [
  // PNG, third edition, 11.2.1: IHDR is the first chunk.
  {
    matches: (bytes) => isAt(bytes, 0, '\x89PNG\r\n\x1a\n') && isAt(bytes, 12, 'IHDR'),
    read: (bytes) => ({ width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }),
  },
  // GIF89a, 18: the logical screen.
  {
    matches: (bytes) => isAt(bytes, 0, 'GIF87a') || isAt(bytes, 0, 'GIF89a'),
    read: (bytes) => ({ width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }),
  },
  { matches: (bytes) => isAt(bytes, 0, '\xff\xd8\xff'), read: readJpeg },
  { matches: (bytes) => isAt(bytes, 0, 'RIFF') && isAt(bytes, 8, 'WEBP'), read: readWebp },
];

/** Markers of JPEG without a length: TEM, RST0 to RST7, SOI and EOI (ITU-T T.81, table B.1). */
const isAlone = (marker: number) => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd9);
/** Markers of frame headers: SOF0 to SOF15 without DHT, JPG and DAC. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

/** Walks the segments of a JPEG. Bytes between them, those of scans among them, are skipped. */
function readJpeg(bytes: Buffer): ImageSize | undefined {
  let largest: ImageSize | undefined;
  let at = bytes.indexOf(0xff, 2);
  while (at >= 0 && at + 1 < bytes.length) {
    const marker = bytes.readUInt8(at + 1);
    const isFill = marker === 0xff || marker === 0;
    if (isFrame(marker)) {
      const frame = { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
      largest = largerOf(largest, frame);
    }
    const length = isFill || isAlone(marker) ? 0 : Math.max(2, bytes.readUInt16BE(at + 2));
    at = bytes.indexOf(0xff, isFill ? at + 1 : at + 2 + length);
  }
  return largest;
}

/** Length of the name and the size of a chunk of RIFF. */
const CHUNK_HEADER_BYTES = 8;

/** Walks the chunks of a WebP file (WebP container specification, RIFF file format). Animations are not read. */
function readWebp(bytes: Buffer): ImageSize | undefined {
  let largest: ImageSize | undefined;
  let at = 12;
  while (at + CHUNK_HEADER_BYTES <= bytes.length) {
    const content = at + CHUNK_HEADER_BYTES;
    if (isAt(bytes, at, 'ANIM') || isAt(bytes, at, 'ANMF')) return undefined;
    if (isAt(bytes, at, 'VP8X'))
      largest = largerOf(largest, {
        width: bytes.readUIntLE(content + 4, 3) + 1,
        height: bytes.readUIntLE(content + 7, 3) + 1,
      });
    if (isAt(bytes, at, 'VP8 '))
      largest = largerOf(largest, {
        width: bytes.readUInt16LE(content + 6) & 0x3fff,
        height: bytes.readUInt16LE(content + 8) & 0x3fff,
      });
    if (isAt(bytes, at, 'VP8L')) {
      const packed = bytes.readUInt32LE(content + 1);
      largest = largerOf(largest, {
        width: (packed & 0x3fff) + 1,
        height: ((packed >>> 14) & 0x3fff) + 1,
      });
    }
    const size = bytes.readUInt32LE(at + 4);
    at = content + size + (size % 2);
  }
  return largest;
}

function largerOf(one: ImageSize | undefined, other: ImageSize): ImageSize {
  return one && one.width * one.height >= other.width * other.height ? one : other;
}
