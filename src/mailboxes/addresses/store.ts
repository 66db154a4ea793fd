/**
 * Stores the aliases of mailboxes, and finds whose an address is. Nothing else writes this table. The addresses of all mailboxes
 * and their aliases are unique together, which the one thread that writes makes sure of (requirements.ts).
 */

import type { MailboxAliasRow, MailboxRow } from '../../db/mailbox-tables.ts';
import type { Tx } from '../../db/operation.ts';
import { countRows, insertRow } from '../../db/rows.ts';
import { type Param, statement } from '../../db/statement.ts';

/** A mailbox, and the tenant that it belongs to. */
export type AddressOwner = Pick<MailboxRow, 'id' | 'tenantId'>;
/** An alias as a caller asks for it: its address as `addressKey`, and the domain in A-labels. */
export type NewAlias = Pick<MailboxAliasRow, 'address' | 'domain'>;

type Address = Pick<MailboxRow, 'address'>;
type Domain = Pick<MailboxRow, 'domain'>;

const ownerByAddress = statement((db, param: Param<Address>) =>
  db
    .selectFrom('mailboxes')
    .select(['id', 'tenantId'])
    .where('address', '=', param('address'))
    .unionAll(
      db
        .selectFrom('mailboxAliases')
        .select(['mailboxId as id', 'tenantId'])
        .where('address', '=', param('address')),
    ),
);

/** Returns the mailbox of any tenant that has this address, which is an `addressKey`, as its own or as an alias. */
export function findAddressOwner(tx: Tx, address: string): Promise<AddressOwner | undefined> {
  return ownerByAddress.first(tx, { address });
}

const addressesByDomain = statement((db, param: Param<Domain>) =>
  db
    .selectFrom('mailboxes')
    .select(['address', 'id', 'tenantId'])
    .where('domain', '=', param('domain'))
    .unionAll(
      db
        .selectFrom('mailboxAliases')
        .select(['address', 'mailboxId as id', 'tenantId'])
        .where('domain', '=', param('domain')),
    ),
);

/** Returns the owners of all addresses and aliases at a domain, of all tenants. `*@<domain>` is that of the catch-all. */
export async function mapAddresses(
  tx: Tx,
  domain: MailboxRow['domain'],
): Promise<ReadonlyMap<string, AddressOwner>> {
  const rows = await addressesByDomain.all(tx, { domain });
  return new Map(rows.map(({ address, ...owner }) => [address, owner]));
}

/**
 * Returns the domains of all addresses that the owner of a mailbox may write from: its own, its aliases, and those of the shared mailboxes
 * that it is a member of.
 */
export async function listDomainsOfMailbox(tx: Tx, id: MailboxRow['id']): Promise<MailboxRow['domain'][]> {
  const shared = tx.selectFrom('mailboxMembers').select('mailboxId').where('memberId', '=', id);
  const rows = await tx
    .selectFrom('mailboxes')
    .select('domain')
    .where((where) => where.or([where('id', '=', id), where('id', 'in', shared)]))
    .union(
      tx
        .selectFrom('mailboxAliases')
        .select('domain')
        .where((where) => where.or([where('mailboxId', '=', id), where('mailboxId', 'in', shared)])),
    )
    .execute();
  return rows.map(({ domain }) => domain);
}

/** Returns the mailboxes with their aliases, which are in alphabetical order. */
export async function withAliases<Mailbox extends Pick<MailboxRow, 'id'>>(
  tx: Tx,
  mailboxes: readonly Mailbox[],
): Promise<(Mailbox & { aliases: string[] })[]> {
  const rows = await tx
    .selectFrom('mailboxAliases')
    .select(['mailboxId', 'address'])
    .where(
      'mailboxId',
      'in',
      mailboxes.map(({ id }) => id),
    )
    .orderBy('address')
    .execute();
  const byMailbox = Map.groupBy(rows, ({ mailboxId }) => mailboxId);
  return mailboxes.map((mailbox) => ({
    ...mailbox,
    aliases: (byMailbox.get(mailbox.id) ?? []).map(({ address }) => address),
  }));
}

/** Returns a mailbox with its aliases, which are in alphabetical order. */
export async function withItsAliases<Mailbox extends Pick<MailboxRow, 'id'>>(
  tx: Tx,
  mailbox: Mailbox,
): Promise<Mailbox & { aliases: string[] }> {
  const [found] = await withAliases(tx, [mailbox]);
  return found ?? { ...mailbox, aliases: [] };
}

/** Returns the number of aliases that the mailboxes of a tenant have together. */
export function countAliases(tx: Tx, tenantId: MailboxRow['tenantId']): Promise<number> {
  return countRows(tx, 'mailboxAliases', { tenantId });
}

/** Deletes the aliases with these addresses that other tenants have, as part of a write that has checked that this tenant may have them. */
export async function deleteForeignAliases(
  tx: Tx,
  { tenantId }: Pick<AddressOwner, 'tenantId'>,
  addresses: readonly string[],
): Promise<void> {
  const aliases = tx.deleteFrom('mailboxAliases').where('tenantId', '<>', tenantId);
  await aliases.where('address', 'in', addresses).execute();
}

/** Adds aliases to a mailbox, as part of a write that has checked them. Other tenants lose them. */
export async function insertAliases(
  tx: Tx,
  { id: mailboxId, tenantId }: AddressOwner,
  aliases: readonly NewAlias[],
): Promise<void> {
  if (aliases.length === 0) return;
  await deleteForeignAliases(
    tx,
    { tenantId },
    aliases.map(({ address }) => address),
  );
  for (const { address, domain } of aliases)
    await insertRow(tx, 'mailboxAliases', { address, domain, mailboxId, tenantId });
}

/** Deletes aliases of a mailbox: those that are named, or all, as part of a write. */
export async function deleteAliases(
  tx: Tx,
  mailboxId: MailboxRow['id'],
  addresses?: readonly string[],
): Promise<void> {
  const aliases = tx.deleteFrom('mailboxAliases').where('mailboxId', '=', mailboxId);
  await (addresses === undefined ? aliases : aliases.where('address', 'in', addresses)).execute();
}

type SandboxName = Pick<MailboxRow, 'tenantId' | 'address' | 'domain'> & {
  firstTagged: string;
  endOfTagged: string;
};

const foreignRoute = statement((db, param: Param<SandboxName>) =>
  db
    .selectFrom('inboundRoutes')
    .select('id')
    .where('domain', '=', param('domain'))
    .where('tenantId', '<>', param('tenantId'))
    .where((where) =>
      where.or([
        where('address', '=', param('address')),
        where.and([
          where('address', '>=', param('firstTagged')),
          where('address', '<', param('endOfTagged')),
        ]),
      ]),
    )
    .limit(1),
);

/** Returns true when another tenant has a route for this address, or for it with a tag. */
export async function hasForeignRoute(
  tx: Tx,
  wanted: Pick<MailboxRow, 'tenantId' | 'address' | 'domain'>,
): Promise<boolean> {
  const localPart = wanted.address.slice(0, -`@${wanted.domain}`.length);
  // A comma is the character after the plus sign.
  const tagged = { firstTagged: `${localPart}+`, endOfTagged: `${localPart},` };
  return (await foreignRoute.first(tx, { ...wanted, ...tagged })) !== undefined;
}
