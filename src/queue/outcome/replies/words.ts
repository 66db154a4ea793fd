/**
 * Splits the text of a reply into the words that phrases are compared with. Addresses, URLs, IP addresses and host names are left
 * out, because their letters say nothing: a refusal of `rate@policy.example` is not about a rate. One pass over the text, so that
 * the time grows with its length alone.
 */

/** Maximum number of characters that are read. Servers give the reason at the beginning. */
const MAX_TEXT_CHARACTERS = 2_000;

export type ReplyWords = {
  /** Words in lower case. A number sign stays with the digits behind it: `#5` `7` `1`. */
  words: readonly string[];
  /** Host names of URLs and of dotted names, in lower case, such as `www.spamhaus.org`. */
  hosts: readonly string[];
};

/** The characters that stand between the pieces of a text, besides white space: a piece is a URL, an address or a word. */
const SEPARATORS = '<>()[]{}"\',;|`';
/** True for the codes of separators, of white space and of controls in ASCII. */
const SEPARATES = Array.from(
  { length: 0x80 },
  (_, code) => code <= 0x20 || SEPARATORS.includes(String.fromCharCode(code)),
);

/** Splits a text. `ownNames` are further names of the delivery that are left out, such as the domain of the recipient. */
export function splitReply(text: string, ownNames: readonly string[] = []): ReplyWords {
  const words: string[] = [];
  const hosts: string[] = [];
  const bounded = text.slice(0, MAX_TEXT_CHARACTERS).toLowerCase();
  for (const piece of piecesOf(bounded)) {
    const scheme = piece.indexOf('://');
    if (scheme > 0) hosts.push(hostOfUrl(piece.slice(scheme + 3)));
    else if (piece.includes('@')) addWords(words, withoutAddresses(piece));
    else if (piece.includes('.')) addDotted({ words, hosts, ownNames }, piece);
    else addWords(words, piece);
  }
  return { words, hosts: hosts.filter((host) => host !== '' && !isOwn(host, ownNames)) };
}

function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  let start = 0;
  for (let at = 0; at <= text.length; at++) {
    if (at < text.length && !SEPARATES[text.charCodeAt(at)]) continue;
    if (at > start) pieces.push(text.slice(start, at));
    start = at + 1;
  }
  return pieces;
}

function hostOfUrl(rest: string): string {
  return /^[a-z0-9.-]*/.exec(rest)?.[0] ?? '';
}

/** Characters of a domain, which end an address: `ann@example.com...user`. */
const DOMAIN = /^[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*/u;

/** Removes the addresses of a piece, and keeps what is written before and behind without a space: `user:ann@example.com`. */
function withoutAddresses(piece: string): string {
  const at = piece.indexOf('@');
  const local = piece.slice(0, at);
  const before = local.slice(0, Math.max(local.lastIndexOf(':'), local.lastIndexOf('=')) + 1);
  const rest = piece.slice(at + 1);
  const behind = rest.slice(DOMAIN.exec(rest)?.[0].length ?? 0);
  return `${before} ${behind.includes('@') ? '' : behind}`;
}

type Target = { words: string[]; hosts: string[]; ownNames: readonly string[] };

/** Adds a piece with dots, which is a host name, an IP address, a status code, or words without a space between them. */
function addDotted({ words, hosts, ownNames }: Target, piece: string): void {
  for (const part of piece.split(/[:/=]/)) {
    const name = part.replace(/^[.*]+|[.!?…-]+$/g, '');
    const labels = name.split('.');
    const isNumeric = labels.every((label) => /^#?\d{1,3}$/.test(label));
    if (isNumeric && labels.length === 4) continue;
    if (!isNumeric && isHostName(labels, name, ownNames)) hosts.push(name);
    else addWords(words, part);
  }
}

function isHostName(labels: readonly string[], name: string, ownNames: readonly string[]): boolean {
  const top = labels.at(-1) ?? '';
  // Longer last labels belong to codes such as `RESOLVER.ADR.RecipNotFound` of Exchange.
  if (!/^[a-z]{2,10}$/.test(top) || labels.some((label) => label === '')) return false;
  // Two labels may be the end of one sentence and the beginning of the next: `unknown.Please`.
  return labels.length >= 3 || isOwn(name, ownNames);
}

/** Returns true for a name of the delivery itself, and for names below it. */
function isOwn(name: string, ownNames: readonly string[]): boolean {
  return ownNames.some((own) => own !== '' && isWithin(name, own));
}

/** Returns true when a host name is this domain or lies below it. Both are in lower case. */
export function isWithin(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`);
}

/** First character of the scripts that are written without spaces, in which each character is a word: Han, kana, Hangul. */
const FIRST_IDEOGRAPH = 0x2e80;

function addWords(words: string[], text: string): void {
  let start = -1;
  for (let at = 0; at <= text.length; at++) {
    const code = at < text.length ? text.charCodeAt(at) : 0x20;
    if (isLetter(code)) {
      if (code < FIRST_IDEOGRAPH) {
        if (start < 0) start = text[at - 1] === '#' && isDigit(code) ? at - 1 : at;
        continue;
      }
      if (start >= 0) words.push(text.slice(start, at));
      start = -1;
      words.push(text.slice(at, at + 1));
    } else if (start >= 0) {
      words.push(text.slice(start, at));
      start = -1;
    }
  }
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Returns true for digits and letters in lower case. Punctuation between U+00A0 and U+00BF, in U+2000 and in U+3000 separates words. */
function isLetter(code: number): boolean {
  if (code < 0x80) return isDigit(code) || (code >= 0x61 && code <= 0x7a);
  return code >= 0xc0 && (code < 0x2000 || code >= FIRST_IDEOGRAPH) && (code < 0x3000 || code >= 0x3040);
}
