/**
 * The lines of mbox files that belong to the format and not to a message (RFC 4155): the line that begins a message, and the header
 * fields in which programs keep flags. Lines of a message that could begin another one are quoted in the manner of mboxrd: with one
 * more `>`, so that every line can be restored.
 */
import { parseDate } from '../../mail/date.ts';
import { LF } from '../../mail/octets.ts';
import { fitName, MAX_FILE_OCTETS } from './fit-name.ts';
import { PIECE_BYTES } from './message.ts';

/** A line with its end, or a part of a line that is too long to be held. */
export type LinePiece = {
  bytes: Buffer;
  isStart: boolean;
};

/** Maximum length of a line that is yielded whole, in bytes. Lines of messages have at most 998 characters (RFC 5322 section 2.1.1). */
const MAX_WHOLE_BYTES = PIECE_BYTES;

const ENDING = '.mbox';

/** Matches `From sender date`. The date is that of asctime, and some programs add a zone to it. */
const FROM_LINE =
  /^From .{0,998}?(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}(\d{1,2}) (\d\d:\d\d(?::\d\d)?) (?:([+-]\d{4}|[A-Z]{1,5}) )?(\d{4})(?: ([+-]\d{4}|[A-Z]{1,5}))?\r?\n?$/;
/** Maximum length of a line that begins a message, in bytes. A sender has at most 254 (RFC 5321 section 4.5.3.1.3). */
/** Maximum length of a line that begins a message, in bytes. Its sender has at most 254 (RFC 5321 section 4.5.3.1.3). */
const MAX_FROM_LINE_BYTES = 1_024;
const FROM = Buffer.from('From ');
const QUOTE = 0x3e;

/**
 * Returns the time of a line that begins a message, in Unix milliseconds; undefined for another line. The time is UTC unless the line
 * names a zone (RFC 4155 appendix A).
 */
export function readFromLine(line: Buffer): number | undefined {
  if (line.length > MAX_FROM_LINE_BYTES || !hasFromAt(line, 0)) return undefined;
  const [, month, day, time, zoneBefore, year, zoneAfter] = FROM_LINE.exec(line.toString('latin1')) ?? [];
  if (month === undefined) return undefined;
  return parseDate(`${day} ${month} ${year} ${time} ${zoneBefore ?? zoneAfter ?? '+0000'}`) ?? undefined;
}

/** Returns the line that begins a message. A bounce, which has no sender, is from MAILER-DAEMON. */
export function formatFromLine(sender: string, receivedAt: number): string {
  const name = /^[!-~]+$/.test(sender) ? sender : 'MAILER-DAEMON';
  const [weekday, day = '', month, year, time] = new Date(receivedAt).toUTCString().split(/,? /);
  return `From ${name} ${weekday} ${month} ${String(Number(day)).padStart(2)} ${time} ${year}\n`;
}

/** Returns the number of `>` before `From ` at the beginning of a line; undefined for a line without this. */
export function quotesOf(line: Buffer): number | undefined {
  let quotes = 0;
  while (line[quotes] === QUOTE) quotes++;
  return hasFromAt(line, quotes) ? quotes : undefined;
}

function hasFromAt(line: Buffer, start: number): boolean {
  return line.subarray(start, start + FROM.length).equals(FROM);
}

/** Names, in lower case, of the fields that keep flags. Readers remove them from the message. */
export const STATUS_FIELDS: ReadonlySet<string> = new Set(['status', 'x-status', 'x-keywords']);

const LETTERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  status: { R: '\\Seen' },
  'x-status': { A: '\\Answered', F: '\\Flagged', T: '\\Draft', D: '\\Deleted' },
};

/** Returns the flags that these fields say. The name is in lower case. */
export function readStatusField(name: string, value: string): string[] {
  if (name === 'x-keywords') return value.split(/[\s,]+/).filter((word) => word !== '');
  return [...value].flatMap((letter) => LETTERS[name]?.[letter] ?? []);
}

/** Returns the fields that keep these flags, each with its LF. */
export function formatStatusFields(flags: readonly string[]): string {
  const lettersOf = (name: string) =>
    Object.entries(LETTERS[name] ?? {})
      .filter(([, flag]) => flags.includes(flag))
      .map(([letter]) => letter)
      .join('');
  const keywords = flags.filter((flag) => !flag.startsWith('\\'));
  // `O` says that a program has seen the message before, so that none shows it as new.
  return [
    `Status: ${lettersOf('status')}O\n`,
    ...(lettersOf('x-status') === '' ? [] : [`X-Status: ${lettersOf('x-status')}\n`]),
    ...(keywords.length === 0 ? [] : [`X-Keywords: ${keywords.join(' ')}\n`]),
  ].join('');
}

/** Returns the path of the file of a folder, relative to the archive. It leads to no other place, whatever the folder is called. */
export function fileOfFolder(folder: string): string {
  const levels = folder.split('/').map((level, index, { length }) => {
    // A level such as `..` would be another directory, and one with a dot in front a hidden one.
    const escaped = level.replaceAll('%', '%25').replace(/^\./, '%2E');
    if (index === length - 1) return fitName(escaped, MAX_FILE_OCTETS - ENDING.length);
    // A directory that ends like a file could have the name of the file of another folder.
    return fitName(escaped.replace(/\.(?=mbox$)/i, '%2E'), MAX_FILE_OCTETS);
  });
  return `${levels.join('/')}${ENDING}`;
}

/** Returns the folder of a file, whose path is relative to the archive. */
export function folderOfFile(path: string): string {
  const levels = path.split('/').map((level, index, { length }) => {
    const name = index === length - 1 ? level.replace(/\.mbox$/i, '') : level.replace(/\.sbd$/, '');
    return name.replaceAll('%2E', '.').replaceAll('%25', '%');
  });
  const name = levels.join('/');
  return name.replace(/^inbox(?=\/|$)/i, 'INBOX');
}

/**
 * Yields the lines of the chunks in groups, one group for each chunk. The last line may lack its LF. A line of more than 64 KiB comes
 * in several pieces.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<LinePiece[]> {
  let rest: Buffer = Buffer.alloc(0);
  let isStart = true;
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    const pieces: LinePiece[] = [];
    let from = 0;
    for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, from)) {
      pieces.push({ bytes: bytes.subarray(from, end + 1), isStart });
      isStart = true;
      from = end + 1;
    }
    rest = bytes.subarray(from);
    if (rest.length > MAX_WHOLE_BYTES) {
      pieces.push({ bytes: rest, isStart });
      isStart = false;
      rest = Buffer.alloc(0);
    }
    if (pieces.length > 0) yield pieces;
  }
  if (rest.length > 0) yield [{ bytes: rest, isStart }];
}
