/**
 * The form of the files of a chain: frames of a length (32 bits), the SHA-256 of the content, and the content, which is the length of a JSON text (32 bits), the
 * text, and bytes. A frame that a crash has left half is recognised by its hash.
 */
import { hash } from 'node:crypto';

const NUMBER_BYTES = 4;
const HASH_BYTES = 32;
const HEAD_BYTES = NUMBER_BYTES + HASH_BYTES;

/** The content of a frame: a value of JSON, and bytes whose order it describes. */
export type Frame = { value: unknown; bytes: Buffer };

/** Returns the bytes of a frame. */
export function encodeFrame(value: unknown, parts: readonly Uint8Array[]): Buffer {
  const text = Buffer.from(JSON.stringify(value));
  const content = Buffer.concat([numberBytes(text.length), text, ...parts]);
  return Buffer.concat([numberBytes(content.length), hash('sha256', content, 'buffer'), content]);
}

/** Yields the frames of a file with the offset of the end of each. It ends before the first one that is damaged or cut off. */
export function* decodeFrames(file: Buffer): Generator<Frame & { end: number }> {
  for (let at = 0; at + HEAD_BYTES <= file.length; ) {
    const end = at + HEAD_BYTES + file.readUInt32BE(at);
    const content = file.subarray(at + HEAD_BYTES, end);
    const isWhole = end <= file.length && content.length >= NUMBER_BYTES;
    if (
      !isWhole ||
      !hash('sha256', content, 'buffer').equals(file.subarray(at + NUMBER_BYTES, at + HEAD_BYTES))
    )
      return;
    const textEnd = NUMBER_BYTES + content.readUInt32BE(0);
    const value: unknown = JSON.parse(content.toString('utf8', NUMBER_BYTES, textEnd));
    yield { value, bytes: content.subarray(textEnd), end };
    at = end;
  }
}

function numberBytes(value: number): Buffer {
  const bytes = Buffer.alloc(NUMBER_BYTES);
  bytes.writeUInt32BE(value);
  return bytes;
}
