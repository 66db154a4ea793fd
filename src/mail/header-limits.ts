/**
 * The limits of the header of a message. A message beyond them is refused, so everything that reads the header of a stored message can
 * rely on them. Common mail stays below 16 KB and 200 lines.
 */

/** Maximum size of a header. Postfix cuts it at 100 KB, Exchange at 256 KB. */
export const MAX_HEADER_BYTES = 256 * 1024;
/** Maximum number of lines of a header. Some programs that read it take long for more. */
export const MAX_HEADER_LINES = 1_000;
