/**
 * Hashes the addresses that a mailbox has written to. Whoever reads the database without the master key, for instance in a backup, cannot
 * tell to whom people write: their messages are deleted once they have arrived, and would otherwise leave the addresses behind for a year.
 */
import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { App } from '../../app.ts';
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import { addressKey } from '../../mail/address.ts';

const KEY_BYTES = 32;
/** Number of characters of a hash in base64url, which have 6 bits each. */
const HASH_CHARACTERS = 22;

const keys = new WeakMap<App['sealer'], KeyObject>();

/** Returns the key, which is derived from the master key. After a change of that one, all addresses are new to a mailbox again. */
function keyOf({ sealer }: Pick<App, 'sealer'>): KeyObject {
  const known = keys.get(sealer);
  if (known) return known;
  const bytes = hkdfSync('sha256', sealer.key.export(), '', 'submission: correspondents', KEY_BYTES);
  // With the bytes instead of this object, a hash would cost five times as much.
  const key = createSecretKey(Buffer.from(bytes));
  keys.set(sealer, key);
  return key;
}

/** Returns the hash of an address, which is another one for each mailbox. */
export function hashCorrespondent(
  app: Pick<App, 'sealer'>,
  mailboxId: MailboxRow['id'],
  address: string,
): string {
  const hmac = createHmac('sha256', keyOf(app)).update(`${mailboxId} ${addressKey(address)}`);
  return hmac.digest('base64url').slice(0, HASH_CHARACTERS);
}
