/**
 * The payload of a file in the format of age (https://age-encryption.org/v1, "Payload"): chunks of 64 KiB, each encrypted and
 * authenticated by ChaCha20-Poly1305. The nonce of a chunk is its number and a flag for the last one, so that a chunk that was left
 * out, moved or cut off is found.
 */
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';

/** Number of bytes of the nonce that stands before the payload. */
export const PAYLOAD_NONCE_BYTES = 16;

const CIPHER = 'chacha20-poly1305';
const CHUNK_BYTES = 64 * 1024;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
/** Offset and length of the number of a chunk that are used here. The number has 11 bytes, of which the first 5 are zero. */
const NUMBER_AT = 5;
const NUMBER_BYTES = 6;

/** Derives the key of a payload from the key of the file. */
export function payloadKey(fileKey: Uint8Array, nonce: Uint8Array): Buffer {
  return Buffer.from(hkdfSync('sha256', fileKey, nonce, 'payload', KEY_BYTES));
}

/** Encrypts a stream. It holds two chunks at a time. */
export async function* encryptPayload(plain: AsyncIterable<Uint8Array>, key: Buffer): AsyncGenerator<Buffer> {
  for await (const { bytes, number, isLast } of chunksOf(plain, CHUNK_BYTES)) {
    const cipher = createCipheriv(CIPHER, key, nonceOf(number, isLast), { authTagLength: TAG_BYTES });
    yield Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  }
}

/**
 * Decrypts a stream. Each piece that it yields was authenticated, and the stream is complete once it has ended without an error.
 * @throws Error when a chunk was changed, left out, moved or cut off
 */
export async function* decryptPayload(
  encrypted: AsyncIterable<Uint8Array>,
  key: Buffer,
): AsyncGenerator<Buffer> {
  for await (const { bytes, number, isLast } of chunksOf(encrypted, CHUNK_BYTES + TAG_BYTES)) {
    if (bytes.length < TAG_BYTES) throw new Error('the file was cut off');
    // Only an empty payload has an empty chunk.
    if (bytes.length === TAG_BYTES && number > 0) throw new Error('the last chunk is empty');
    yield decryptChunk(bytes, key, nonceOf(number, isLast));
  }
}

function decryptChunk(bytes: Buffer, key: Buffer, nonce: Buffer): Buffer {
  const tagAt = bytes.length - TAG_BYTES;
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(bytes.subarray(tagAt));
  const plain = decipher.update(bytes.subarray(0, tagAt));
  try {
    decipher.final();
  } catch (error) {
    throw new Error('a chunk was changed, or the file was cut off', { cause: error });
  }
  return plain;
}

function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeUIntBE(number, NUMBER_AT, NUMBER_BYTES);
  nonce[NONCE_BYTES - 1] = isLast ? 1 : 0;
  return nonce;
}

type Chunk = { bytes: Buffer; number: number; isLast: boolean };

/** Yields the bytes in chunks of one size, and the rest as the last one. The memory of a chunk is used again for the next one. */
async function* chunksOf(input: AsyncIterable<Uint8Array>, chunkBytes: number): AsyncGenerator<Chunk> {
  const chunk = Buffer.allocUnsafe(chunkBytes);
  let filled = 0;
  let number = 0;
  for await (const piece of input) {
    for (let at = 0; at < piece.length; ) {
      // A full chunk is the last one unless a byte follows.
      if (filled === chunkBytes) {
        yield { bytes: chunk, number: number++, isLast: false };
        filled = 0;
      }
      const taken = piece.subarray(at, at + chunkBytes - filled);
      chunk.set(taken, filled);
      filled += taken.length;
      at += taken.length;
    }
  }
  yield { bytes: chunk.subarray(0, filled), number, isLast: true };
}
