/** Writes the sections of a message in a FETCH response (RFC 9051 section 7.5.2). */
import { writeOctets } from './strings.ts';

/**
 * Returns the item of a section: its name, as `BODY[1]<0>`, and its octets; NIL when the message has no such section. The octets are not
 * copied.
 */
export function writeSection(label: string, octets: Buffer | undefined): Buffer[] {
  return octets ? [Buffer.from(`${label} `), ...writeOctets(octets)] : [Buffer.from(`${label} NIL`)];
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
