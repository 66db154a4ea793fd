/** Decodes HZ, the form of GB 2312 in 7 bits (RFC 1843): `~{` begins Chinese text and `~}` ends it. */
import { SegmentedText } from './segmented-text.ts';

const TILDE = 0x7e;
const LINE_FEED = 0x0a;
const OPENING = 0x7b;
const CLOSING = 0x7d;

const LABELS: ReadonlySet<string> = new Set(['hz', 'hz-gb-2312', 'hz-gb2312']);

/** Returns true for the name of this charset, in lower case. */
export function isHz(label: string): boolean {
  return LABELS.has(label);
}

/** Returns the text of octets. What is not a character becomes U+FFFD. */
export function decodeHz(octets: Uint8Array): string {
  const text = new SegmentedText(octets.length);
  let isChinese = false;
  for (let at = 0; at < octets.length; ) {
    const [first = 0, second = 0] = [octets[at], octets[at + 1]];
    // A line begins in ASCII, whatever the line before lacks.
    if (first === LINE_FEED) isChinese = false;
    if (first === TILDE && (second === OPENING || second === CLOSING)) {
      isChinese = second === OPENING;
      at += 2;
    } else if (first === TILDE && !isChinese && (second === TILDE || second === LINE_FEED)) {
      // A tilde at the end of a line joins it with the next one.
      if (second === TILDE) text.addAscii(TILDE);
      at += 2;
    } else if (isChinese && first > 0x20 && second > 0x20) {
      text.addOctets('gbk', [first | 0x80, second | 0x80]);
      at += 2;
    } else {
      if (first < 0x80) text.addAscii(first);
      else text.addText('\ufffd');
      at++;
    }
  }
  return text.end();
}
