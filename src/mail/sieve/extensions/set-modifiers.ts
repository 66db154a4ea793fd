/** Modifiers of `set` and `extracttext` (RFC 5229 section 4.1, RFC 5435 section 6). */
import type { Call, Tag } from '../compile/definition.ts';

type Modifier = { name: string; precedence: number; change(value: string): string };

const lower = (text: string) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
const upper = (text: string) => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());

/** Unreserved characters of URIs stay (RFC 3986 section 2.3). */
const RESERVED = /[^A-Za-z0-9._~-]/gu;

const encodeUrl = (text: string) =>
  text.replace(RESERVED, (character) =>
    Buffer.from(character)
      .toString('hex')
      .replace(/../g, (octet) => `%${octet.toUpperCase()}`),
  );

/** Modifiers of a higher precedence come first. Those of the same one exclude each other. */
const MODIFIERS: readonly Modifier[] = [
  { name: ':lower', precedence: 40, change: lower },
  { name: ':upper', precedence: 40, change: upper },
  { name: ':lowerfirst', precedence: 30, change: (text) => lower(text.slice(0, 1)) + text.slice(1) },
  { name: ':upperfirst', precedence: 30, change: (text) => upper(text.slice(0, 1)) + text.slice(1) },
  { name: ':quotewildcard', precedence: 20, change: (text) => text.replace(/[*?\\]/g, '\\$&') },
  { name: ':quoteregex', precedence: 20, change: (text) => text.replace(/[.[\]\\*^$+?{}()|]/g, '\\$&') },
  { name: ':encodeurl', precedence: 15, change: encodeUrl },
  { name: ':length', precedence: 10, change: (text) => String([...text].length) },
];

function tagOf({ name, precedence }: Modifier): Tag {
  return { name, group: `modifier ${precedence}` };
}

function tagsOf(isWanted: (name: string) => boolean): readonly Tag[] {
  return MODIFIERS.filter(({ name }) => isWanted(name)).map(tagOf);
}

/** Tag of the modifier that comes with notifications. */
export const ENCODE_URL_TAGS = tagsOf((name) => name === ':encodeurl');

/** Tag of the modifier that comes with regular expressions. */
export const QUOTE_REGEX_TAGS = tagsOf((name) => name === ':quoteregex');

/** Tags of the other modifiers. */
export const MODIFIER_TAGS = tagsOf((name) => name !== ':encodeurl' && name !== ':quoteregex');

/** Returns what the modifiers of a call make of a value. */
export function modifiersOf(call: Call): (value: string) => string {
  const own = MODIFIERS.filter(({ name }) => call.has(name));
  return (value) => own.reduce((text, { change }) => change(text), value);
}
