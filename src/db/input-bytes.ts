/** What a write's input weighs while it waits, near enough to bound memory and groups by, and cheap to ask. */

/** As deep as bytes and texts lie in an input: `input.items[0].blob.data`. */
const LEVELS = 4;

/**
 * The bytes of buffers and the characters of strings in the upper levels of plain objects and arrays. Everything else
 * counts as nothing: it is bounded by the number of writes.
 */
export function inputBytes(input: unknown, levels = LEVELS): number {
  if (typeof input === 'string') return input.length;
  if (ArrayBuffer.isView(input)) return input.byteLength;
  if (typeof input !== 'object' || input === null || levels === 0) return 0;
  let bytes = 0;
  for (const value of Object.values(input)) bytes += inputBytes(value, levels - 1);
  return bytes;
}
