/**
 * Estimates the size of a write's input. The estimate is cheap, and close enough to bound memory and transactions.
 */

/** Maximum depth at which bytes and texts occur in an input: `input.items[0].blob.data`. */
const LEVELS = 4;

/**
 * Returns the bytes of buffers and the characters of strings in the upper levels of plain objects and arrays. Other
 * values count as 0, because the number of pending writes bounds them.
 */
export function inputBytes(input: unknown, levels = LEVELS): number {
  if (typeof input === 'string') return input.length;
  if (ArrayBuffer.isView(input)) return input.byteLength;
  if (typeof input !== 'object' || input === null || levels === 0) return 0;
  let bytes = 0;
  for (const value of Object.values(input)) bytes += inputBytes(value, levels - 1);
  return bytes;
}
