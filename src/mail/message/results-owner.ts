/** Reads whose results an Authentication-Results field holds. Anybody can write such a field into a message. */
import { domainToASCII } from 'node:url';
import { INVISIBLE } from '../address.ts';
import { decodeWords } from './decode-words.ts';

const INVISIBLE_CHARACTERS = new RegExp(INVISIBLE.source, 'gu');
/** Matches the version after the name (RFC 8601 section 2.2), also with the slash of an earlier grammar. */
const VERSION = /[\s/]+\d+$/;
/** Maximum length of what stands before the results. A name has at most 253 characters; the rest is a margin. */
const MAX_PHRASE_CHARACTERS = 1_024;
/** Matches white space, and control characters, which are not shown either. */
const BLANK = /[\s\p{Cc}]+/gu;
/** Matches a name without what stands around it, such as quotes, brackets and dots. */
const NAME = /[\p{L}\p{N}](?:.*[\p{L}\p{M}\p{N}])?/su;
/** Maximum length of the name of a host (RFC 1035 section 2.3.4). Its conversion to A-labels takes long for a longer text. */
const MAX_NAME_CHARACTERS = 253;

/**
 * Returns true when the field claims to come from `authservId`, in any spelling that a reader may take for it, and also when it cannot be
 * read and contains that name: another reader might find the name in it. What is longer than any name is that of no honest server.
 *
 * @param text the field after its colon
 */
export function namesAuthservId(text: string, authservId: string): boolean {
  const own = hostName(authservId);
  const phrase = readPhrase(text)?.replace(BLANK, ' ').trim();
  if (phrase === undefined || phrase === '') return containsHost(text, own);
  if (phrase.length > MAX_PHRASE_CHARACTERS) return true;
  const forms = [phrase, decodeWords(phrase)].flatMap((form) => [
    form.split(/\s/, 1)[0] ?? '',
    form.replace(VERSION, ''),
    /^[^\s,:/=]*/.exec(form)?.[0] ?? '',
    form,
  ]);
  return forms.some((form) => hostName(form) === own);
}

/** Returns true when a text contains the name of a host, which is given in the form of `hostName`. */
function containsHost(text: string, own: string): boolean {
  return [text, decodeWords(text)].some((form) => form.toLowerCase().includes(own));
}

/**
 * Returns a name in one form: in lower case, with A-labels (RFC 5890 section 2.3.2.1), without characters that are not shown and without
 * what stands around it, such as the dot of the root.
 */
export function hostName(text: string): string {
  const visible = text.replace(BLANK, '').replace(INVISIBLE_CHARACTERS, '');
  const shown = (NAME.exec(visible.normalize('NFKC'))?.[0] ?? '').toLowerCase();
  const ascii = shown.length > MAX_NAME_CHARACTERS ? '' : domainToASCII(shown);
  return ascii === '' ? shown : ascii;
}

/**
 * Returns what stands before the first semicolon, without comments, which may be nested (RFC 5322 section 3.2.2), and with quoted strings
 * (RFC 2045 section 5.1) as what they mean. Undefined when a comment or a quoted string is not closed.
 */
function readPhrase(text: string): string | undefined {
  let phrase = '';
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    const escaped = character === '\\' && (depth > 0 || isQuoted);
    if (escaped) at++;
    if (depth > 0) {
      if (character === '(') depth++;
      else if (character === ')') depth--;
    } else if (character === '"') isQuoted = !isQuoted;
    else if (isQuoted) phrase += escaped ? text.charAt(at) : character;
    else if (character === '(') depth++;
    else if (character === ';') return phrase;
    else phrase += character;
  }
  return depth > 0 || isQuoted ? undefined : phrase;
}
