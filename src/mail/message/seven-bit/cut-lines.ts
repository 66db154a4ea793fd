/**
 * Cuts lines that are longer than the 998 octets of RFC 5322 section 2.1.1 and that need not stay as they are: those of base64, between which line
 * ends mean nothing (RFC 2045 section 6.8), those of quoted-printable, which has soft line breaks (section 6.7), and those of the text around
 * parts, which nobody is shown (RFC 2046 section 5.1.1).
 */

/** The way in which a line is cut: by a line end, or by a soft line break. */
export type Cutting = 'text' | 'quoted-printable';

/** Length at which a line is cut. The cut may move by a few octets, and stays below 998. Our own limit. */
const CUT_AT_OCTETS = 980;
/** Maximum number of octets by which a cut moves. */
const MAX_SHIFT_OCTETS = 12;
const CUTS: Readonly<Record<Cutting, Buffer>> = {
  text: Buffer.from('\r\n', 'latin1'),
  'quoted-printable': Buffer.from('=\r\n', 'latin1'),
};
const DASH = 0x2d;
const EQUALS = 0x3d;

/**
 * Returns a part of a long line in pieces with line ends between them. `column` is the number of octets of the line that stand before it since the
 * last cut, and is returned for the next part.
 */
export function cutLine(
  octets: Buffer,
  cutting: Cutting,
  column: number,
): { pieces: Buffer[]; column: number } {
  const pieces: Buffer[] = [];
  let start = 0;
  let used = column;
  while (used + octets.length - start > CUT_AT_OCTETS + MAX_SHIFT_OCTETS) {
    const end = findCut(octets, Math.max(start, start + CUT_AT_OCTETS - used));
    pieces.push(octets.subarray(start, end), CUTS[cutting]);
    start = end;
    used = 0;
  }
  pieces.push(octets.subarray(start));
  return { pieces, column: used + octets.length - start };
}

/** Returns the next place where no escaped octet is cut, and where the next line does not begin like a boundary. */
function findCut(octets: Buffer, from: number): number {
  const last = Math.min(from + MAX_SHIFT_OCTETS, octets.length);
  for (let at = from; at < last; at++) {
    // The octets before the first two of a part are not known.
    const isEscaped = at < 2 || octets[at - 1] === EQUALS || octets[at - 2] === EQUALS;
    if (!isEscaped && octets[at] !== DASH) return at;
  }
  return last;
}
