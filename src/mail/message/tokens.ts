/**
 * Splits the value of a structured header field into its tokens (RFC 5322 section 3.2), in linear time and without refusing anything, and
 * finds the ends of comments and quoted strings.
 */

export type Token = {
  /** `quoted` is a quoted string, `angle` is text in angle brackets, `mark` is a comma, semicolon or colon, and `text` is everything else. */
  kind: 'quoted' | 'comment' | 'angle' | 'mark' | 'space' | 'text';
  text: string;
};

const QUOTED = /"(?:[^"\\]+|\\[\s\S]|\\$)*"?/y;
const ANGLE = /<[^>]*>?/y;
const SPACE = /[ \t]+/y;
const TEXT = /[^\s"(<,;:]+|[\s\S]/y;

/** Returns the tokens, whose texts make up the value. A token that lacks its end goes up to the end of the value. */
export function tokensOf(value: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < value.length; ) {
    const token = tokenAt(value, at);
    tokens.push(token);
    at += token.text.length;
  }
  return tokens;
}

function tokenAt(value: string, at: number): Token {
  switch (value[at]) {
    case '"':
      return { kind: 'quoted', text: match(QUOTED, value, at) };
    case '(':
      return { kind: 'comment', text: value.slice(at, endOfComment(value, at)) };
    case '<':
      return { kind: 'angle', text: match(ANGLE, value, at) };
    case ',':
    case ';':
    case ':':
      return { kind: 'mark', text: value.charAt(at) };
    case ' ':
    case '\t':
      return { kind: 'space', text: match(SPACE, value, at) };
    default:
      return { kind: 'text', text: match(TEXT, value, at) };
  }
}

function match(pattern: RegExp, value: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(value)?.[0] ?? value.charAt(at);
}

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

/** Returns the text of a quoted string (RFC 5322 section 3.2.4), which may lack its end. */
export function unquote(quoted: string): string {
  return quoted.replace(/\\([\s\S])|"/g, '$1');
}
