/** Keys by which SCRAM clients turn a password into a proof. Somebody who asks for one cannot tell whether there is a mailbox. */
import { createHmac, hkdfSync } from 'node:crypto';
import type { App } from '../app.ts';
import type { ScramKey } from '../mail/sasl/scram.ts';
import { readAccount } from './address.ts';
import { SCRAM_ITERATIONS, SCRAM_SALT_BYTES } from './passwords/scram-verifier.ts';
import { findMailboxByAddress } from './store.ts';

const KEY_BYTES = 32;

/**
 * Returns the function that makes the salt of an address, which is an `addressKey`. It is derived from the master key, so that nobody else
 * can compute it and compare. A mailbox gets it when it is made and keeps it; the address has the same one before and afterwards.
 */
export function createScramSalts({ sealer }: Pick<App, 'sealer'>): (account: string) => Buffer {
  const secret = Buffer.from(
    hkdfSync('sha256', sealer.key.export(), '', 'mailboxes: salts of unknown names', KEY_BYTES),
  );
  return (account) => createHmac('sha256', secret).update(account).digest().subarray(0, SCRAM_SALT_BYTES);
}

/** Returns the function that finds the key of a user name, which has a salt whether it has a mailbox or not. */
export function createScramKeys(app: Pick<App, 'db' | 'sealer'>): (username: string) => Promise<ScramKey> {
  const saltOf = createScramSalts(app);
  return async (username) => {
    const { account } = readAccount(username);
    const unknown = saltOf(account);
    const mailbox = await findMailboxByAddress(app.db.read, account);
    const salt = mailbox ? Buffer.from(mailbox.scramSalt, 'hex') : unknown;
    return { salt: salt.toString('base64'), iterations: SCRAM_ITERATIONS };
  };
}
