/** Shortens names that are longer than a file system or a mailbox allows. */
import { createHash } from 'node:crypto';
import { INBOX_IN_INBOX, MAX_NAME_CHARACTERS } from '../../accounts/folder.ts';

/** Maximum length of a name in file systems, in octets (NAME_MAX of Linux). */
export const MAX_FILE_OCTETS = 255;
/** Number of digits of the hash in a shortened name. */
const HASH_DIGITS = 16;

/** Returns the name, or its beginning and a hash of all of it when it has more octets, so that no two names become the same. */
export function fitName(name: string, maxOctets: number): string {
  const octets = Buffer.from(name);
  if (octets.length <= maxOctets) return name;
  const hash = createHash('sha256').update(octets).digest('hex').slice(0, HASH_DIGITS);
  const beginning = octets.toString('utf8', 0, maxOctets - HASH_DIGITS - 1);
  // A cut inside of a character leaves replacement characters.
  return `${beginning.replace(/\uFFFD+$/, '')}~${hash}`;
}

/** Returns a name that a mailbox allows: names of elsewhere may have control characters, levels without a name, and any length. */
export function validFolderName(name: string): string {
  const levels = name
    .replace(/\p{Cc}/gu, '_')
    .toWellFormed()
    .split('/');
  const valid = (levels.filter((level) => level !== '').join('/') || 'INBOX')
    .replace(/^INBOX(?=\/|$)/i, 'INBOX')
    .replace(INBOX_IN_INBOX, 'INBOX/INBOX_');
  return valid.length > MAX_NAME_CHARACTERS ? fitName(valid, MAX_NAME_CHARACTERS) : valid;
}
