/**
 * Stores mailboxes. All SQL of this table is here, and nothing else writes it. Their aliases are in addresses/store.ts.
 *
 * A mailbox needs a verified domain whose `productType` is for mailboxes when it is created. It then stays, whatever happens to
 * the verification: while another tenant receives the mail of the name, or none does, it gets no mail, and its owner still reads
 * the mail that it has. When the tenant that receives gives the address to a mailbox of its own, the other one moves to the sandbox.
 * The sandbox domain is shared by all tenants and needs no verification.
 */

import { sql } from 'kysely';
import { hasValues } from '../db/has-values.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../db/page.ts';
import { deleteRows, findRow, insertRow, updateRows } from '../db/rows.ts';
import { type Param, statement } from '../db/statement.ts';
import { isNameWithin } from '../domains/reach.ts';
import { cancelMailOf, cancelWithdrawn } from '../queue/state/cancel-submitted.ts';
import { AppError, invalid, limitReached, notFound } from '../system/errors.ts';
import { scheduleTask } from '../tasks/store.ts';
import type { Reach } from '../tenants/authenticate.ts';
import { BYTES_PER_MEGABYTE, findStoredLimitOf } from '../tenants/stored-mail/store.ts';
import {
  changeAliases,
  requireNewAddress,
  requireNewAliases,
  type WantedAddress,
  type WantedAliases,
} from './addresses/requirements.ts';
import {
  deleteAliases,
  deleteForeignAliases,
  findAddressOwner,
  insertAliases,
  type NewAlias,
} from './addresses/store.ts';
import type { Filters } from './filters/filters.ts';
import { changeFilters, deleteFiltersOf, putFilters } from './filters/store.ts';
import { replaceMembers } from './member-store.ts';
import { deleteMemoriesOf } from './scripts/memory-store.ts';
import { deleteScriptsOf } from './scripts/store.ts';

/** Kind of the tasks that remove the folders of deleted mailboxes. */
export const REMOVALS = 'mailbox-removals';

/** Maximum number of mailboxes per tenant. */
export const MAX_MAILBOXES = 10_000;

type MailboxId = MailboxRow['id'];
type TenantId = MailboxRow['tenantId'];

/**
 * Stores a new mailbox with its aliases. `sandbox` is the sandbox domain.
 * @throws AppError the errors of `requireNewAddress` and `requireNewAliases`; validation_error when the tenant has the maximum number
 * of mailboxes, or when the quotas exceed its plan
 */
export const insertMailbox = defineWrite(
  'mailboxes.insert',
  async (tx, { mailbox, aliases = [], filters, members = [], sandbox }: NewMailbox) => {
    const circumstances = { sandbox, now: mailbox.createdAt };
    await requireNewMailbox(tx, mailbox, circumstances);
    await deleteForeignAliases(tx, mailbox, [mailbox.address]);
    await moveForeignMailboxes(tx, mailbox, { ...circumstances, addresses: [mailbox, ...aliases] });
    await insertRow(tx, 'mailboxes', mailbox);
    await requireNewAliases(tx, { owner: mailbox, aliases }, circumstances);
    await insertAliases(tx, mailbox, aliases);
    if (filters) await putFilters(tx, mailbox.id, filters);
    await replaceMembers(tx, mailbox, members);
  },
);

type Given = { addresses: readonly Pick<MailboxRow, 'address'>[]; sandbox: string; now: number };

/**
 * Moves the mailboxes of other tenants that have these addresses to the sandbox domain, as part of a write that fails unless this tenant
 * receives the mail of the domains. They keep their mail, and people log in to them by the new address. Addresses at the sandbox stay.
 */
async function moveForeignMailboxes(
  tx: Tx,
  { tenantId }: Pick<MailboxRow, 'tenantId'>,
  { addresses, sandbox, now }: Given,
): Promise<void> {
  await tx
    .updateTable('mailboxes')
    .set({ address: sql`id || '@' || ${sandbox}`, domain: sandbox, updatedAt: now })
    .where('tenantId', '<>', tenantId)
    .where('domain', '<>', sandbox)
    .where(
      'address',
      'in',
      addresses.map(({ address }) => address),
    )
    .execute();
}

