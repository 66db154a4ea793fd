/**
 * One mailbox, as the API and the composer understand it: a strict subset of RFC 5322 3.4 with the addr-spec of
 * RFC 5321 4.1.2. Exactly one address, so that limits, suppression and the envelope all speak of the same one
 * (security.md finding 8): no lists, groups, comments, routes or address literals.
 */
import { domainToASCII } from 'node:url';
import { decodeWord, encodeWords } from './message/encoded-word.ts';

export type Mailbox = {
  /** The display name as a reader sees it: unquoted, decoded. */
  name: string | undefined;
  /** `localPart@domain`, the form of the envelope. */
  address: string;
  /** As on the wire: a quoted-string only where a dot-atom cannot say it. */
  localPart: string;
  /** A-labels, lower case. */
  domain: string;
};

/** RFC 5321 4.5.3.1.1 and 4.5.3.1.3: a path of 256 octets, its angle brackets not counted. */
const MAX_LOCAL_PART_OCTETS = 64;
const MAX_ADDRESS_OCTETS = 254;
/** Ours: display names are for reading. */
const MAX_NAME_CHARACTERS = 256;
/** The longest name as encoded-words, with the address, stays well below it. */
export const MAX_MAILBOX_CHARACTERS = 4_096;

/** Controls, and the line and paragraph separators that some readers break lines at. */
const FORBIDDEN = /[\p{Cc}\p{Zl}\p{Zp}]/u;
const ATEXT = "A-Za-z0-9!#$%&'*+\\-/=?^_`{|}~";
const DOT_ATOM = new RegExp(`^[${ATEXT}]+(?:\\.[${ATEXT}]+)*$`);
const PLAIN_PHRASE = new RegExp(`^[${ATEXT}]+(?: [${ATEXT}]+)*$`);
const QUOTED = '"((?:[^"\\\\]|\\\\.)*)"';
/** A word of a display name. Unquoted it may hold dots (obs-phrase, RFC 5322 4.1) and UTF-8 (RFC 6532 3.2). */
const WORD = new RegExp(`(?:${QUOTED}|([${ATEXT}.\\u0080-\\u{10ffff}]+))( *)`, 'uy');
/** RFC 5321 4.1.2 Quoted-string: printable ASCII only. */
const QUOTED_LOCAL_PART = new RegExp(`^${QUOTED}$`);
const PRINTABLE_ASCII = /^[ -~]*$/;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const NOT_LDH = /[^A-Za-z0-9.\u0080-\u{10ffff}-]/u;
/** Soft hyphens, zero-width spaces: some programs drop them and some do not, so that one text is two domains. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;

/**
 * Parses `a@b.example`, `<a@b.example>` or `Name <a@b.example>`. Returns undefined when `text` is anything else, or
 * when its local part could be taken for another address (`explainRefusal`).
 */
export function parseMailbox(text: string): Mailbox | undefined {
  const mailbox = parseLegalMailbox(text);
  return mailbox && findAmbiguity(mailbox.localPart) === undefined ? mailbox : undefined;
}

/** Completes the sentence "`to` must …" for a mailbox that the RFCs allow and `parseMailbox` refuses. Undefined for any
 * other text. */
export function explainRefusal(text: string): string | undefined {
  const mailbox = parseLegalMailbox(text);
  return mailbox && findAmbiguity(mailbox.localPart);
}

function parseLegalMailbox(text: string): Mailbox | undefined {
  if (text.length > MAX_MAILBOX_CHARACTERS || !text.isWellFormed()) return undefined;
  const trimmed = trimSpaces(text);
  if (!trimmed.endsWith('>')) return parseAddress(trimmed, undefined);
  const phrase = readPhrase(trimmed);
  if (!phrase || trimmed[phrase.end] !== '<') return undefined;
  return parseAddress(trimmed.slice(phrase.end + 1, -1), phrase.name);
}

/** The form of a header field (RFC 5322 3.4), not folded; ASCII whatever the name holds. */
export function formatMailbox(mailbox: Mailbox): string {
  if (mailbox.name === undefined) return mailbox.address;
  return `${formatPhrase(mailbox.name)} <${mailbox.address}>`;
}

/** Equal for addresses that are compared as the same one, whatever the case of their letters. */
export function addressKey(address: string): string {
  return address.toLowerCase();
}

