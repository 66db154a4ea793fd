/**
 * Audiences: all SQL, and the only writer of their table. Live and test keys share them. One that is deleted is hidden at
 * once, and its row goes when its contacts have (delete.ts).
 */

import type { AudienceRow } from '../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../db/page.ts';
import { type Param, statement } from '../db/statement.ts';
import { limitReached, notFound } from '../system/errors.ts';
import type { AudienceChange } from './schemas.ts';

/** Of one tenant (api.md 1.10). */
export const MAX_AUDIENCES = 1_000;

type TenantId = AudienceRow['tenantId'];

/** @throws AppError validation_error when the tenant has as many as it may */
export const insertAudience = defineWrite('audiences.insert', async (tx, audience: AudienceRow) => {
  const { count } = await tx
    .selectFrom('audiences')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('tenantId', '=', audience.tenantId)
    .where('deletedAt', 'is', null)
    .executeTakeFirstOrThrow();
  if (count >= MAX_AUDIENCES) {
    throw limitReached('audiences already', count, 'delete one first');
  }
  await tx.insertInto('audiences').values(audience).execute();
});

const byId = statement((db, param: Param<Pick<AudienceRow, 'tenantId' | 'id'>>) =>
  db
    .selectFrom('audiences')
    .selectAll()
    .where('tenantId', '=', param('tenantId'))
    .where('id', '=', param('id'))
    .where('deletedAt', 'is', null),
);

/** Undefined also for another tenant's, and for a deleted one. */
export function findAudience(tx: Tx, tenantId: TenantId, id: string): Promise<AudienceRow | undefined> {
  return byId.first(tx, { tenantId, id: id as AudienceRow['id'] });
}

/** @throws AppError not_found, also for another tenant's and for a deleted one */
export async function getAudience(tx: Tx, tenantId: TenantId, id: string): Promise<AudienceRow> {
  const audience = await findAudience(tx, tenantId, id);
  if (!audience) throw notFound('Audience');
  return audience;
}

/** Newest first. */
export function listAudiences(tx: Tx, tenantId: TenantId, page: PageRequest): Promise<Page<AudienceRow>> {
  const all = tx
    .selectFrom('audiences')
    .selectAll()
    .where('tenantId', '=', tenantId)
    .where('deletedAt', 'is', null);
  return readPage(page, (slice) => inSlice(all, 'id', slice).execute());
}

type ById = { tenantId: TenantId; id: string };

/** What is not named stays, and what is as wished already is no change. @throws AppError not_found */
export const changeAudience = defineWrite(
  'audiences.change',
  async (tx, { tenantId, id, change, now }: ById & { change: AudienceChange; now: number }) => {
    const before = await getAudience(tx, tenantId, id);
    const { name = before.name } = change;
    if (name === before.name) return before;
    await tx.updateTable('audiences').set({ name, updatedAt: now }).where('id', '=', before.id).execute();
    return { ...before, name, updatedAt: now };
  },
);

const addToCount = statement((db, param: Param<{ id: AudienceRow['id']; delta: number }>) =>
  db
    .updateTable('audiences')
    .set((column) => ({ contactCount: column('contactCount', '+', param('delta')) }))
    .where('id', '=', param('id')),
);

/** Part of the write that adds or removes contacts: nothing else changes the count. */
export async function countContacts(tx: Tx, id: AudienceRow['id'], delta: number): Promise<void> {
  await addToCount.all(tx, { id, delta });
}

/** Part of a write. From here on nobody finds it but `findDeletedAudience`. */
export async function hideAudience(tx: Tx, id: AudienceRow['id'], now: number): Promise<void> {
  await tx.updateTable('audiences').set({ deletedAt: now }).where('id', '=', id).execute();
}

/** The one deleted first, of any tenant. */
export function findDeletedAudience(tx: Tx): Promise<Pick<AudienceRow, 'id'> | undefined> {
  return tx
    .selectFrom('audiences')
    .select('id')
    .where('deletedAt', 'is not', null)
    .orderBy('deletedAt')
    .limit(1)
    .executeTakeFirst();
}

/** Part of a write: the row itself, when nothing belongs to it any more. */
export async function removeAudience(tx: Tx, id: AudienceRow['id']): Promise<void> {
  await tx.deleteFrom('audiences').where('id', '=', id).execute();
}
