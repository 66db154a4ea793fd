/**
 * Stores audiences. All SQL of this table is here, and nothing else writes it. Live and test keys share audiences. A
 * deleted audience is hidden at once, and its row is removed after its contacts (delete.ts).
 */

import type { AudienceRow } from '../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../db/page.ts';
import { deleteRows, insertRow, updateRows } from '../db/rows.ts';
import { type Param, statement } from '../db/statement.ts';
import { limitReached, orNotFound } from '../system/errors.ts';
import { newId } from '../system/ids.ts';
import { requireNoAsker } from '../tenants/approval-need.ts';
import type { Changer } from '../tenants/planned-mail-store.ts';
import type { AudienceChange } from './schemas.ts';

/** Maximum number of audiences per tenant. */
export const MAX_AUDIENCES = 1_000;

type TenantId = AudienceRow['tenantId'];

/**
 * Stores a new audience.
 * @throws AppError validation_error when the tenant has the maximum number of audiences
 */
export const insertAudience = defineWrite('audiences.insert', (tx, audience: AudienceRow) =>
  insert(tx, audience),
);

/** Values of a new audience. `now` is in Unix milliseconds. */
type NewAudience = Pick<AudienceRow, 'tenantId' | 'name' | 'optIn'> & { now: number };

/** Returns the row of a new audience. */
export function newAudience({ now, ...given }: NewAudience): AudienceRow {
  const id = newId('aud', now);
  return { ...given, id, contactCount: 0, createdAt: now, updatedAt: now, deletedAt: null };
}

/**
 * Returns the audience that has a name, and makes it when there is none. Of several, the oldest counts. Two callers at the same time get the same
 * one.
 * @throws AppError validation_error when the tenant has the maximum number of audiences
 */
export const ensureAudience = defineWrite(
  'audiences.ensure',
  async (tx, { tenantId, name, now }: Omit<NewAudience, 'optIn'>): Promise<AudienceRow> => {
    const existing = await findAudienceByName(tx, tenantId, name);
    if (existing) return existing;
    const audience = newAudience({ tenantId, name, optIn: null, now });
    await insert(tx, audience);
    return audience;
  },
);

async function insert(tx: Tx, audience: AudienceRow): Promise<void> {
  const { count } = await tx
    .selectFrom('audiences')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('tenantId', '=', audience.tenantId)
    .where('deletedAt', 'is', null)
    .executeTakeFirstOrThrow();
  if (count >= MAX_AUDIENCES) {
    throw limitReached('audiences', count);
  }
  await insertRow(tx, 'audiences', audience);
}

const byId = statement((db, param: Param<Pick<AudienceRow, 'tenantId' | 'id'>>) =>
  db
    .selectFrom('audiences')
    .selectAll()
    .where('tenantId', '=', param('tenantId'))
    .where('id', '=', param('id'))
    .where('deletedAt', 'is', null),
);

/** Returns an audience, or undefined when the tenant has no such audience or has deleted it. */
export function findAudience(tx: Tx, tenantId: TenantId, id: string): Promise<AudienceRow | undefined> {
  return byId.first(tx, { tenantId, id: id as AudienceRow['id'] });
}

const byName = statement((db, param: Param<Pick<AudienceRow, 'tenantId' | 'name'>>) =>
  db
    .selectFrom('audiences')
    .selectAll()
    .where('tenantId', '=', param('tenantId'))
    .where('name', '=', param('name'))
    .where('deletedAt', 'is', null)
    .orderBy('id')
    .limit(1),
);

/** Returns the oldest audience of a tenant that has a name, or undefined. */
export function findAudienceByName(
  tx: Tx,
  tenantId: TenantId,
  name: string,
): Promise<AudienceRow | undefined> {
  return byName.first(tx, { tenantId, name });
}

/**
 * Returns an audience.
 * @throws AppError not_found, also for an audience that is deleted or belongs to another tenant
 */
