/**
 * Reads the author of a message. Readers show the From field in different ways when it is unusual, and forgers use that:
 * each address that any reader might show counts here, so a field that two readers may understand differently has more
 * than one, and the message is refused.
 */
import { domainToASCII } from 'node:url';
import { fieldValue, type HeaderField } from '../dkim/verify/header-fields.ts';
import { decodeWords } from '../message/decode-words.ts';
import type { FromOutcome } from './result.ts';

/** Maximum length of the field. A name and an address need a few hundred characters. */
const MAX_FROM_CHARACTERS = 4_096;
/**
 * Matches the local part of an address (RFC 5322 section 3.4.1, RFC 6531 section 3.3). Dots may stand anywhere: some
 * providers gave out such addresses.
 */
const LOCAL_PART = /^(?:[A-Za-z0-9!#$%&'*+/=?^_`{|}~.\u0080-\uffff-]+|"(?:[^"\\\r\n]|\\[ -~])*")$/;
const DOMAIN = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/;

/** Returns the authors. An address that cannot be understood makes the list empty. */
export function readFrom(fields: readonly HeaderField[]): FromOutcome {
  const found = fields.filter(({ name }) => name === 'from');
  const addresses = found.map((field) => readAddresses(fieldValue(field)));
  const isUnreadable = addresses.some((list) => list === undefined);
  return {
    addresses: isUnreadable ? [] : addresses.flatMap((list) => list ?? []),
    fields: found.length,
    ...(found.every((field) => isNameless(fieldValue(field))) && { isNameless: true }),
  };
}

/** Returns true for a field without an `@` in any form that a reader may show. */
function isNameless(value: string): boolean {
  const text = Buffer.from(value, 'latin1').toString();
  return ![text, decodeWords(text)].some((form) => form.normalize('NFKC').includes('@'));
}

type Token = { kind: 'word' | 'quoted' | 'special'; text: string };

/** Returns the addresses of a field, or undefined when one of them cannot be understood. */
function readAddresses(value: string): string[] | undefined {
  if (value.length > MAX_FROM_CHARACTERS) return undefined;
  const tokens = tokenize(Buffer.from(value, 'latin1').toString());
  if (!tokens) return undefined;
  const addresses: string[] = [];
  for (const mailbox of split(tokens, ',')) {
    if (mailbox.length === 0) continue;
    const found = readMailbox(mailbox);
    if (!found) return undefined;
    addresses.push(...found);
  }
  return addresses;
}

/**
 * Returns the tokens of a structured field without its comments (RFC 5322 section 3.2). Undefined for one with an open
 * string or comment, or with an escape outside of them.
 */
function tokenize(text: string): Token[] | undefined {
  const tokens: Token[] = [];
  const pattern = /[ \t\r\n]+|"(?:[^"\\]|\\[\s\S])*"|[<>,;:@]|\(|[^ \t\r\n"<>,;:@()\\]+|[\s\S]/g;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const [token] = match;
    const first = token.charAt(0);
    if (first === '(') {
      const end = endOfComment(text, match.index);
      if (end === undefined) return undefined;
      pattern.lastIndex = end;
    } else if (/[ \t\r\n]/.test(first)) continue;
    else if (token.length > 1 && first === '"') tokens.push({ kind: 'quoted', text: token });
    else if (/[<>,;:@]/.test(first)) tokens.push({ kind: 'special', text: token });
    else if (/["()\\]/.test(first)) return undefined;
    else tokens.push({ kind: 'word', text: token });
  }
  return tokens;
}

/** Returns the offset after a comment, which may contain others. */
function endOfComment(text: string, start: number): number | undefined {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '\\') at++;
    else if (character === '(') depth++;
    else if (character === ')' && --depth === 0) return at + 1;
  }
  return undefined;
}

function split(tokens: readonly Token[], separator: string): Token[][] {
  const parts: Token[][] = [[]];
  for (const token of tokens) {
    if (token.kind === 'special' && token.text === separator) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}

/**
 * Reads one mailbox: an address, or a name with an address in angle brackets. An unquoted name that looks like another
 * address counts as one, since some readers show it. Words after the brackets, and colons in the name, are part of neither: lists and shops
 * write `Ann <ann@example.com> via List` and `Shop: Orders <orders@example.com>`.
 */
function readMailbox(tokens: readonly Token[]): string[] | undefined {
  const open = tokens.findIndex((token) => isSpecial(token, '<'));
  if (open < 0) {
    const address = readAddress(tokens);
    return address === undefined ? undefined : [address];
  }
  const close = tokens.findIndex((token) => isSpecial(token, '>'));
  const name = tokens.slice(0, open);
  const inner = tokens.slice(open + 1, Math.max(open, close));
  if (close < open || tokens.slice(close + 1).some(({ kind }) => kind !== 'word')) return undefined;
  const address = inner.some((token) => isSpecial(token, '<')) ? undefined : readAddress(inner);
  if (address === undefined || name.some((token) => isSpecial(token, ';'))) return undefined;
  if (!name.some((token) => isSpecial(token, '@'))) return [address];
  const shown = readAddress(name);
  if (shown === undefined) return undefined;
  return shown === address ? [address] : [shown, address];
}

/** Returns an address with its domain in lower case and in A-labels. Routes and domain literals are not understood. */
function readAddress(tokens: readonly Token[]): string | undefined {
  const at = tokens.findIndex((token) => isSpecial(token, '@'));
  if (tokens.some((token, index) => isApart(tokens[index - 1], token))) return undefined;
  const localPart = textOf(tokens.slice(0, at));
  const written = textOf(tokens.slice(at + 1));
  if (at < 1 || !LOCAL_PART.test(localPart)) return undefined;
  const domain = (/[\u0080-\uffff]/.test(written) ? domainToASCII(written) : written)
    .toLowerCase()
    .replace(/\.$/, '');
  return DOMAIN.test(domain) ? `${localPart}@${domain}` : undefined;
}

/** Returns true for words with white space between them. It may stand around dots alone (RFC 5322 section 4.4). */
function isApart(before: Token | undefined, token: Token): boolean {
  if (before?.kind !== 'word' || token.kind !== 'word') return false;
  return !before.text.endsWith('.') && !token.text.startsWith('.');
}

function textOf(tokens: readonly Token[]): string {
  return tokens.map(({ text }) => text).join('');
}

function isSpecial({ kind, text }: Token, special: string): boolean {
  return kind === 'special' && text === special;
}
