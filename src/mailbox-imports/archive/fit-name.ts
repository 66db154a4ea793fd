/** Shortens names that are longer than a file system or a mailbox allows. */
import { createHash } from 'node:crypto';

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
