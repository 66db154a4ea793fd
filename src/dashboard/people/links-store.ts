/**
 * Stores the links that let somebody in once: the first operator, invited people, and those who have lost their password. All SQL of this
 * table is here. Using a link is one write, so that it works once even when it is opened twice at the same time.
 */
import { type ExpiryRange, type ExpirySlice, findSlice } from '../../db/expiry.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import type { LoginLinkRow, PasskeyRow, PersonRow } from '../../db/people-tables.ts';
import { deleteRows, findRow, insertRow, updateRows } from '../../db/rows.ts';
import type { TenantRow } from '../../db/tenant-tables.ts';
import { DAY_MS } from '../../system/clock.ts';
import { AppError, limitReached, notFound } from '../../system/errors.ts';
import { ID_CHARACTERS } from '../../system/ids.ts';
import { addMember, isOwner, requireOwnPerson } from './memberships-store.ts';
import { type IssuerAccount, insertAccount, removeAccountsOf } from './openid-store.ts';
import { insertPasskey } from './passkeys-store.ts';
import { endSessionsOf } from './sessions-store.ts';
import {
  findPersonByEmail,
  hasOperator,
  insertPerson,
  isOperator,
  makeOperator,
  resetPassword,
} from './store.ts';

/** Maximum number of unused links of a tenant, or of the installation. Our own limit. */
const MAX_OPEN_LINKS = 100;

/** Maximum number of people who join a tenant within a day, so that no tenant uses up the people of the installation. Our own limit. */
const MAX_JOINS_PER_DAY = 200;

/**
 * Stores a new link. A new link to set up the installation replaces the one before.
 * @throws AppError validation_error at the maximum, invalid_state for a link to set up while there is an operator, and for a new password of a
 * person who does not belong to the tenant alone
 */
export const insertLoginLink = defineWrite('people.insertLink', async (tx, link: LoginLinkRow) => {
  if (link.kind === 'set_up') {
    if (await hasOperator(tx))
      throw new AppError('invalid_state', 'The installation has an operator already');
    await deleteRows(tx, 'loginLinks', { kind: 'set_up' });
  }
  await requireRecoverable(tx, link);
  const open = await listOpenLinks(tx, { tenantId: link.tenantId, now: link.createdAt });
  if (open.length >= MAX_OPEN_LINKS) throw limitReached('open invitations', open.length);
  await insertRow(tx, 'loginLinks', link);
});

/** Checks that a tenant that has made a link for a new password may do so, also when the link is used. */
async function requireRecoverable(
  tx: Tx,
  { tenantId, personId }: Pick<LoginLinkRow, 'tenantId' | 'personId'>,
): Promise<void> {
  if (tenantId !== null && personId !== null) await requireOwnPerson(tx, tenantId, personId);
}

type OpenLinks = { tenantId: LoginLinkRow['tenantId']; now: number };

/** Returns the links of a tenant, or of the installation, that can still be used, the newest first. */
export function listOpenLinks(tx: Tx, { tenantId, now }: OpenLinks): Promise<LoginLinkRow[]> {
  return tx
    .selectFrom('loginLinks')
    .selectAll()
    .where('tenantId', tenantId === null ? 'is' : '=', tenantId)
    .where('usedAt', 'is', null)
    .where('expiresAt', '>', now)
    .orderBy('id', 'desc')
    .limit(MAX_OPEN_LINKS)
    .execute();
}

/**
 * Returns the link with this token hash while it can be used: once, for a time, and while whoever has made it may make such a link. Nobody sets up
 * an installation that has an operator.
 */
export async function findOpenLink(
  tx: Tx,
  { tokenHash, now }: { tokenHash: string; now: number },
): Promise<LoginLinkRow | undefined> {
  const link = await findRow(tx, 'loginLinks', { tokenHash });
  const isOver = link?.kind === 'set_up' && (await hasOperator(tx));
  const isOpen = link && !isOver && link.usedAt === null && link.expiresAt > now;
  return isOpen && (await mayMake(tx, link)) ? link : undefined;
}

/** Returns true while the maker of a link has the right to make it: the operator any link, and an owner those of its tenant. */
async function mayMake(tx: Tx, { makerId, tenantId }: LoginLinkRow): Promise<boolean> {
  if (makerId === null || (await isOperator(tx, makerId))) return true;
  return tenantId !== null && (await isOwner(tx, tenantId, makerId));
}

/** A person as somebody enters it behind a link. `email` is in lower case. */
type NewPerson = Pick<PersonRow, 'id' | 'email' | 'name' | 'passwordHash'>;

/** Returns the id of the person that a link makes. Attempts to use one link are therefore those of one person in the audit log. */
export function personIdOf({ id }: Pick<LoginLinkRow, 'id'>): PersonRow['id'] {
  return `per_${id.slice(-ID_CHARACTERS)}`;
}

