/**
 * TypeScript as text: where its comments and literals are, and what its brackets hold. As much of the language as the tests
 * are written in; what is read amiss is missed, and the proof that names it fails.
 */

export type SourceText = {
  text: string;
  /** As long as the text, with spaces for comments. */
  plain: string;
  /** As long as the text, with spaces for comments, strings, templates and regular expressions. */
  code: string;
};

/** A part of a text, by the places of its first character and of the one after its last. */
export type Piece = { start: number; end: number };

const OPENING = '([{';
const CLOSING = ')]}';
/** After these a slash begins a regular expression; after anything else it divides. */
const BEFORE_REGEX = /(?:^|[(=,:[!&|?{;<>+*%~^-]|\b(?:return|typeof|case|of|in|await))$/;

export function readSourceText(text: string): SourceText {
  let plain = '';
  let code = '';
  for (let at = 0; at < text.length; ) {
    const end = literalEnd(text, at);
    const taken = text.slice(at, end ?? at + 1);
    const isComment = end !== undefined && /^\/[/*]/.test(taken);
    plain += isComment ? ' '.repeat(taken.length) : taken;
    code += end === undefined ? taken : ' '.repeat(taken.length);
    at += taken.length;
  }
  return { text, plain, code };
}

/** Where the comment, string, template or regular expression ends that begins at `at`; undefined when none does. */
export function literalEnd(text: string, at: number): number | undefined {
  const rest = (pattern: RegExp) => {
    const found = new RegExp(pattern.source, 'sy');
    found.lastIndex = at;
    return found.exec(text) ? found.lastIndex : undefined;
  };
  switch (text[at]) {
    case "'":
      return rest(/'(?:\\.|[^'\\\n])*'/) ?? text.length;
    case '"':
      return rest(/"(?:\\.|[^"\\\n])*"/) ?? text.length;
    case '`':
      return templateEnd(text, at);
    case '/':
      if (text[at + 1] === '/') return rest(/[^\n]*/);
      if (text[at + 1] === '*') return rest(/\/\*.*?\*\//) ?? text.length;
      if (!BEFORE_REGEX.test(text.slice(Math.max(0, at - 200), at).trimEnd())) return undefined;
      return rest(/\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/);
    default:
      return undefined;
  }
}

function templateEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '`') return at + 1;
    else if (text.startsWith('${', at)) at = interpolationEnd(text, at + 2) - 1;
  }
  return text.length;
}

function interpolationEnd(text: string, start: number): number {
  let depth = 1;
  for (let at = start; at < text.length; ) {
    if (text[at] === '{') depth++;
    if (text[at] === '}' && --depth === 0) return at + 1;
    at = literalEnd(text, at) ?? at + 1;
  }
  return text.length;
}

/** The brackets that are open at this place, outermost first. */
export function openBrackets({ code }: SourceText, place: number): number[] {
  const open: number[] = [];
  for (let at = 0; at < place; at++) {
    if (OPENING.includes(code.charAt(at))) open.push(at);
    else if (CLOSING.includes(code.charAt(at))) open.pop();
  }
  return open;
}

/** Where the bracket is closed that is opened at `start`. */
export function closingBracket({ code }: SourceText, start: number): number {
  let depth = 0;
  for (let at = start; at < code.length; at++) {
    if (OPENING.includes(code.charAt(at))) depth++;
    else if (CLOSING.includes(code.charAt(at)) && --depth === 0) return at;
  }
  return code.length;
}

/** What stands between the commas in the brackets that open at `start`, if any do; a hole is an empty piece. */
export function elementsIn(source: SourceText, start: number): Piece[] {
  if (!OPENING.includes(source.code.charAt(start))) return [];
  const end = closingBracket(source, start);
  const pieces: Piece[] = [];
  let from = start + 1;
  for (let at = from; at <= end; at++) {
    if (OPENING.includes(source.code.charAt(at))) at = closingBracket(source, at);
    else if (at === end || source.code[at] === ',') {
      pieces.push(trimmed(source, { start: from, end: at }));
      from = at + 1;
    }
  }
  return pieces.filter((piece, index) => piece.start < piece.end || index < pieces.length - 1);
}

/** Without the white space and the comments around it. */
export function trimmed({ plain }: SourceText, { start, end }: Piece): Piece {
  const slice = plain.slice(start, end);
  return { start: end - slice.trimStart().length, end: start + slice.trimEnd().length };
}

/** What a string, a number or a truth value is as text; undefined for anything else. */
export function literalText(source: SourceText, piece: Piece): string | undefined {
  const slice = source.plain.slice(piece.start, piece.end);
  if (/^-?[\d_.]+$/.test(slice)) return String(Number(slice.replaceAll('_', '')));
  if (slice === 'true' || slice === 'false' || slice === 'null') return slice;
  const isString = /^['"`]/.test(slice) && literalEnd(source.text, piece.start) === piece.end;
  return isString && !slice.includes('${') ? unescaped(slice.slice(1, -1)) : undefined;
}

const ESCAPES: Record<string, string> = {
  ...{ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', 0: '\0' },
  /** A line that goes on. */
  '\n': '',
};

/** What an escape of a string stands for (ECMAScript 12.9.4). */
export function unescaped(text: string): string {
  return text.replace(
    /\\(?:u([0-9a-f]{4})|x([0-9a-f]{2})|(.))/gis,
    (_, wide?: string, byte?: string, one = '') => {
      const hex = wide ?? byte;
      return hex === undefined ? (ESCAPES[one] ?? one) : String.fromCharCode(Number.parseInt(hex, 16));
    },
  );
}
