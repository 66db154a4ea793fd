/** Decides which addresses the owner of a mailbox may write from. */
import type { MailboxRow } from '../db/mailbox-tables.ts';
import type { Tx } from '../db/operation.ts';
import { addressKey, withoutTag } from '../mail/address.ts';
import { findAddressOwner } from './addresses/store.ts';
import { isMember } from './members/store.ts';

/**
 * Returns true when the owner of a mailbox may write from an address: from the one of the mailbox, from its aliases, from those of the shared
 * mailboxes that it is a member of, and from each of these with a tag. Being the catch-all of a domain allows nothing, because other people
 * may have addresses there.
 */
export async function mayUseAddress(
  tx: Tx,
  { id }: Pick<MailboxRow, 'id'>,
  address: string,
): Promise<boolean> {
  const key = addressKey(address);
  const at = key.lastIndexOf('@');
  const localPart = key.slice(0, at);
  const name = withoutTag(localPart);
  if ((name ?? localPart) === '*') return false;
  const owner =
    (await findAddressOwner(tx, key)) ??
    (name === undefined ? undefined : await findAddressOwner(tx, `${name}${key.slice(at)}`));
  if (!owner) return false;
  return owner.id === id || (await isMember(tx, { mailboxId: owner.id, memberId: id }));
}
