/**
 * Stores who uses a shared mailbox. Nothing else writes this table. A member signs in to the shared mailbox with app passwords of its own,
 * which a trigger of the table deletes with the membership.
 */

import type { MailboxRow } from '../db/mailbox-tables.ts';
import type { Tx } from '../db/operation.ts';
import { findColumns, findRow, insertRow } from '../db/rows.ts';
import { addressKey } from '../mail/address.ts';
import { invalid } from '../system/errors.ts';

type Membership = { mailboxId: MailboxRow['id']; memberId: MailboxRow['id'] };

/** Returns true when the owner of a mailbox is a member of a shared one. */
export async function isMember(tx: Tx, { mailboxId, memberId }: Membership): Promise<boolean> {
  return (await findRow(tx, 'mailboxMembers', { mailboxId, memberId })) !== undefined;
}

/**
 * Returns the personal mailbox of a tenant with this address.
 * @throws AppError validation_error naming `param`
 */
export async function getPerson(
  tx: Tx,
  tenantId: MailboxRow['tenantId'],
  { param, address }: { param: string; address: string },
): Promise<Pick<MailboxRow, 'id'>> {
  const person = await findColumns(tx, 'mailboxes', {
    select: ['id'],
    where: { address: addressKey(address), tenantId, kind: 'personal' },
  });
  if (person) return person;
  throw invalid(
    param,
    `\`${param}\` must be the address of a mailbox of a person, which is not shared itself`,
  );
}

/**
 * Replaces the members of a mailbox, as part of a write. Returns true when they have changed.
 * @throws AppError validation_error for a mailbox that is not shared, and for an address that is not a person's
 */
export async function replaceMembers(
  tx: Tx,
  { id: mailboxId, tenantId, kind }: Pick<MailboxRow, 'id' | 'tenantId' | 'kind'>,
  addresses: readonly string[],
): Promise<boolean> {
  if (kind !== 'shared' && addresses.length > 0)
    throw invalid('members', '`members` are for a mailbox whose `kind` is `shared`');
  const wanted = new Set<MailboxRow['id']>();
  for (const [index, address] of addresses.entries())
    wanted.add((await getPerson(tx, tenantId, { param: `members[${index}]`, address })).id);
  const rows = await tx
    .selectFrom('mailboxMembers')
    .select('memberId')
    .where('mailboxId', '=', mailboxId)
    .execute();
  const known = new Set(rows.map(({ memberId }) => memberId));
  const gone = [...known].filter((id) => !wanted.has(id));
  const added = [...wanted].filter((id) => !known.has(id));
  if (gone.length > 0) {
    const members = tx.deleteFrom('mailboxMembers').where('mailboxId', '=', mailboxId);
    await members.where('memberId', 'in', gone).execute();
  }
  for (const memberId of added) await insertRow(tx, 'mailboxMembers', { mailboxId, memberId });
  return gone.length > 0 || added.length > 0;
}

/** Returns the mailboxes with the addresses of their members, in alphabetical order. */
export async function withMembers<Mailbox extends Pick<MailboxRow, 'id'>>(
  tx: Tx,
  mailboxes: readonly Mailbox[],
): Promise<(Mailbox & { members: string[] })[]> {
  const rows = await tx
    .selectFrom('mailboxMembers')
    .innerJoin('mailboxes', 'mailboxes.id', 'mailboxMembers.memberId')
    .select(['mailboxMembers.mailboxId', 'mailboxes.address'])
    .where(
      'mailboxMembers.mailboxId',
      'in',
      mailboxes.map(({ id }) => id),
    )
    .orderBy('mailboxes.address')
    .execute();
  const byMailbox = Map.groupBy(rows, ({ mailboxId }) => mailboxId);
  return mailboxes.map((mailbox) => ({
    ...mailbox,
    members: (byMailbox.get(mailbox.id) ?? []).map(({ address }) => address),
  }));
}
