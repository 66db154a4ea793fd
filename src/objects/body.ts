/** The bytes of an object on their way out: their number, their hashes, and the parts in which they are sent. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { MAX_OBJECT_BYTES, type ObjectBody } from './object-store.ts';

/** Size of the parts in which a file is read. */
const PART_BYTES = 256 * 1024;

/**
 * Returns the number of bytes.
 * @throws Error when there are more than a store takes
 */
export function sizeOfBody(body: ObjectBody): number {
  const size = 'bytes' in body ? body.bytes.length : body.end - body.start;
  if (size < 0 || size > MAX_OBJECT_BYTES)
    throw new Error(`an object of ${size} bytes was to be stored: ${MAX_OBJECT_BYTES} are the maximum`);
  return size;
}

/**
 * Yields the bytes in parts.
 * @throws the error of the file system, or Error when the file is shorter than the part that is asked for
 */
export async function* partsOfBody(body: ObjectBody): AsyncGenerator<Uint8Array> {
  if ('bytes' in body) {
    for (let at = 0; at < body.bytes.length; at += PART_BYTES) yield body.bytes.subarray(at, at + PART_BYTES);
    return;
  }
  const { file, start, end } = body;
  let left = end - start;
  if (left === 0) return;
  // `end` of a stream is the last byte itself.
  for await (const part of createReadStream(file, { start, end: end - 1, highWaterMark: PART_BYTES })) {
    left -= (part as Buffer).length;
    yield part as Buffer;
  }
  if (left > 0) throw new Error(`${file} ends before byte ${end}`);
}

type BodyHash = 'sha256' | 'md5';

/** Returns the hashes of the bytes, in the order of their names. A file is read once for all of them. */
export async function hashBody(body: ObjectBody, names: readonly BodyHash[]): Promise<Buffer[]> {
  const hashes = names.map((name) => createHash(name));
  for await (const part of partsOfBody(body)) for (const hash of hashes) hash.update(part);
  return hashes.map((hash) => hash.digest());
}
