/**
 * A notice is the part of a bounce that is about one recipient, whatever form the bounce has. Programs write the addresses of bounces in
 * angle brackets, with a type, or in the encodings of ORCPT.
 */
import { domainToASCII } from 'node:url';
import { addressKey } from '../address.ts';

/**
 * The forms of bounces. `structured` is the machine-readable form (RFC 3464, RFC 6533); `text` is written for people, and its codes are
 * read from the words.
 */
type BounceForm = 'structured' | 'text';

/** The actions of RFC 3464 section 2.3.3. */
export type NoticeAction = 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded';

export type Notice = {
  form: BounceForm;
  action: NoticeAction;
  /** Enhanced status code of the report itself (RFC 3463), such as `5.1.1`. */
  status: string | null;
  /** The reason in one line: usually the reply of the last server, without its type. */
  diagnosticCode: string | null;
  /** All words of the text for people about this address; null when it has none. */
  explanation: string | null;
  /**
   * The address that failed, and the one that the sender gave. Either may be in an encoded form (address.ts). A text that names no
   * address has neither.
   */
  finalRecipient: string | null;
  originalRecipient: string | null;
  /** Name of the server that refused or delayed the message. */
  remoteMta: string | null;
  /** Time until which the reporting server keeps trying, in Unix milliseconds. */
  willRetryUntil: number | null;
};

/** Maximum number of recipients in one bounce. An email has at most 150. */
export const MAX_NOTICES = 200;
/** Maximum length of a diagnostic. The codes and the reason stand at its beginning. */
export const MAX_DIAGNOSTIC_CHARACTERS = 2_000;

const STATUS = /(?:^|[^\d.])([245]\.\d{1,3}\.\d{1,3})(?![\d.])/;

/** Returns the first enhanced status code of a text, or null. */
export function findStatus(text: string): string | null {
  return STATUS.exec(text)?.[1] ?? null;
}

/**
 * Returns a diagnostic as one line. A reply of several lines repeats its code, which is shown once: `550-5.1.1 No
 * 550 5.1.1 mailbox`.
 */
export function cleanDiagnostic(text: string): string | null {
  const line = text.slice(0, MAX_DIAGNOSTIC_CHARACTERS).replace(/\s+/g, ' ').trim();
  const [, code = ''] = /^([245]\d\d)-/.exec(line) ?? [];
  if (code === '') return line === '' ? null : line;
  const repeated = new RegExp(` ${code}[- ](?:[245]\\.\\d{1,3}\\.\\d{1,3} )?`, 'g');
  return line.replace(/^(\d\d\d)-/, '$1 ').replace(repeated, ' ');
}

/** Maximum length of an address field that is read. An address has at most 254 octets, encoded thrice as many. */
const MAX_FIELD_CHARACTERS = 1_000;

/** Returns the address of a field such as `rfc822; <bob@example.com>`; null when there is none. */
export function typedAddress(value: string | undefined): string | null {
  if (value === undefined || value.length > MAX_FIELD_CHARACTERS) return null;
  const [, address = ''] = /^(?:\s*[A-Za-z0-9-]{1,40}\s*;)?(.*)$/s.exec(value) ?? [];
  return bareAddress(address);
}

/**
 * Returns an address without angle brackets, comments, quotes and a source route (RFC 5321 appendix F.2) around it; null when nothing
 * like an address is left.
 */
export function bareAddress(text: string): string | null {
  const end = text.endsWith(')') ? text.lastIndexOf('(') : text.length;
  const inBrackets = /<([^<>]*)>/.exec(text)?.[1] ?? text.slice(0, end);
  const address = inBrackets
    .trim()
    .replace(/^"([^"]*)"$/, '$1')
    .replace(/^@[^\s:]+:/, '');
  return /^(?:"[^"<>]+"|[^\s<>]+)@[^\s<>@]+$/.test(address) ? address : null;
}

/**
 * Returns the keys that an address of a report may have among those of our recipients: as it is written, and with the encodings of
 * ORCPT undone (RFC 3461 section 4, RFC 6533 section 3), which some servers copy into the report.
 */
export function addressReadings(address: string): string[] {
  const decoded = withoutCodePoints(address).replace(/\+([0-9A-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return [...new Set([address, decoded].map(asciiKey))];
}

/** Returns a text with the characters for which code points stand in it (`\x{FC}`, EmbeddedUnicodeChar in RFC 6533 section 3). */
function withoutCodePoints(text: string): string {
  return text.replace(/\\x\{([0-9A-Fa-f]{2,6})\}/g, (whole, hex: string) => fromCodePoint(hex) ?? whole);
}

function fromCodePoint(hex: string): string | undefined {
  const code = Number.parseInt(hex, 16);
  return code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}

/** Our recipients have their domains in A-labels. */
function asciiKey(address: string): string {
  const at = address.lastIndexOf('@');
  const domain = address.slice(at + 1);
  const ascii = domainToASCII(domain);
  return addressKey(`${address.slice(0, at)}@${ascii === '' ? domain : ascii}`);
}

/** Matches the characters that stand for themselves in an address of the type `utf-8` (QCHAR in RFC 6533 section 3). */
const QCHAR = /[!-*,-<>-[\]-~]/;

/**
 * Returns an address with its type (RFC 3464 section 2.3.2). One with other characters than ASCII has the type `utf-8`, in the form that
 * every server can carry (RFC 6533 section 3).
 */
export function formatTypedAddress(address: string): string {
  if (/^[ -~]*$/.test(address)) return `rfc822; ${address}`;
  const encoded = Array.from(address, (character) =>
    QCHAR.test(character) ? character : `\\x{${hexOf(character)}}`,
  );
  return `utf-8; ${encoded.join('')}`;
}

/**
 * Returns an address with its type as it stands in a notification in UTF-8, where it needs no encoding (the form utf-8-address in RFC 6533
 * section 3).
 */
export function formatUtf8Address(address: string): string {
  return /^[ -~]*$/.test(address) ? `rfc822; ${address}` : `utf-8; ${address}`;
}

/** Returns the original recipient of a sender, with its type, for a notification in UTF-8 (RFC 6533 section 4.1). */
export function upConverted(typed: string): string {
  const decoded = withoutCodePoints(typed);
  // A text that is no printable address stays as the sender wrote it.
  return /^utf-8;/i.test(typed) && /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]*$/u.test(decoded) ? decoded : typed;
}

function hexOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(2, '0');
}