type NewMailbox = {
  mailbox: MailboxRow;
  aliases?: readonly NewAlias[];
  filters?: Filters;
  /** Addresses of the members of a shared mailbox. */
  members?: readonly string[];
  sandbox: string;
};
type NewQuota = Pick<MailboxRow, 'tenantId' | 'quotaBytes'>;

/**
 * Checks that a mailbox can be added, except for its aliases, before its password is hashed. The write checks again. `now` is in Unix
 * milliseconds.
 * @throws AppError the errors of `insertMailbox`
 */
export async function requireNewMailbox(
  tx: Tx,
  wanted: WantedAddress & NewQuota,
  { sandbox, now }: { sandbox: string; now: number },
): Promise<void> {
  await requireNewAddress(tx, wanted, { sandbox, now, param: 'address' });
  await requireMailboxLimit(tx, wanted.tenantId);
  await requireQuotaInPlan(tx, wanted);
}

async function requireMailboxLimit(tx: Tx, tenantId: TenantId): Promise<void> {
  const { count } = await mailboxesOf(tx, tenantId)
    .clearSelect()
    .select((select) => select.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  if (count >= MAX_MAILBOXES) throw limitReached('mailboxes', count);
}

const quotasOf = statement((db, param: Param<Pick<MailboxRow, 'tenantId'>>) =>
  db
    .selectFrom('mailboxes')
    .select((select) => select.fn.sum<number | null>('quotaBytes').as('bytes'))
    .where('tenantId', '=', param('tenantId')),
);

/**
 * Checks that the quotas of the tenant's mailboxes, and `quotaBytes` more, stay together within what its plan lets it store. The mail
 * of mailboxes is not counted message by message, as other received mail is.
 */
async function requireQuotaInPlan(tx: Tx, { tenantId, quotaBytes }: NewQuota): Promise<void> {
  const megabytes = await findStoredLimitOf(tx, tenantId);
  if (megabytes === null) return;
  const used = (await quotasOf.first(tx, { tenantId }))?.bytes ?? 0;
  const left = Math.max(0, (megabytes ?? 0) * BYTES_PER_MEGABYTE - used);
  if (quotaBytes <= left) return;
  throw invalid(
    'quotaBytes',
    `\`quotaBytes\`: the plan has ${megabytes ?? 0} MB for all mailboxes together, of which ${left} bytes are left`,
  );
}

/**
 * Returns a mailbox.
 * @throws AppError not_found, also for the mailbox of another tenant
 */
export async function getMailbox(tx: Tx, tenantId: TenantId, id: string): Promise<MailboxRow> {
  return mailboxesOf(tx, tenantId)
    .where('id', '=', id as MailboxId)
    .executeTakeFirstOrThrow(() => notFound('Mailbox'));
}

/**
 * Returns a mailbox that a caller of the API sees.
 * @throws AppError not_found, also for one beyond the reach of the key
 */
export async function getMailboxWithin(tx: Tx, reach: Reach, id: string): Promise<MailboxRow> {
  return mailboxesWithin(tx, reach)
    .where('id', '=', id as MailboxId)
    .executeTakeFirstOrThrow(() => notFound('Mailbox'));
}

function mailboxesWithin(tx: Tx, reach: Reach) {
  return mailboxesOf(tx, reach.tenantId).where(isNameWithin(reach, 'domain'));
}

type MailboxFilter = Partial<Pick<MailboxRow, 'address' | 'domain'>>;

/** Returns a page of mailboxes, newest first. The filter `address` also finds the mailbox that has an alias. */
export async function listMailboxes(
  tx: Tx,
  reach: Reach,
  { address, domain, ...page }: MailboxFilter & PageRequest,
): Promise<Page<MailboxRow>> {
  let mailboxes = mailboxesWithin(tx, reach);
  if (address !== undefined) {
    const owner = await findAddressOwner(tx, address);
    mailboxes = mailboxes.where('id', '=', owner?.id ?? ('' as MailboxId));
  }
  if (domain !== undefined) mailboxes = mailboxes.where('domain', '=', domain);
  return readPage(page, (slice) => inSlice(mailboxes, 'id', slice).execute());
}

/** Returns a page of the mailboxes of all tenants that match, newest first, for the operator. */
export function listNewestMailboxes(
  tx: Tx,
  { tenantId, domain }: Partial<Pick<MailboxRow, 'tenantId' | 'domain'>>,
  limit: number,
): Promise<Page<MailboxRow>> {
  let mailboxes = tx.selectFrom('mailboxes').selectAll();
  if (tenantId !== undefined) mailboxes = mailboxes.where('tenantId', '=', tenantId);
  if (domain !== undefined) mailboxes = mailboxes.where('domain', '=', domain);
  return readPage({ limit }, (slice) => inSlice(mailboxes, 'id', slice).execute());
}

function mailboxesOf(tx: Tx, tenantId: TenantId) {
  return tx.selectFrom('mailboxes').selectAll().where('tenantId', '=', tenantId);
}

/** Returns the mailbox of any tenant with this address, which is an `addressKey`. */
export function findMailboxByAddress(tx: Tx, address: string): Promise<MailboxRow | undefined> {
  return findRow(tx, 'mailboxes', { address });
}

/** Returns the mailbox of any tenant. The id comes from this installation, never from a caller. */
export function findMailboxById(tx: Tx, id: MailboxId): Promise<MailboxRow | undefined> {
  return findRow(tx, 'mailboxes', { id });
}

/** Returns the next mailboxes of all tenants by id, complete, for a backup. */
export function listMailboxesAfter(
  tx: Tx,
  { after, limit }: { after: string; limit: number },
): Promise<MailboxRow[]> {
  return tx
    .selectFrom('mailboxes')
    .selectAll()
    .where('id', '>', after as MailboxId)
    .orderBy('id')
    .limit(limit)
    .execute();
}

type MailboxChange = Partial<
  Pick<
    MailboxRow,
    | 'displayName'
    | 'passwordHash'
    | 'scramVerifier'
    | 'passwordLogin'
    | 'passwordRecovery'
    | 'timeZone'
    | 'quotaBytes'
    | 'disabledCapabilities'
  > & {
    status: 'active' | 'suspended';
    aliases: WantedAliases;
    filters: Partial<Filters>;
    members: readonly string[];
  }
>;

/**
 * Changes the named fields of a mailbox and returns it. Equal values are not a change.
 * @throws AppError not_found; invalid_state for the status of a damaged mailbox; validation_error for a larger quota that exceeds
 * the plan; the errors of `requireNewAliases`
 */
export const updateMailbox = defineWrite(
  'mailboxes.update',
  async (
    tx,
    { tenantId, id, change, now }: { tenantId: TenantId; id: string; change: MailboxChange; now: number },
  ): Promise<MailboxRow> => {
    const before = await getMailbox(tx, tenantId, id);
    const { aliases, filters, members, ...fields } = change;
    const hasOtherAliases = aliases !== undefined && (await changeAliases(tx, before, { ...aliases, now }));
    if (aliases && hasOtherAliases)
      await moveForeignMailboxes(tx, before, { addresses: aliases.aliases, sandbox: aliases.sandbox, now });
    const hasOtherFilters = filters !== undefined && (await changeFilters(tx, before.id, filters));
    const hasOtherMembers = members !== undefined && (await replaceMembers(tx, before, members));
    const hasOtherDetails = hasOtherAliases || hasOtherFilters || hasOtherMembers;
    if (!hasOtherDetails && hasValues<MailboxRow>(before, fields)) return before;
    if (change.status !== undefined && before.status === 'damaged') {
      throw new AppError('invalid_state', 'The mailbox is damaged; its operator has to repair it first', {
        param: 'status',
      });
    }
    const after = { ...before, ...fields, updatedAt: now };
    const moreBytes = after.quotaBytes - before.quotaBytes;
    await requireQuotaInPlan(tx, { tenantId, quotaBytes: moreBytes });
    const { id: _, ...columns } = after;
    await updateRows(tx, 'mailboxes', { set: columns, where: { id: before.id } });
    await cancelWithdrawn(tx, { mailboxId: before.id, now });
    return after;
  },
);

/**
 * Deletes a mailbox, and cancels its mail that waits to be sent. Its addresses are free at once; its folder is removed later
 * (mailboxes/worker.ts).
 * @throws AppError not_found
 */
export const endMailbox = defineWrite(
  'mailboxes.end',
  async (tx, { tenantId, id, now }: { tenantId: TenantId; id: string; now: number }): Promise<void> => {
    const { id: mailboxId } = await getMailbox(tx, tenantId, id);
    await cancelMailOf(tx, { mailboxId, now });
    await deleteScriptsOf(tx, mailboxId);
    await deleteMemoriesOf(tx, mailboxId);
    await deleteFiltersOf(tx, mailboxId);
    await deleteAliases(tx, mailboxId);
    await deleteRows(tx, 'mailboxes', { id: mailboxId });
    // The folder is removed even when the tenant is deleted, so the task belongs to the installation.
    const task = { kind: REMOVALS, reference: mailboxId, queueKey: REMOVALS, tenantId: null };
    await scheduleTask(tx, { ...task, dueAt: now });
  },
);

const anyMailbox = statement((db, _param: Param<object>) => db.selectFrom('mailboxes').select('id').limit(1));

/** Returns true when there is a mailbox, of whatever tenant. */
export async function hasMailboxes(tx: Tx): Promise<boolean> {
  return (await anyMailbox.first(tx, {})) !== undefined;
}

type Usage = Pick<MailboxRow, 'id' | 'usedBytes' | 'messageCount' | 'lastModseq'>;

const setUsage = statement((db, param: Param<Usage>) =>
  db
    .updateTable('mailboxes')
    .set({
      usedBytes: param('usedBytes'),
      messageCount: param('messageCount'),
      lastModseq: sql`max(lastModseq, ${param('lastModseq')})`,
    })
    .where('id', '=', param('id')),
);

/** Records size and number of the messages of a mailbox, and how far its database is. Nothing happens when the mailbox is deleted. */
export const recordUsage = defineWrite('mailboxes.recordUsage', async (tx, usage: Usage): Promise<void> => {
  await setUsage.all(tx, usage);
});

/**
 * More changes than a mailbox can have had since their number was recorded, which is when it was closed or when its size had changed.
 * Numbers stay exact for millions of such steps.
 */
const UNRECORDED_CHANGES = 1_000_000_000;

/**
 * Records that the databases of all mailboxes are older copies, such as those of a backup, and returns the number of the mailboxes. Each one
 * gets new UIDVALIDITYs when it is next opened (accounts/open.ts). Those that were never opened have no database.
 */
export const recordRestoration = defineWrite(
  'mailboxes.recordRestoration',
  async (tx, _input: null): Promise<number> => {
    const { numUpdatedRows } = await tx
      .updateTable('mailboxes')
      .set({ lastModseq: sql`lastModseq + ${UNRECORDED_CHANGES}` })
      .where((row) =>
        row.or([row('lastModseq', '>', 0), row('messageCount', '>', 0), row('usedBytes', '>', 0)]),
      )
      .executeTakeFirstOrThrow();
    return Number(numUpdatedRows);
  },
);

/** Records that somebody has logged in. `now` is in Unix milliseconds. */
export const recordLogin = defineWrite(
  'mailboxes.recordLogin',
  async (tx, { id, now }: { id: MailboxId; now: number }): Promise<void> => {
    await updateRows(tx, 'mailboxes', { set: { lastLoginAt: now }, where: { id } });
  },
);

/** Records that the database or the messages of a mailbox were found damaged. Its owner cannot log in until it is repaired. */
export const recordDamage = defineWrite(
  'mailboxes.recordDamage',
  async (tx, { id, now }: { id: MailboxId; now: number }): Promise<void> => {
    await updateRows(tx, 'mailboxes', { set: { status: 'damaged', updatedAt: now }, where: { id } });
  },
);

/** Records that a mailbox was repaired, and gives it a status again. */
export const recordRepair = defineWrite(
  'mailboxes.recordRepair',
  async (
    tx,
    { id, status, now }: { id: MailboxId; status: 'active' | 'suspended'; now: number },
  ): Promise<void> => {
    await updateRows(tx, 'mailboxes', { set: { status, updatedAt: now }, where: { id } });
  },
);
