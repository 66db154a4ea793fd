/**
 * Encodes the text of a header field that is not ASCII: free text, display names and comments become encoded-words (RFC 2047 section 5).
 * Text at any other place stays as it is.
 */

import { encodeWords } from '../../encoded-word.ts';
import { type Token, tokensOf, unquote } from '../tokens.ts';
import type { FieldKind } from './legal-field.ts';

/**
 * Maximum length of a word of free text, with the white space before it, that stays unchanged. A longer one cannot be folded, and is
 * encoded.
 */
const MAX_PLAIN_WORD_CHARACTERS = 900;

const ASCII = /^[\0-\x7f]*$/;
const ENCODED_WORD = /^=\?[^?\s]+\?[BbQq]\?[^?\s]*\?=$/;

/** Returns true for text that every mail system takes in a header. */
export function isAsciiText(text: string): boolean {
  return ASCII.test(text);
}

/** Returns the value of a field, unfolded, with its text encoded. Parameters are encoded elsewhere (encode-parameters.ts). */
export function encodeWordsOf(kind: FieldKind, value: string): string {
  switch (kind) {
    case 'text':
      return encodeText(value);
    case 'addresses':
      return encodeAddresses(value);
    case 'parameters':
    case 'structured':
      return value;
  }
}

/**
 * Maximum number of places of a field that are encoded: what follows them stays as it is. A field with as many names has some hundred
 * kilobytes, and encoding each letter of it by itself would hold the thread.
 */
const MAX_ENCODED_PLACES = 2_000;

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
    const isLong = space.length + text.length > MAX_PLAIN_WORD_CHARACTERS;
    const isEncoded = isLong || !isAsciiText(text);
    if (isEncoded && previous?.isEncoded) previous.text += space + text;
    // The first space stays between the words, and others may be too many for a line.
    else if (isLong) words.push({ space: space.slice(0, 1), text: space.slice(1) + text, isEncoded });
    else words.push({ space, text, isEncoded });
  }
  let places = 0;
  return words
    .map(({ space, text, isEncoded }, index) => {
      if (!isEncoded || ++places > MAX_ENCODED_PLACES) return space + text;
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
  let places = 0;
  const encode = (before: string, change: () => string): string => {
    if (places >= MAX_ENCODED_PLACES || isAsciiText(before)) return before;
    places++;
    return change();
  };
  for (const token of tokensOf(value)) {
    if (token.kind === 'text' || token.kind === 'quoted' || token.kind === 'space') {
      phrase.push(token);
      continue;
    }
    // A comment may stand between a name and its address, or behind an address alone.
    const endsName = ['angle', 'comment'].includes(token.kind) || token.text === ':';
    const name = joined(phrase);
    written += endsName ? encode(name, () => encodePhrase(phrase)) : name;
    written += encode(token.text, () => encodeComment(token));
    phrase = [];
  }
  return written + joined(phrase);
}

function encodePhrase(phrase: readonly Token[]): string {
  const isAddress = phrase.some(({ kind, text }) => kind === 'text' && text.includes('@'));
  if (isAddress) return joined(phrase);
  const plain = phrase.map(({ kind, text }) => (kind === 'quoted' ? unquote(text) : text)).join('');
  return ` ${encodeAround(plain.replace(/\t/g, ' ').trim().split(/ +/)).join(' ')} `;
}

/**
 * Encodes all words but those that are encoded already. A space that is shown between the two kinds becomes part of what is encoded here,
 * because white space between encoded-words is not shown (RFC 2047 section 6.2).
 */
function encodeAround(words: readonly string[]): string[] {
  const written: string[] = [];
  let plain: string[] = [];
  const encodePlain = (after: string) => {
    if (plain.length === 0) return;
    const before = written.length > 0 ? ' ' : '';
    written.push(encodeWords(before + plain.join(' ') + after));
    plain = [];
  };
  for (const word of words) {
    if (!ENCODED_WORD.test(word)) plain.push(word);
    else {
      encodePlain(' ');
      written.push(word);
    }
  }
  encodePlain('');
  return written;
}

function encodeComment({ kind, text }: Token): string {
  if (kind !== 'comment') return text;
  return `(${encodeWords(text.replace(/^\(|\)$/g, '').replace(/\\(.)/g, '$1'))})`;
}

function joined(tokens: readonly Token[]): string {
  return tokens.map(({ text }) => text).join('');
}
