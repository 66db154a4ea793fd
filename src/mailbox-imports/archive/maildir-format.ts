/**
 * The names in a maildir: those of messages, which end with their flags, and those of folders in the layout of Maildir++, which most
 * servers use: `.Lists.dev` beside the messages of INBOX.
 */
import { decodeMailboxName, encodeMailboxName } from '../../mail/imap/encode/strings.ts';
import { fitName, MAX_FILE_OCTETS } from './fit-name.ts';

/** Keywords are the letters from `a` on. The file names the keyword of each letter, as Dovecot does. */
export const KEYWORDS_FILE = 'dovecot-keywords';
/** Maximum number of keywords of a folder that have a letter: the small letters of ASCII. */
export const MAX_KEYWORDS = 26;

const LETTERS: Readonly<Record<string, string>> = {
  D: '\\Draft',
  F: '\\Flagged',
  P: '$Forwarded',
  R: '\\Answered',
  S: '\\Seen',
  T: '\\Deleted',
};
/** Matches the flags at the end of a name. File systems that do not allow `:` have another character there. */
const FLAGS = /[:;!]2,([A-Za-z]*)$/;
const LETTER_A = 0x61;

/** Returns the part of a name that stays the same when flags change. */
export function keyOf(fileName: string): string {
  return fileName.replace(FLAGS, '');
}

/** Returns the flags that a name says. The keywords are those of the folder, in the order of their letters. */
export function readFlags(fileName: string, keywords: readonly (string | undefined)[]): string[] {
  const [, letters = ''] = FLAGS.exec(fileName) ?? [];
  return [...new Set(letters)].flatMap(
    (letter) => LETTERS[letter] ?? keywords[letter.charCodeAt(0) - LETTER_A] ?? [],
  );
}

/** Returns the end of a name that says the flags. Letters stand in the order of ASCII. Keywords without a letter are left out. */
export function formatFlags(flags: readonly string[], keywords: readonly string[]): string {
  const named = Object.entries(LETTERS).filter(([, flag]) => flags.includes(flag));
  const numbered = keywords.flatMap((keyword, index) =>
    flags.includes(keyword) && index < MAX_KEYWORDS ? String.fromCharCode(LETTER_A + index) : [],
  );
  return `:2,${[...named.map(([letter]) => letter), ...numbered].join('')}`;
}

/** Returns true for a flag that has a letter of its own in every maildir. */
export function hasOwnLetter(flag: string): boolean {
  return Object.values(LETTERS).includes(flag);
}

/** Returns the keywords of a folder, in the order of their letters. */
export function readKeywords(file: string): (string | undefined)[] {
  const keywords: (string | undefined)[] = [];
  for (const [, index = '', keyword] of file.matchAll(/^(\d{1,2}) (\S+)$/gm))
    if (Number(index) < MAX_KEYWORDS) keywords[Number(index)] = keyword;
  return keywords;
}

/** Returns the content of the file of keywords. */
export function formatKeywords(keywords: readonly string[]): string {
  return keywords.map((keyword, index) => `${index} ${keyword}\n`).join('');
}

/**
 * Returns the name of the folder that a directory of a maildir holds, such as `Lists/dev` for `.Lists.dev`. Names are in modified
 * UTF-7; one that is not is taken as it is.
 */
export function folderOfDirectory(directory: string): string {
  return directory
    .slice(1)
    .split('.')
    .map((level) => decodeMailboxName(level, '7bit') ?? level)
    .join('/');
}

/** Returns the directory of a folder. A dot in a name would separate two levels, so it becomes `_`. */
export function directoryOfFolder(folder: string): string {
  if (folder === 'INBOX') return '.';
  const levels = folder.split('/').map((level) => encodeMailboxName(level, '7bit').replaceAll('.', '_'));
  return fitName(`.${levels.join('.')}`, MAX_FILE_OCTETS);
}
