/** Derives what is stored of a password, which can be compared with it, and from which it cannot be read. */
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import { invalid } from '../../system/errors.ts';
import { hashPassword, hashQueued } from './hash.ts';
import { createScramVerifier, prepareForScram } from './scram-verifier.ts';

/** Stands for the password of a shared mailbox, which no password matches. */
export const NO_PASSWORD: Pick<MailboxRow, 'passwordHash' | 'scramVerifier'> = {
  passwordHash: '',
  scramVerifier: null,
};

type Derivation = {
  /** The tenant who waits for it. */
  owner: string;
  /** Salt of the mailbox for SCRAM, in hex. */
  salt: string;
  /** Mail programs may log in with the password by SCRAM. */
  hasScram: boolean;
};

/**
 * Returns the hash of a password of a mailbox, and its verifier for SCRAM where it is wanted. The verifier is easier to attack than the hash
 * should the database be stolen, because PBKDF2 needs no memory.
 * @throws AppError validation_error naming `password`; unavailable when too many hashes wait
 */
export async function derivePassword(
  password: string,
  { owner, salt, hasScram }: Derivation,
): Promise<Pick<MailboxRow, 'passwordHash' | 'scramVerifier'>> {
  const prepared = hasScram ? await prepareForScram('password', password) : undefined;
  const passwordHash = await hashPassword(password, owner);
  if (prepared === undefined) return { passwordHash, scramVerifier: null };
  const verifier = await hashQueued(owner, () => createScramVerifier(prepared, salt));
  return { passwordHash, scramVerifier: JSON.stringify(verifier) };
}

type Fields = { password?: string; passwordLogin?: boolean; scramLogin?: boolean };

/**
 * Refuses a password for a shared mailbox.
 * @throws AppError validation_error
 */
export function requireNoPassword({ password, passwordLogin, scramLogin }: Fields): void {
  const wanted = { password: password !== undefined, passwordLogin, scramLogin };
  for (const [param, isWanted] of Object.entries(wanted))
    if (isWanted)
      throw invalid(param, `\`${param}\`: a shared mailbox has no password; its members have app passwords`);
}
