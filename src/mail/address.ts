/**
 * Parses one mailbox for the API and the composer: a strict subset of RFC 5322 section 3.4 with the addr-spec of RFC
 * 5321 section 4.1.2, with the UTF-8 of RFC 6531 section 3.3. It accepts exactly one address, so that limits, suppressions
 * and the envelope apply to the same one: no lists, groups, comments, routes or address literals.
 */
import { domainToASCII } from 'node:url';
import { decodeWord, encodeWords } from './encoded-word.ts';

export type Mailbox = {
  /** Display name as a reader sees it, unquoted and decoded. */
  name: string | undefined;
  /** `localPart@domain`, the form of the envelope. */
  address: string;
  /** Local part as it is sent: a quoted-string only when a dot-atom cannot express it. */
  localPart: string;
  /** Domain as A-labels in lower case. */
  domain: string;
};

/**
 * Maximum length of an address: a path has 256 octets including its angle brackets (RFC 5321 section 4.5.3.1.3). Local parts of others have no
 * limit of their own, since forwarders and confirmations use longer ones than the 64 octets of section 4.5.3.1.1.
 */
const MAX_ADDRESS_OCTETS = 254;
/** Maximum length of a display name. Display names are for reading. */
const MAX_NAME_CHARACTERS = 256;
/** Maximum length of a mailbox text. The longest name as encoded-words, with the address, stays well below it. */
export const MAX_MAILBOX_CHARACTERS = 4_096;

/** Matches control characters, and the line and paragraph separators at which some readers break lines. */
const FORBIDDEN = /[\p{Cc}\p{Zl}\p{Zp}]/u;
const ATEXT = "A-Za-z0-9!#$%&'*+\\-/=?^_`{|}~";
const DOT_ATOM = new RegExp(`^[${ATEXT}]+(?:\\.[${ATEXT}]+)*$`);
/**
 * Matches a character beyond ASCII that an address may have (RFC 6532 section 3.1): none that controls, separates or reorders text, and
 * none without a meaning that stays, since its normal form may change. U+037E becomes a semicolon in NFC, and U+FFFD stands for octets that
 * were no UTF-8.
 */
export const UTF8_CHARACTER = '[^\\0-\\x7f\\p{Cc}\\p{Cs}\\p{Co}\\p{Cn}\\p{Z}\\p{Bidi_Control}\\u037e\\ufffd]';
const UTF8_ATOM = `(?:[${ATEXT}]|${UTF8_CHARACTER})+`;
const UTF8_DOT_ATOM = new RegExp(`^${UTF8_ATOM}(?:\\.${UTF8_ATOM})*$`, 'u');
const PLAIN_PHRASE = new RegExp(`^[${ATEXT}]+(?: [${ATEXT}]+)*$`);
const QUOTED = '"((?:[^"\\\\]|\\\\.)*)"';
/**
 * One word of a display name. An unquoted word may contain dots (obs-phrase, RFC 5322 section 4.1) and UTF-8 (RFC
 * 6532 section 3.2).
 */
const WORD = new RegExp(`(?:${QUOTED}|([${ATEXT}.\\u0080-\\u{10ffff}]+))( *)`, 'uy');
/** Matches a quoted local part, which is printable ASCII only (RFC 5321 section 4.1.2). */
const QUOTED_LOCAL_PART = new RegExp(`^${QUOTED}$`);
const PRINTABLE_ASCII = /^[ -~]*$/;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const NOT_LDH = /[^A-Za-z0-9.\u0080-\u{10ffff}-]/u;
/**
 * Matches soft hyphens and zero-width spaces. Some programs drop them and others do not, so that one text would mean
 * two domains, or two addresses.
 */
export const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;

/**
 * Parses `a@b.example`, `<a@b.example>` or `Name <a@b.example>`. Returns undefined when `text` is anything else, or
 * when its local part could be taken for another address (`explainRefusal`).
 */
export function parseMailbox(text: string): Mailbox | undefined {
  const mailbox = parseLegalMailbox(text);
  return mailbox && findAmbiguity(mailbox.localPart) === undefined ? mailbox : undefined;
}

/**
 * Returns the end of the sentence "`to` must …" for a mailbox that the RFCs allow and `parseMailbox` refuses;
 * undefined for any other text.
 */
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

