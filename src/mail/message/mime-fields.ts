/**
 * Reads the fields that describe a part (RFC 2045, RFC 2183), with comments, continuations and charsets of parameters (RFC 2231). What
 * cannot be understood is left out, in linear time.
 */
import { decodeCharset } from './charset.ts';
import { endOfComment, unquote } from './tokens.ts';

/** A parameter. Its name is in lower case. */
export type MimeParameter = {
  name: string;
  value: string;
  /** True when the value had a charset (RFC 2231 section 4), so that the name is written with `*` again. */
  isExtended: boolean;
};

/** Value and parameters of a field such as Content-Disposition. The value is in lower case. */
export type ParameterField = { value: string; parameters: MimeParameter[] };

/**
 * Maximum number of parameters of one field that are read, with each continuation counted. Mail has fewer than ten, and a file name of
 * 255 characters in ten continuations has eleven.
 */
const MAX_PARAMETERS = 100;

/** Returns the value and the first `MAX_PARAMETERS` parameters of a field; undefined when it has no value. */
export function readParameterField(text: string): ParameterField | undefined {
  const start = skipComments(text, 0);
  const value = matchAt(VALUE, text, start);
  if (value === '') return undefined;
  return { value: value.toLowerCase(), parameters: joinSections(readPairs(text, start + value.length)) };
}

/** Returns the first word of a field such as Content-Transfer-Encoding, in lower case; an empty text when there is none. */
export function readToken(text: string): string {
  return matchAt(VALUE, text, skipComments(text, 0)).toLowerCase();
}

/** Matches a token (RFC 2045 section 5.1), or two with a slash between them. */
const VALUE = /[^\s;()<>@,:\\"[\]?=]*/y;
const NAME = /[^\s;()"=]*/y;
/** Matches a quoted string, which may lack its end. */
const QUOTED = /"(?:[^"\\]+|\\[\s\S])*"?/y;
const TOKEN = /[^\s;()"]*/y;
const SPACES = /\s*/y;

type Pair = { name: string; value: string };

function readPairs(text: string, from: number): Pair[] {
  const pairs: Pair[] = [];
  for (let at = from; at < text.length && pairs.length < MAX_PARAMETERS; ) {
    at = skipComments(text, at);
    if (text[at] === ';') {
      at = skipComments(text, at + 1);
      const name = matchAt(NAME, text, at);
      at = skipComments(text, at + name.length);
      if (name === '' || text[at] !== '=') continue;
      const { value, end } = readValue(text, skipComments(text, at + 1));
      pairs.push({ name: name.toLowerCase(), value });
      at = end;
    } else {
      at += Math.max(1, matchAt(text[at] === '"' ? QUOTED : NAME, text, at).length);
    }
  }
  return pairs;
}

/** Reads a value. One that should be quoted and is not, such as a file name with spaces, ends at the semicolon. */
function readValue(text: string, at: number): { value: string; end: number } {
  if (text[at] === '"') {
    const quoted = matchAt(QUOTED, text, at);
    return { value: unquote(quoted), end: at + quoted.length };
  }
  const token = matchAt(TOKEN, text, at);
  const end = skipComments(text, at + token.length);
  if (end >= text.length || text[end] === ';') return { value: token, end };
  const semicolon = text.indexOf(';', end);
  const whole = text.slice(at, semicolon < 0 ? text.length : semicolon);
  return { value: whole.trim(), end: at + whole.length };
}

/** Returns the position after white space and comments. */
function skipComments(text: string, from: number): number {
  let at = from + matchAt(SPACES, text, from).length;
  while (text[at] === '(') {
    at = endOfComment(text, at);
    at += matchAt(SPACES, text, at).length;
  }
  return at;
}

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}

/** Matches the name of a section of a parameter: `name*`, `name*0` or `name*0*` (RFC 2231 sections 3 and 4). */
const SECTION = /^([^*]+)\*(?:(0|[1-9][0-9]{0,3})(\*)?)?$/;

type Sections = { name: string; byNumber: Map<number, { value: string; isEncoded: boolean }> };

/** Joins the sections of each parameter, in the order in which parameters begin. The first of equal sections counts. */
function joinSections(pairs: readonly Pair[]): MimeParameter[] {
  const parameters: (MimeParameter | Sections)[] = [];
  const found = new Map<string, Sections>();
  for (const { name, value } of pairs) {
    const [whole, base = '', number, star] = SECTION.exec(name) ?? [];
    if (whole === undefined) {
      parameters.push({ name, value, isExtended: false });
      continue;
    }
    const sections = found.get(base) ?? { name: base, byNumber: new Map() };
    if (!found.has(base)) parameters.push(sections);
    found.set(base, sections);
    const at = Number(number ?? 0);
    if (!sections.byNumber.has(at))
      sections.byNumber.set(at, { value, isEncoded: number === undefined || star !== undefined });
  }
  return parameters.flatMap((parameter) => ('byNumber' in parameter ? joinValue(parameter) : [parameter]));
}

/** Returns the joined parameter; none when its first section is missing. */
function joinValue({ name, byNumber }: Sections): MimeParameter[] {
  const first = byNumber.get(0);
  if (!first) return [];
  const [, charset = '', text = first.value] = first.isEncoded ? (CHARSET.exec(first.value) ?? []) : [];
  const octets: Buffer[] = [];
  for (let number = 0, section = byNumber.get(0); section; section = byNumber.get(++number)) {
    const value = number === 0 ? text : section.value;
    octets.push(section.isEncoded ? decodePercent(value) : Buffer.from(value));
  }
  const isExtended = [...byNumber.values()].some(({ isEncoded }) => isEncoded);
  return [{ name, value: decodeCharset(Buffer.concat(octets), charset), isExtended }];
}

/** Matches the charset and the language in front of an extended value (RFC 2231 section 4). */
const CHARSET = /^([^']{0,64})'[^']{0,64}'([\s\S]*)$/;

function decodePercent(text: string): Buffer {
  const octets = Buffer.from(text).toString('latin1');
  return Buffer.from(
    octets.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
}