export type LinkUse = {
  tokenHash: string;
  now: number;
  person: NewPerson;
  /** The passkey of a new person who logs in with it. */
  passkey?: Omit<PasskeyRow, 'personId'>;
  /** The account at a provider of a new person who logs in with it. */
  account?: IssuerAccount;
};

/**
 * Uses a link: it makes the person with its membership, or sets the new password of the one that exists, and ends everything else that lets
 * that person in. Its accounts at providers are among it, because a provider may have closed one and made another for the same person. An
 * invitation to an address that belongs to a person already is for that person, who accepts it logged in.
 *
 * @throws AppError not_found for a link that does not work any more, already_exists
 */
export const redeemLink = defineWrite(
  'people.redeemLink',
  async (tx, use: LinkUse): Promise<PersonRow['id']> => {
    const { now, person, passkey, account } = use;
    const link = await findOpenLink(tx, use);
    if (!link) throw notFound('Link');
    await updateRows(tx, 'loginLinks', { set: { usedAt: now }, where: { id: link.id } });
    if (link.personId !== null) {
      await requireRecoverable(tx, link);
      await resetPassword(tx, { id: link.personId, passwordHash: person.passwordHash });
      await removeAccountsOf(tx, link.personId);
      return link.personId;
    }
    await insertPerson(tx, { ...person, ...NEW, isOperator: link.isOperator, createdAt: now });
    if (passkey) await insertPasskey(tx, { ...passkey, personId: person.id });
    if (account) await insertAccount(tx, person.id, account);
    await joinTenant(tx, link, { personId: person.id, now });
    return person.id;
  },
);

const NEW = { totpSealed: null, totpStep: 0, language: null, timeZone: null };

/**
 * Lets a person who is logged in accept an invitation to its own address. All its sessions end, because its rights have changed.
 * @throws AppError not_found for a link that does not work any more, or is for somebody else
 */
export const acceptInvitation = defineWrite(
  'people.acceptInvitation',
  async (
    tx,
    {
      tokenHash,
      now,
      personId,
    }: Omit<LinkUse, 'person' | 'passkey' | 'account'> & { personId: PersonRow['id'] },
  ) => {
    const link = await findOpenLink(tx, { tokenHash, now });
    const invited = link?.email == null ? undefined : await findPersonByEmail(tx, link.email);
    if (!link || invited?.id !== personId) throw notFound('Link');
    await updateRows(tx, 'loginLinks', { set: { usedAt: now }, where: { id: link.id } });
    if (link.isOperator === 1) await makeOperator(tx, personId);
    await joinTenant(tx, link, { personId, now });
    await endSessionsOf(tx, { personId });
  },
);

async function joinTenant(
  tx: Tx,
  { tenantId, role }: LoginLinkRow,
  { personId, now }: { personId: PersonRow['id']; now: number },
): Promise<void> {
  if (tenantId === null || role === null) return;
  await requireFewJoins(tx, tenantId, now);
  await addMember(tx, { tenantId, personId, role, createdAt: now });
}

/** Checks that few people have joined a tenant within a day, the present one among them. Links are kept for a day. */
async function requireFewJoins(tx: Tx, tenantId: TenantRow['id'], now: number): Promise<void> {
  const joined = await tx
    .selectFrom('loginLinks')
    .select('id')
    .where('tenantId', '=', tenantId)
    .where('role', 'is not', null)
    .where('usedAt', '>', now - DAY_MS)
    .limit(MAX_JOINS_PER_DAY + 1)
    .execute();
  if (joined.length > MAX_JOINS_PER_DAY)
    throw new AppError('validation_error', `At most ${MAX_JOINS_PER_DAY} people join a tenant within a day`);
}

/** Withdraws a link of a tenant, or of the installation. It returns false when there is no such link. */
export const withdrawLink = defineWrite(
  'people.withdrawLink',
  async (tx, { id, tenantId }: { id: string; tenantId: LoginLinkRow['tenantId'] }): Promise<boolean> => {
    const link = await findRow(tx, 'loginLinks', { id: id as LoginLinkRow['id'] });
    if (!link || link.tenantId !== tenantId || link.usedAt !== null) return false;
    await deleteRows(tx, 'loginLinks', { id: link.id });
    return true;
  },
);

/** Deletes a slice of old links. */
export const expireLinks = defineWrite(
  'people.expireLinks',
  async (tx, range: ExpiryRange): Promise<ExpirySlice> => {
    const { isInSlice, next } = await findSlice(tx, 'loginLinks', range);
    const { numDeletedRows } = await tx.deleteFrom('loginLinks').where(isInSlice).executeTakeFirst();
    return { next, deleted: Number(numDeletedRows) };
  },
  { priority: 'bulk' },
);
