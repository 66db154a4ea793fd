/** Comments of header fields. */

/** Returns the position after a comment, in which others may be nested (RFC 5322 section 3.2.2) and which may lack its end. */
export function endOfComment(text: string, from: number): number {
  let depth = 0;
  let at = from;
  do {
    const character = text[at];
    if (character === '(') depth++;
    else if (character === ')') depth--;
    else if (character === '\\') at++;
    at++;
  } while (depth > 0 && at < text.length);
  return Math.min(at, text.length);
}
