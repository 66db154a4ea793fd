/** Reads whose results an Authentication-Results field holds. Anybody can write such a field into a message. */

/** Matches the name itself: a token, or a quoted string (RFC 8601 section 2.2, RFC 2045 section 5.1). */
const NAME = /"((?:[^"\\]|\\.)*)"|([^\s()<>@,;:\\"/[\]?=]+)/sy;
const WHITE_SPACE = ' \t\r\n';

/**
 * Returns true when the field claims to come from `authservId`, and also when it cannot be read and contains that name:
 * another reader might find the name in it.
 *
 * @param text the field after its colon
 */
export function namesAuthservId(text: string, authservId: string): boolean {
  const own = authservId.toLowerCase();
  const named = readName(text, skipComments(text));
  return named === undefined ? text.toLowerCase().includes(own) : named.toLowerCase() === own;
}

function readName(text: string, at: number): string | undefined {
  NAME.lastIndex = at;
  const match = NAME.exec(text);
  return match?.[2] ?? match?.[1]?.replaceAll(/\\(.)/gs, '$1');
}

/**
 * Returns the position after white space and comments, which may be nested (RFC 5322 section 3.2.2); the end of the text
 * when a comment is not closed.
 */
function skipComments(text: string): number {
  let depth = 0;
  let at = 0;
  for (; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '(') depth++;
    else if (depth === 0 && !WHITE_SPACE.includes(character)) return at;
    else if (character === ')') depth--;
    else if (character === '\\') at++;
  }
  return at;
}