/** Returns the mailbox as a header field shows it (RFC 5322 section 3.4), not folded. It is ASCII except for a local part in UTF-8. */
export function formatMailbox(mailbox: Mailbox): string {
  if (mailbox.name === undefined) return mailbox.address;
  return `${formatPhrase(mailbox.name)} <${mailbox.address}>`;
}

/**
 * Returns the normalised form of an address, in which addresses are stored and compared. It is equal for addresses that differ only in the
 * case of their letters, or in how letters with accents are composed: lower case, then NFC (RFC 8265 section 3.3.2).
 */
export function addressKey(address: string): string {
  if (isAsciiAddress(address)) return address.toLowerCase();
  // The small sigma has two forms, of which the position in the word chooses one.
  return address.normalize('NFC').replaceAll(/[σς]/g, 'Σ').toLowerCase().normalize('NFC');
}

/**
 * Returns an address in the form in which it is stored where SQL compares it in lower case. SQL knows the letters of ASCII alone, so any
 * other address is stored in its normalised form, and one in ASCII as it was written.
 */
export function addressForSql(address: string): string {
  return isAsciiAddress(address) ? address : addressKey(address);
}

/** Returns true for an address that every mail server can take. Any other needs SMTPUTF8 (RFC 6531). */
export function isAsciiAddress(address: string): boolean {
  return PRINTABLE_ASCII.test(address);
}

/** Separates a local part from its tag, as in `sales+spring`. */
const TAG_SEPARATOR = '+';

/**
 * Returns a local part without its tag: `sales` for `sales+spring`. Returns undefined when it has no tag, which is
 * also true of a local part in quotes.
 */
export function withoutTag(localPart: string): string | undefined {
  const end = localPart.indexOf(TAG_SEPARATOR);
  return end <= 0 || localPart.startsWith('"') ? undefined : localPart.slice(0, end);
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

/**
 * Reads words up to the `<`. Encoded-words are decoded (RFC 2047 section 5 (3)), and the space between two adjacent
 * ones is dropped (RFC 2047 section 6.2).
 */
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
  if (Buffer.byteLength(address) > MAX_ADDRESS_OCTETS) return undefined;
  return { name, address, localPart, domain };
}

function parseLocalPart(text: string): string | undefined {
  const localPart = QUOTED_LOCAL_PART.test(text) ? shortestLocalPart(unquote(text.slice(1, -1))) : text;
  if (localPart === '""') return undefined;
  if (!PRINTABLE_ASCII.test(localPart)) return isUtf8LocalPart(localPart) ? localPart : undefined;
  return DOT_ATOM.test(localPart) || QUOTED_LOCAL_PART.test(localPart) ? localPart : undefined;
}

function isUtf8LocalPart(text: string): boolean {
  return UTF8_DOT_ATOM.test(text) && !INVISIBLE.test(text);
}

/**
 * Returns the reason when receiving programs disagree on this local part: a reader may see another author, or a server
 * another recipient, than the one that was checked here.
 */
function findAmbiguity(localPart: string): string | undefined {
  // An encoded-word must not be inside an addr-spec (RFC 2047 section 5), but some programs decode it there
  // nevertheless.
  if (localPart.includes('=?'))
    return 'must not have `=?` before the @: some programs decode it as other text';
  if (!localPart.startsWith('"')) return undefined;
  if (/[<>@]/.test(localPart)) return 'must not have `<`, `>` or `@` inside a quoted local part';
  if (/^" *"$/.test(localPart)) return 'must have more than spaces in its quoted local part';
  return undefined;
}

/** Returns the plain form when it expresses the same local part, as senders should (RFC 5321 section 4.1.2). */
function shortestLocalPart(value: string): string {
  return DOT_ATOM.test(value) || isUtf8LocalPart(value) ? value : quote(value);
}

/**
 * Returns the domain as A-labels (RFC 5890 section 2.3.2.1). It has at least two labels of letters, digits and
 * hyphens (RFC 1035 section 2.3.1), and the last is not a number, because that would be an IPv4 address.
 */
function parseDomain(text: string): string | undefined {
  if (NOT_LDH.test(text) || INVISIBLE.test(text)) return undefined;
  const lower = text.toLowerCase();
  const domain = PRINTABLE_ASCII.test(lower) ? lower : domainToASCII(lower);
  const labels = domain.split('.');
  if (labels.length < 2 || !labels.every((label) => LABEL.test(label))) return undefined;
  return /^[0-9]+$/.test(labels.at(-1) ?? '') ? undefined : domain;
}
