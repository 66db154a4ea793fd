/** Checks that a tenant may give an address to a mailbox, as its own or as an alias. The write that stores the address checks it. */
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import type { Tx } from '../../db/operation.ts';
import { requireReceivingDomain } from '../../domains/receiving/requirements.ts';
import { AppError, invalid } from '../../system/errors.ts';
import {
  type AddressOwner,
  countAliases,
  deleteAliases,
  findAddressOwner,
  hasForeignRoute,
  insertAliases,
  type NewAlias,
  withItsAliases,
} from './store.ts';

/** Maximum number of aliases that the mailboxes of a tenant have together. */
export const MAX_ALIASES_OF_TENANT = 10_000;

/** An address that a tenant wants for a mailbox. */
export type WantedAddress = Pick<MailboxRow, 'tenantId' | 'address' | 'domain'>;

/** `sandbox` is the sandbox domain, `now` is in Unix milliseconds, and `param` names the field of the request. */
type Circumstances = { sandbox: string; now: number; param: 'address' | 'aliases' };

/**
 * Checks that a mailbox of the tenant may receive for the address. Another tenant, which had it before it lost the domain, does not prevent
 * this: the write takes the address from it.
 * @throws AppError domain_not_verified; domain_in_use when another tenant receives the mail of the domain; invalid_state when the
 * domain is not for mailboxes; already_exists, with `details.id` when the tenant owns the mailbox that has the address
 */
export async function requireNewAddress(
  tx: Tx,
  wanted: WantedAddress,
  circumstances: Circumstances,
): Promise<void> {
  const { sandbox, param } = circumstances;
  if (wanted.domain !== sandbox) await requireMailboxDomain(tx, wanted, circumstances);
  // A message to the address would go to both tenants.
  else if (await hasForeignRoute(tx, wanted)) throw alreadyTaken(wanted, param);
  const owner = await findAddressOwner(tx, wanted.address);
  if (!owner) return;
  // The tenant receives the mail of the domain, so another one that has the address has lost the domain, and gives way.
  const givesWay = owner.tenantId !== wanted.tenantId && wanted.domain !== sandbox;
  if (!givesWay) throw alreadyTaken(wanted, param, owner);
}

async function requireMailboxDomain(
  tx: Tx,
  wanted: WantedAddress,
  { now, param }: Circumstances,
): Promise<void> {
  const { id, productType } = await requireReceivingDomain(tx, wanted, { what: 'mailbox', now, param });
  if (productType === 'mailbox' || productType === 'both') return;
  throw new AppError(
    'invalid_state',
    `The domain ${wanted.domain} has the \`productType\` \`${productType}\`; change it to \`mailbox\` or \`both\` with PATCH /v1/domains/${id}`,
    { param },
  );
}

/** The id of the mailbox of another tenant is not shown. */
function alreadyTaken(
  { tenantId, address }: WantedAddress,
  param: Circumstances['param'],
  owner?: AddressOwner,
): AppError {
  return new AppError('already_exists', `${address} is taken already`, {
    param,
    ...(owner?.tenantId === tenantId && { details: { id: owner.id } }),
  });
}

/** A mailbox with further addresses that it is to have. */
type WithNewAliases = { owner: AddressOwner; aliases: readonly NewAlias[] };

/**
 * Checks that a mailbox may have these aliases besides those of its tenant that are stored.
 * @throws AppError the errors of `requireNewAddress`; validation_error when the tenant would have more than the maximum number
 */
export async function requireNewAliases(
  tx: Tx,
  { owner: { tenantId }, aliases }: WithNewAliases,
  circumstances: Omit<Circumstances, 'param'>,
): Promise<void> {
  for (const alias of aliases)
    await requireNewAddress(tx, { ...alias, tenantId }, { ...circumstances, param: 'aliases' });
  if (aliases.length === 0) return;
  const count = await countAliases(tx, tenantId);
  if (count + aliases.length <= MAX_ALIASES_OF_TENANT) return;
  const rule = `your mailboxes have ${count} aliases, and may have ${MAX_ALIASES_OF_TENANT} together`;
  throw invalid('aliases', `\`aliases\`: ${rule}`);
}

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
