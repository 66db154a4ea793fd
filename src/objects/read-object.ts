/** Reads a small object as a whole. */
import { type ObjectStore, StoreError } from './object-store.ts';

/**
 * Returns the bytes of an object of at most `maxBytes`; undefined when there is none.
 * @throws StoreError, also when the object is larger
 */
export async function readObject(
  store: Pick<ObjectStore, 'get'>,
  name: string,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const found = await store.get(name);
  if (!found) return undefined;
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of found) {
    bytes += piece.length;
    if (bytes > maxBytes)
      throw new StoreError('refused', `the object ${name} is larger than ${maxBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
