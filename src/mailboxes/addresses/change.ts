/** Changes the aliases of a mailbox. */
import type { Tx } from '../../db/operation.ts';
import { requireNewAliases } from './requirements.ts';
import { type AddressOwner, deleteAliases, insertAliases, type NewAlias, withItsAliases } from './store.ts';

/** The aliases that a mailbox is to have. `sandbox` is the sandbox domain. */
export type WantedAliases = { aliases: readonly NewAlias[]; sandbox: string };

/**
 * Gives a mailbox these aliases instead of those that it has, as part of a write. Only new ones are checked: the domain of an older one
 * may have lapsed since. `now` is in Unix milliseconds. Returns false when the mailbox has exactly these aliases already.
 * @throws AppError the errors of `requireNewAliases`
 */
export async function changeAliases(
  tx: Tx,
  mailbox: AddressOwner,
  { aliases, sandbox, now }: WantedAliases & { now: number },
): Promise<boolean> {
  const stored = await withItsAliases(tx, mailbox);
  const before = new Set(stored.aliases);
  const after = new Set(aliases.map(({ address }) => address));
  const added = aliases.filter(({ address }) => !before.has(address));
  const removed = stored.aliases.filter((address) => !after.has(address));
  await deleteAliases(tx, mailbox.id, removed);
  await requireNewAliases(tx, { owner: mailbox, aliases: added }, { sandbox, now });
  await insertAliases(tx, mailbox, added);
  return added.length + removed.length > 0;
}
