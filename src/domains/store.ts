/** Domains: all SQL, and the only writer of their table. A deleted domain is seen by the signer alone. */
import { defineWrite, type Tx } from '../db/operation.ts';
import { type Page, type PageRequest, readPage } from '../db/page.ts';
import { type Param, statement } from '../db/statement.ts';
import type { DomainRow } from '../db/tables.ts';
import { AppError, notFound } from '../system/errors.ts';
import type { Verdicts } from './check.ts';
import { afterCheck, type Findings } from './states.ts';

export type Domain = Omit<DomainRow, 'records' | 'deletedAt'> & { findings: Findings };

/** @throws AppError already_exists with `details.id`, within the tenant; other tenants may have the same name */
export const insertDomain = defineWrite('domains.insert', async (tx, domain: Domain) => {
  await refuseDuplicate(tx, domain.tenantId, domain.name);
  const { findings, ...columns } = domain;
  await tx
    .insertInto('domains')
    .values({ ...columns, records: JSON.stringify(findings), deletedAt: null })
    .execute();
});

/** Asked before a key is made for nothing, and again where it decides. @throws AppError already_exists */
export async function refuseDuplicate(tx: Tx, tenantId: DomainRow['tenantId'], name: string): Promise<void> {
  const existing = await liveDomains(tx, tenantId).where('name', '=', name).executeTakeFirst();
  if (!existing) return;
  throw new AppError('already_exists', `The domain ${name} exists already`, {
    param: 'name',
    details: { id: existing.id },
  });
}

/** @throws AppError not_found, also for another tenant's */
export async function getDomain(tx: Tx, tenantId: DomainRow['tenantId'], id: string): Promise<Domain> {
  const row = await liveDomains(tx, tenantId)
    .where('id', '=', id as DomainRow['id'])
    .executeTakeFirst();
  if (!row) throw notFound('Domain');
  return toDomain(row);
}

/** Newest first. */
export function listDomains(
  tx: Tx,
  tenantId: DomainRow['tenantId'],
  page: PageRequest,
): Promise<Page<Domain>> {
  return readPage(page, async ({ direction, cursor, limit }) => {
    const isOlder = direction === 'older';
    const all = liveDomains(tx, tenantId)
      .orderBy('id', isOlder ? 'desc' : 'asc')
      .limit(limit);
    const slice =
      cursor === undefined ? all : all.where('id', isOlder ? '<' : '>', cursor as DomainRow['id']);
    return (await slice.execute()).map(toDomain);
  });
}

export type Check = Pick<DomainRow, 'id' | 'tenantId'> & { verdicts: Verdicts; now: number };

/** What DNS said is weighed against the state of this moment. @throws AppError not_found when deleted meanwhile */
export const recordCheck = defineWrite(
  'domains.recordCheck',
  async (tx, { id, tenantId, verdicts, now }: Check): Promise<Domain> => {
    const before = await getDomain(tx, tenantId, id);
    const { findings, ...state } = afterCheck(before, verdicts, now);
    await tx
      .updateTable('domains')
      .set({ ...state, records: JSON.stringify(findings), updatedAt: now })
      .where('id', '=', id)
      .execute();
    return { ...before, ...state, findings, updatedAt: now };
  },
);

/** The row stays, with its key: mail accepted before is still to be signed (decisions.md 12). @throws AppError not_found */
export const deleteDomain = defineWrite(
  'domains.delete',
  async (tx, { id, tenantId, now }: { id: string; tenantId: DomainRow['tenantId']; now: number }) => {
    const domain = await getDomain(tx, tenantId, id);
    await tx
      .updateTable('domains')
      .set({ deletedAt: now, updatedAt: now })
      .where('id', '=', domain.id)
      .execute();
  },
);

export type SendingDomain = Pick<DomainRow, 'id' | 'status' | 'failingSince'>;

const sendingDomain = statement((db, param: Param<Pick<DomainRow, 'tenantId' | 'name'>>) =>
  db
    .selectFrom('domains')
    .select(['id', 'status', 'failingSince'])
    .where('tenantId', '=', param('tenantId'))
    .where('name', '=', param('name'))
    .where('deletedAt', 'is', null),
);

/** `name` in the form of addresses: lower case, A-labels. */
export function findDomainByName(
  tx: Tx,
  tenantId: DomainRow['tenantId'],
  name: string,
): Promise<SendingDomain | undefined> {
  return sendingDomain.first(tx, { tenantId, name });
}

export type SealedKey = Pick<DomainRow, 'tenantId' | 'name' | 'selector' | 'privateKeySealed'>;

const sealedKey = statement((db, param: Param<Pick<DomainRow, 'id'>>) =>
  db
    .selectFrom('domains')
    .select(['tenantId', 'name', 'selector', 'privateKeySealed'])
    .where('id', '=', param('id')),
);

/** Of any tenant's domain, deleted ones too: the id comes from a message of the spool, never from a caller. */
export function findSealedKey(tx: Tx, id: DomainRow['id']): Promise<SealedKey | undefined> {
  return sealedKey.first(tx, { id });
}

function liveDomains(tx: Tx, tenantId: DomainRow['tenantId']) {
  return tx.selectFrom('domains').selectAll().where('tenantId', '=', tenantId).where('deletedAt', 'is', null);
}

function toDomain({ records, deletedAt: _, ...row }: DomainRow): Domain {
  return { ...row, findings: JSON.parse(records) as Findings };
}
