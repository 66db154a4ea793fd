/** Decides which addresses the owner of a mailbox may write from. */
import type { MailboxRow } from '../db/mailbox-tables.ts';
import type { Tx } from '../db/operation.ts';
import { addressKey, withoutTag } from '../mail/address.ts';
import { type AddressOwner, findAddressOwner } from './addresses/store.ts';
import { isMember } from './member-store.ts';

/** Finds whose an address is, which is an `addressKey`. */
type FindOwner = (address: string) => Promise<AddressOwner | undefined>;

/**
 * Returns true when the owner of a mailbox may write from an address: from the one of the mailbox, from its aliases, from those of the shared
 * mailboxes that it is a member of, and from each of these with a tag. Being the catch-all of a domain allows nothing, because other people
 * may have addresses there.
 */
export function mayUseAddress(tx: Tx, mailbox: Pick<MailboxRow, 'id'>, address: string): Promise<boolean> {
  return mayUseOwned(tx, mailbox, { address, findOwner: (key) => findAddressOwner(tx, key) });
}

/** Answers as `mayUseAddress` does. */
export async function mayUseOwned(
  tx: Tx,
  { id }: Pick<MailboxRow, 'id'>,
  { address, findOwner }: { address: string; findOwner: FindOwner },
): Promise<boolean> {
  const key = addressKey(address);
  const at = key.lastIndexOf('@');
  const localPart = key.slice(0, at);
  const name = withoutTag(localPart);
  if ((name ?? localPart) === '*') return false;
  const owner =
    (await findOwner(key)) ?? (name === undefined ? undefined : await findOwner(`${name}${key.slice(at)}`));
  if (!owner) return false;
  return owner.id === id || (await isMember(tx, { mailboxId: owner.id, memberId: id }));
}
