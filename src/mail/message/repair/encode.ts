/**
 * Encodes the text of a header field that is not ASCII: free text, display names and comments become encoded-words (RFC 2047 section 5),
 * and parameters become extended ones (RFC 2231 section 4). Text at any other place stays as it is.
 */

import { decodeWords } from '../decode-words.ts';
import { encodeWords } from '../encoded-word.ts';
import { cleanFilename, extendedValue } from '../filename.ts';
import { writeParameter } from '../media-type.ts';
import { type MimeParameter, readParameterField, unquote } from '../mime-fields.ts';
import type { FieldKind } from './field-kind.ts';
import { type Token, tokensOf } from './tokens.ts';

/** Maximum length of a word of free text that stays unchanged. A longer one cannot be folded, and is encoded. Our own limit. */
const MAX_PLAIN_WORD_CHARACTERS = 900;

const ASCII = /^[\0-\x7f]*$/;
const ENCODED_WORD = /^=\?[^?\s]+\?[BbQq]\?[^?\s]*\?=$/;
const PRINTABLE_ASCII = /^[ -~]*$/;
/** Matches the name of a parameter (RFC 2045 section 5.1, RFC 2231 section 7). */
const PARAMETER_NAME = /^[a-z0-9!#$&+\-.^_`{|}~]+$/;
const FILE_NAMES: ReadonlySet<string> = new Set(['filename', 'name']);

/** Returns true for text that every mail system takes in a header. */
export function isAsciiText(text: string): boolean {
  return ASCII.test(text);
}

/** Returns the value of a field, unfolded, with its text encoded. */
export function encodeValue(kind: FieldKind, value: string): string {
  switch (kind) {
    case 'text':
      return encodeText(value);
    case 'addresses':
      return encodeAddresses(value);
    case 'parameters':
      return encodeParameters(value);
    case 'structured':
      return value;
  }
}

type Word = { space: string; text: string; isEncoded: boolean };

/**
 * Encodes the words of free text that need it, and leaves the others. White space between two encoded-words is not shown (RFC 2047 section
 * 6.2), so that the space between two words that are both encoded becomes part of one of them.
 */
function encodeText(value: string): string {
  const words: Word[] = [];
  for (const [, space = '', text = ''] of value.matchAll(/([ \t]*)([^ \t]+|$)/g)) {
    if (space === '' && text === '') continue;
    const previous = words.at(-1);
    const isLong = Math.max(space.length, text.length) > MAX_PLAIN_WORD_CHARACTERS;
    const isEncoded = isLong || !isAsciiText(text);
    if (isEncoded && previous?.isEncoded) previous.text += space + text;
    // The first space stays between the words, and others may be too many for a line.
    else if (isLong) words.push({ space: space.slice(0, 1), text: space.slice(1) + text, isEncoded });
    else words.push({ space, text, isEncoded });
  }
  return words
    .map(({ space, text, isEncoded }, index) => {
      if (!isEncoded) return space + text;
      const before = ENCODED_WORD.test(words[index - 1]?.text ?? '') ? space : '';
      const next = words[index + 1];
      const after = next && ENCODED_WORD.test(next.text) ? next.space : '';
      return space + encodeWords(before + text + after);
    })
    .join('');
}

/** Encodes display names, which end where an address in angle brackets or the list of a group begins, and comments. */
function encodeAddresses(value: string): string {
  let written = '';
  let phrase: Token[] = [];
  for (const token of tokensOf(value)) {
    if (token.kind === 'text' || token.kind === 'quoted' || token.kind === 'space') {
      phrase.push(token);
      continue;
    }
    // A comment may stand between a name and its address, or behind an address alone.
    const endsName = ['angle', 'comment'].includes(token.kind) || token.text === ':';
    written += (endsName ? encodePhrase(phrase) : joined(phrase)) + encodeComment(token);
    phrase = [];
  }
  return written + joined(phrase);
}

function encodePhrase(phrase: readonly Token[]): string {
  const isAddress = phrase.some(({ kind, text }) => kind === 'text' && text.includes('@'));
  if (isAddress || isAsciiText(joined(phrase))) return joined(phrase);
  const plain = phrase.map(({ kind, text }) => (kind === 'quoted' ? unquote(text) : text)).join('');
  return ` ${encodeWords(decodeWords(plain.replace(/\t/g, ' ').trim()))} `;
}

function encodeComment({ kind, text }: Token): string {
  if (kind !== 'comment' || isAsciiText(text)) return text;
  return `(${encodeWords(text.replace(/^\(|\)$/g, '').replace(/\\(.)/g, '$1'))})`;
}

function joined(tokens: readonly Token[]): string {
  return tokens.map(({ text }) => text).join('');
}

/** Names of files are cut to the 255 octets that file systems allow. A value with parameters that cannot be written stays as it is. */
function encodeParameters(value: string): string {
  const field = readParameterField(value);
  if (!field || !isAsciiText(field.value)) return value;
  const parameters = field.parameters.map(encodeParameter);
  return parameters.includes(undefined) ? value : ` ${[field.value, ...parameters].join('; ')}`;
}

function encodeParameter({ name, value, isExtended }: MimeParameter): string | undefined {
  if (!PARAMETER_NAME.test(name)) return undefined;
  const text = FILE_NAMES.has(name) ? cleanFilename(value) : value;
  if (isExtended || !isAsciiText(text)) return `${name}*=${extendedValue(text)}`;
  return PRINTABLE_ASCII.test(text) ? writeParameter(name, text) : undefined;
}