export async function getAudience(tx: Tx, tenantId: TenantId, id: string): Promise<AudienceRow> {
  return orNotFound(await findAudience(tx, tenantId, id), 'Audience');
}

/** Returns a page of audiences, newest first. */
export function listAudiences(tx: Tx, tenantId: TenantId, page: PageRequest): Promise<Page<AudienceRow>> {
  const all = tx
    .selectFrom('audiences')
    .selectAll()
    .where('tenantId', '=', tenantId)
    .where('deletedAt', 'is', null);
  return readPage(page, (slice) => inSlice(all, 'id', slice).execute());
}

/**
 * Checks that the caller may set what confirmation mail is made of: nobody approves the mail of the contacts that others add.
 * @throws AppError restricted_api_key
 */
export function requireMayConfirm(caller: Pick<Changer, 'approval'>): void {
  requireNoAsker(caller, { kind: 'transactional', what: 'set the `optIn` of an audience' });
}

type Changing = Changer & { id: string; change: AudienceChange; now: number };

/**
 * Changes an audience and returns it. Fields that the change does not name stay. A change to the present values leaves
 * `updatedAt` as it is.
 * @throws AppError not_found; restricted_api_key for settings of confirmation mail that the caller may not set
 */
export const changeAudience = defineWrite(
  'audiences.change',
  async (tx, { tenantId, approval, id, change, now }: Changing) => {
    const before = await getAudience(tx, tenantId, id);
    const { name = before.name, optIn = before.optIn } = change;
    if (name === before.name && optIn === before.optIn) return before;
    if (optIn !== before.optIn) requireMayConfirm({ approval });
    await updateRows(tx, 'audiences', { set: { name, optIn, updatedAt: now }, where: { id: before.id } });
    return { ...before, name, optIn, updatedAt: now };
  },
);

const addToCount = statement((db, param: Param<{ id: AudienceRow['id']; delta: number }>) =>
  db
    .updateTable('audiences')
    .set((column) => ({ contactCount: column('contactCount', '+', param('delta')) }))
    .where('id', '=', param('id')),
);

/** Adds `delta` to the number of contacts. Every write that adds or removes contacts calls it, and nothing else does. */
export async function countContacts(tx: Tx, id: AudienceRow['id'], delta: number): Promise<void> {
  await addToCount.all(tx, { id, delta });
}

/**
 * Returns the number of broadcasts to an audience, or to a segment of it, that are scheduled, being sent or paused. They are
 * those of both modes, because live and test keys share audiences.
 */
export async function countBroadcasts(
  tx: Tx,
  { tenantId, id }: Pick<AudienceRow, 'tenantId' | 'id'>,
): Promise<number> {
  const { count } = await tx
    .selectFrom('broadcasts')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('tenantId', '=', tenantId)
    .where('mode', 'in', ['live', 'test'])
    .where('audienceId', '=', id)
    .where('status', 'in', ['scheduled', 'sending', 'paused'])
    .executeTakeFirstOrThrow();
  return count;
}

/** Marks an audience as deleted. Afterwards only `findDeletedAudience` finds it. `now` is in Unix milliseconds. */
export async function hideAudience(tx: Tx, id: AudienceRow['id'], now: number): Promise<void> {
  await updateRows(tx, 'audiences', { set: { deletedAt: now }, where: { id } });
}

/** Returns the audience that was deleted first, of any tenant, or undefined when all deleted ones are cleared. */
export function findDeletedAudience(tx: Tx): Promise<Pick<AudienceRow, 'id'> | undefined> {
  return tx
    .selectFrom('audiences')
    .select('id')
    .where('deletedAt', 'is not', null)
    .orderBy('deletedAt')
    .limit(1)
    .executeTakeFirst();
}

/** Removes the row of an audience that has no contacts and no segments left. */
export async function removeAudience(tx: Tx, id: AudienceRow['id']): Promise<void> {
  await deleteRows(tx, 'audiences', { id });
}
