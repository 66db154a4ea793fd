/** Chooses the flags that a message from another server keeps. */
import { encodeMailboxName } from '../../mail/imap/encode/mailbox-name.ts';

/** Maximum number of keywords of a message. */
const MAX_KEYWORDS = 50;
/** Maximum length of a keyword. */
const MAX_KEYWORD_CHARACTERS = 100;
/** Matches a keyword: an atom of RFC 9051 section 9. */
const KEYWORD = /^[!#$&'+,\-./0-9:;<=>?@A-Z^_`a-z|}~]+$/;
const NOT_IN_KEYWORD = /[^!#$&'+,\-./0-9:;<=>?@A-Z^_`a-z|}~]/g;

/**
 * Returns the flags and keywords that can be kept. Labels, which stand for further folders, become keywords; those with a backslash are
 * the folders with a special use.
 */
export function keptFlags(flags: readonly string[], labels: readonly string[] = []): string[] {
  const system = flags.filter((flag) => flag.startsWith('\\') && flag !== '\\Recent');
  const keywords = [
    ...flags.filter((flag) => !flag.startsWith('\\')),
    ...labels
      .filter((label) => !label.startsWith('\\'))
      .map((label) => encodeMailboxName(label.toWellFormed(), '7bit').replace(NOT_IN_KEYWORD, '_')),
  ];
  const valid = keywords.filter(
    (keyword) => keyword.length <= MAX_KEYWORD_CHARACTERS && KEYWORD.test(keyword),
  );
  return [...system, ...valid.slice(0, MAX_KEYWORDS)];
}
