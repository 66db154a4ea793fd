/** Files whose records are far too long. */

/** Number of bytes that a file is read in at once. */
export const PIECE_BYTES = 128 * 1024;

const LARGE = 50 * 1024 * 1024;

/** Returns the bytes of each file, by what it is. */
export const HOSTILE: Readonly<Record<string, () => Buffer>> = {
  'a heading of a million columns': () => Buffer.alloc(1_000_000, ','),
  'a row of a million columns': () => Buffer.concat([Buffer.from('email\n'), Buffer.alloc(1_000_000, ',')]),
  'a quote that is never closed': () => Buffer.concat([Buffer.from('email\n"'), Buffer.alloc(LARGE, 'x')]),
  'nothing but quotes': () => Buffer.alloc(LARGE, '"'),
  'nothing but a line': () => Buffer.alloc(LARGE, 'x'),
};
