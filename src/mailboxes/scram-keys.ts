/** Keys by which SCRAM clients turn a password into a proof. Who asks for one cannot tell whether there is a mailbox. */
import { createHmac, hkdfSync } from 'node:crypto';
import type { App } from '../app.ts';
import type { ScramKey } from '../mail/sasl/scram.ts';
import { readAccount } from './address.ts';
import { SCRAM_ITERATIONS, SCRAM_SALT_BYTES } from './passwords/scram-verifier.ts';
import { findMailboxByAddress } from './store.ts';

const KEY_BYTES = 32;

/**
 * Returns the function that finds the key of a user name. A name without a mailbox has a salt too, which is always the same. It is derived
 * from the master key, so that nobody else can compute it and compare.
 */
export function createScramKeys({
  db,
  sealer,
}: Pick<App, 'db' | 'sealer'>): (username: string) => Promise<ScramKey> {
  const secret = Buffer.from(
    hkdfSync('sha256', sealer.key.export(), '', 'mailboxes: salts of unknown names', KEY_BYTES),
  );
  const saltOf = (account: string) =>
    createHmac('sha256', secret).update(account).digest().subarray(0, SCRAM_SALT_BYTES);
  return async (username) => {
    const { account } = readAccount(username);
    const unknown = saltOf(account);
    const mailbox = await findMailboxByAddress(db.read, account);
    const salt = mailbox ? Buffer.from(mailbox.scramSalt, 'hex') : unknown;
    return { salt: salt.toString('base64'), iterations: SCRAM_ITERATIONS };
  };
}
