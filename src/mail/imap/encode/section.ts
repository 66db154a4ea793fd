/** Writes the sections of a message in a FETCH response (RFC 9051 section 7.5.2). */

/** Text, which is sent as UTF-8, and octets of a message, which are not copied. */
export type WirePieces = readonly (string | Buffer)[];

/**
 * Returns the item of a section: its name, as `BODY[1]<0>`, and its octets; NIL when the message has no such section. Empty octets are
 * `""`, never a literal (strings.ts).
 */
export function writeSection(label: string, octets: Buffer | undefined): WirePieces {
  if (!octets) return [`${label} NIL`];
  return octets.length === 0 ? [`${label} ""`] : [beginSection(label, { sizeBytes: octets.length }), octets];
}

/**
 * Returns the beginning of the item of a section, up to its octets, which follow. There is at least one. Only data with NUL is sent as
 * a binary literal (RFC 3516 section 4.3).
 */
export function beginSection(
  label: string,
  { sizeBytes, isBinary = false }: { sizeBytes: number; isBinary?: boolean },
): string {
  return `${label} ${isBinary ? '~' : ''}{${sizeBytes}}\r\n`;
}