function formatPhrase(name: string): string {
  if (!PRINTABLE_ASCII.test(name) || name.includes('=?')) return encodeWords(name);
  return PLAIN_PHRASE.test(name) ? name : quote(name);
}

function quote(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

function unquote(text: string): string {
  return text.replace(/\\(.)/gu, '$1');
}

function trimSpaces(text: string): string {
  return text.replace(/^ +| +$/g, '');
}

/** Reads words up to whatever follows them. Encoded-words are decoded (RFC 2047 5 (3)), and adjacent ones joined
 * without the space between them (RFC 2047 6.2). */
function readPhrase(text: string): { name: string | undefined; end: number } | undefined {
  let name = '';
  let end = 0;
  let spaceBefore = true;
  let wasEncoded = false;
  while (text[end] !== '<') {
    WORD.lastIndex = end;
    const match = WORD.exec(text);
    if (!match || !spaceBefore) return undefined;
    const [whole, quoted, atom = '', spaces = ''] = match;
    const decoded = quoted === undefined ? decodeWord(atom) : undefined;
    const isEncoded = decoded !== undefined;
    if (end > 0 && !(wasEncoded && isEncoded)) name += ' ';
    name += decoded ?? (quoted === undefined ? atom : unquote(quoted));
    wasEncoded = isEncoded;
    spaceBefore = spaces !== '';
    end += whole.length;
  }
  name = trimSpaces(name);
  if (name.length > MAX_NAME_CHARACTERS || FORBIDDEN.test(name)) return undefined;
  return { name: name === '' ? undefined : name, end };
}

function parseAddress(text: string, name: string | undefined): Mailbox | undefined {
  const at = text.lastIndexOf('@');
  if (at < 0) return undefined;
  const localPart = parseLocalPart(text.slice(0, at));
  const domain = parseDomain(text.slice(at + 1));
  if (localPart === undefined || domain === undefined) return undefined;
  const address = `${localPart}@${domain}`;
  if (address.length > MAX_ADDRESS_OCTETS) return undefined;
  return { name, address, localPart, domain };
}

function parseLocalPart(text: string): string | undefined {
  const localPart = QUOTED_LOCAL_PART.test(text) ? shortestLocalPart(unquote(text.slice(1, -1))) : text;
  if (localPart.length > MAX_LOCAL_PART_OCTETS || !PRINTABLE_ASCII.test(localPart)) return undefined;
  if (localPart === '""') return undefined;
  return DOT_ATOM.test(localPart) || QUOTED_LOCAL_PART.test(localPart) ? localPart : undefined;
}

/**
 * Returns the reason when receiving programs disagree on this local part: a reader may see another author, or a server
 * another recipient, than the one that was checked here.
 */
function findAmbiguity(localPart: string): string | undefined {
  // RFC 2047 5: an encoded word must not be inside an addr-spec, but some programs decode it there nevertheless.
  if (localPart.includes('=?'))
    return 'must not have `=?` before the @: some programs decode it as other text';
  if (!localPart.startsWith('"')) return undefined;
  if (/[<>@]/.test(localPart)) return 'must not have `<`, `>` or `@` inside a quoted local part';
  if (/^" *"$/.test(localPart)) return 'must have more than spaces in its quoted local part';
  return undefined;
}

/** RFC 5321 4.1.2: a sender should avoid the quoted form where the plain one says the same. */
function shortestLocalPart(value: string): string {
  return DOT_ATOM.test(value) ? value : quote(value);
}

/** At least two labels of letters, digits and hyphens (RFC 1035 2.3.1), the last not a number, which would be an IPv4
 * address. A domain in Unicode becomes its A-labels (RFC 5890 2.3.2.1). */
function parseDomain(text: string): string | undefined {
  if (NOT_LDH.test(text) || INVISIBLE.test(text)) return undefined;
  const lower = text.toLowerCase();
  const domain = PRINTABLE_ASCII.test(lower) ? lower : domainToASCII(lower);
  const labels = domain.split('.');
  if (labels.length < 2 || !labels.every((label) => LABEL.test(label))) return undefined;
  return /^[0-9]+$/.test(labels.at(-1) ?? '') ? undefined : domain;
}
