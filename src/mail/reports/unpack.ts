/**
 * Unpacks the file of a report: gzip, or a ZIP archive with one file. The size of the result is limited while it is
 * produced, and nothing within it is unpacked again.
 */
import { gunzipSync, inflateRawSync } from 'node:zlib';
import { UnreadableDocumentError } from '../xml/read.ts';

/** Maximum size of a report. Reports about large domains have some megabytes. Our own limit. */
export const MAX_UNPACKED_BYTES = 10 * 1024 * 1024;

/** Signatures of the structures of a ZIP archive (APPNOTE.TXT of PKWARE, sections 4.3.12 and 4.3.16). */
const ZIP_ENTRY = 0x02014b50;
const ZIP_LOCAL = 0x04034b50;
const ZIP_END = 0x06054b50;
/** Size of the end of an archive, and the maximum size of the comment after it. */
const ZIP_END_BYTES = 22;
const MAX_COMMENT_BYTES = 65_535;
const ZIP_LOCAL_BYTES = 30;
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

function unpackOnce(bytes: Buffer): Buffer {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b)
    return gunzipSync(bytes, { maxOutputLength: MAX_UNPACKED_BYTES });
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) return unzip(bytes);
  return bytes;
}

/** Returns the first file of an archive. The directory at its end counts, as it does for other programs. */
function unzip(bytes: Buffer): Buffer {
  const end = bytes.lastIndexOf(signature(ZIP_END));
  if (end < Math.max(0, bytes.length - ZIP_END_BYTES - MAX_COMMENT_BYTES))
    throw new UnreadableDocumentError('the archive has no end');
  const entry = bytes.readUInt32LE(end + 16);
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

function signature(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
