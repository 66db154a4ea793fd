/** Reads the secret keys that open encrypted backups. The daemon never has them: only commands read the file. */
import { readFileSync, statSync } from 'node:fs';
import { Decrypter } from 'age-encryption';
import { errorMessage } from '../system/errors.ts';
import { BackupError } from './format.ts';

/** Maximum size of a file of identities. One key takes 75 bytes. */
const MAX_FILE_BYTES = 64 * 1024;
const IDENTITY = /^AGE-SECRET-KEY-1[0-9A-Z]+$/;

/**
 * Reads a file of `age-keygen`: a key on each line, and lines that begin with #.
 * @throws BackupError when it cannot be read, or has something else
 */
export function readIdentities(file: string): string[] {
  const lines = readText(file)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  for (const line of lines) requireIdentity(file, line);
  if (lines.length === 0) throw new BackupError(`${file} has no key (AGE-SECRET-KEY-1…)`);
  return lines;
}

function readText(file: string): string {
  try {
    if (statSync(file).size > MAX_FILE_BYTES)
      throw new BackupError(`${file} is too large for a file of keys`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof BackupError) throw error;
    throw new BackupError(`${file} cannot be read: ${errorMessage(error)}`, { cause: error });
  }
}

/** The messages never show a line, which may be a key with a mistake in it. */
function requireIdentity(file: string, line: string): void {
  if (/^(?:age-encryption\.org\/v1|-----BEGIN AGE ENCRYPTED FILE-----)$/.test(line))
    throw new BackupError(`${file} is protected by a passphrase: give the output of "age --decrypt ${file}"`);
  if (!IDENTITY.test(line)) throw new BackupError(`${file} has a line that is no key (AGE-SECRET-KEY-1…)`);
  try {
    new Decrypter().addIdentity(line);
  } catch (error) {
    throw new BackupError(`${file} has a damaged key`, { cause: error });
  }
}
