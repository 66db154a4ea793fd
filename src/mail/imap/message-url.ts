/**
 * Reads the URLs of CATENATE, which name messages and parts of them in the account of the client (RFC 4469 section 3): relative
 * references without a server, as RFC 5092 section 11 defines them.
 */

import type { PartialRange, Section } from '../message/section.ts';
import { CommandError } from './command-error.ts';
import { decodeMailboxName } from './encode/strings.ts';
import { SEPARATOR } from './list-pattern.ts';
import { Cursor } from './parser/cursor.ts';
import { parseSection } from './parser/fetch-items.ts';
import type { Refusal } from './session.ts';

/** Octets that a message or a part of it has in a mailbox. */
export type MessageUrl = {
  mailbox: string;
  /** The URL names nothing when the mailbox has another one. */
  uidValidity: number | undefined;
  uid: number;
  section: Section;
  partial: PartialRange | undefined;
};

/** Maximum length of a URL: four times that of the name of a mailbox, and a section. */
export const MAX_URL_OCTETS = 16 * 1024;

const CHARACTER = "(?:[\\w.~!$'()*+,&=:@/-]|%[\\da-f]{2})";
const NUMBER = '([1-9]\\d{0,9})';
const MESSAGE = new RegExp(
  `^/(${CHARACTER}*?)(?:;uidvalidity=${NUMBER})?/;uid=${NUMBER}` +
    `(?:/;section=(${CHARACTER}+))?(?:/;partial=(\\d{1,10})(?:\\.${NUMBER})?)?$`,
  'i',
);
/** Maximum of the numbers of messages, mailboxes and octets: 32 bits (RFC 9051 section 9, `number`). */
const MAX_NUMBER = 2 ** 32 - 1;
const WHOLE: Section = { part: [], text: undefined, fields: [] };

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Returns what a URL names; undefined when it is malformed or names no message. A relative path begins in the selected mailbox, and at the
 * root when there is none.
 */
export function parseMessageUrl(url: string, selected: string | undefined): MessageUrl | undefined {
  const match = MESSAGE.exec(resolve(url, selected));
  if (!match) return undefined;
  const [, name = '', uidValidity, uid, section, offset, count] = match;
  const mailbox = decodeMailboxName(decode(name) ?? '', 'utf8');
  const read = section === undefined ? WHOLE : readSection(decode(section));
  const numbers = [uidValidity, uid, offset, count].map((digits) => Number(digits ?? 1));
  if (!mailbox || !read || numbers.some((number) => number > MAX_NUMBER)) return undefined;
  return {
    mailbox,
    uidValidity: uidValidity === undefined ? undefined : Number(uidValidity),
    uid: Number(uid),
    section: read,
    partial:
      offset === undefined ? undefined : { offset: Number(offset), count: Number(count ?? MAX_NUMBER) },
  };
}

/** Returns the absolute path of a reference, without its segments `.` and `..` (RFC 3986 section 5.2.4). */
function resolve(url: string, selected: string | undefined): string {
  if (url.startsWith('//')) return '';
  const base = selected === undefined ? '' : selected.split(SEPARATOR).map(encodeSegment).join('/');
  const path = url.startsWith('/') ? url : `/${base}/${url}`;
  const segments: string[] = [];
  for (const segment of path.split('/').slice(1)) {
    if (segment === '..') segments.pop();
    else if (segment !== '.' && (segment !== '' || segments.length > 0)) segments.push(segment);
  }
  return `/${segments.join('/')}`;
}

/** A mailbox may have the name `..`. */
function encodeSegment(level: string): string {
  return encodeURIComponent(level).replaceAll('.', '%2E');
}

/** Returns the text of octets in UTF-8, some of which are written with a percent sign. */
function decode(text: string): string | undefined {
  const octets = text.replace(/%([\da-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  try {
    return utf8.decode(Buffer.from(octets, 'latin1'));
  } catch {
    return undefined;
  }
}

function readSection(text: string | undefined): Section | undefined {
  if (text === undefined) return undefined;
  try {
    const cursor = new Cursor(Buffer.from(`${text}]`));
    const { section } = parseSection(cursor);
    cursor.end();
    return section;
  } catch (error) {
    if (error instanceof CommandError) return undefined;
    throw error;
  }
}

/** Returns the refusal of a URL that names nothing (RFC 4469 section 4.1). Octets that a response code cannot hold are encoded. */
export function badUrl(url: string): Refusal {
  const shown = Buffer.from(url)
    .toString('latin1')
    .replace(
      /[^!-~]|[\]\\"]/g,
      (octet) => `%${octet.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    );
  return { refused: 'NO', code: `BADURL ${shown}`, text: 'The URL names no message or part of one' };
}
