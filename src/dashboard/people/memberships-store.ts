/** Stores which people belong to which tenants, and what they may do there. All SQL of this table is here. */
import { defineWrite, type Tx } from '../../db/operation.ts';
import type { MembershipRow, PersonRow, Role } from '../../db/people-tables.ts';
import { deleteRows, findRow, insertRow, updateRows } from '../../db/rows.ts';
import type { TenantRow, TenantStatus } from '../../db/tenant-tables.ts';
import { AppError, limitReached, notFound } from '../../system/errors.ts';
import { endSessionsOf } from './sessions-store.ts';

/** Maximum number of members of a tenant. Our own limit. */
const MAX_MEMBERS = 200;

/** A tenant that a person belongs to. */
export type Membership = {
  tenantId: TenantRow['id'];
  tenantName: string;
  status: TenantStatus;
  role: Role;
};

/** Returns the tenants of a person, by name. Tenants that are being deleted are not among them. */
export function listMemberships(tx: Tx, personId: PersonRow['id']): Promise<Membership[]> {
  return tx
    .selectFrom('memberships')
    .innerJoin('tenants', 'tenants.id', 'memberships.tenantId')
    .select(['tenants.id as tenantId', 'tenants.name as tenantName', 'tenants.status', 'memberships.role'])
    .where('memberships.personId', '=', personId)
    .where('tenants.status', '<>', 'deleting')
    .orderBy('tenants.name')
    .execute();
}

/** Returns the tenant of a person who belongs to nothing else, whose owners answer for the person. */
export function soleTenant(
  { isOperator }: Pick<PersonRow, 'isOperator'>,
  memberships: readonly Membership[],
): TenantRow['id'] | null {
  const [first, ...others] = memberships;
  return first && others.length === 0 && isOperator === 0 ? first.tenantId : null;
}

/** A member of a tenant, as its owners see it. */
export type Member = Pick<PersonRow, 'id' | 'email' | 'name'> & { role: Role; hasTotp: 0 | 1 };

/** Returns the members of a tenant, in the order in which they came. */
export async function listMembers(tx: Tx, tenantId: TenantRow['id']): Promise<Member[]> {
  const rows = await tx
    .selectFrom('memberships')
    .innerJoin('people', 'people.id', 'memberships.personId')
    .select(['people.id', 'people.email', 'people.name', 'people.totpSealed', 'memberships.role'])
    .where('memberships.tenantId', '=', tenantId)
    .orderBy('people.id')
    .execute();
  return rows.map(({ totpSealed, ...member }) => ({ ...member, hasTotp: totpSealed === null ? 0 : 1 }));
}

/** The roles, each of which may do more than those before. */
const BY_POWER: readonly Role[] = ['viewer', 'admin', 'owner'];

/**
 * Adds a person to a tenant, as part of a write. A person who is a member already gets the new role when it may do more than the present one:
 * an invitation takes nothing away, and so leaves no tenant without an owner.
 *
 * @throws AppError validation_error at the maximum
 */
export async function addMember(tx: Tx, membership: MembershipRow): Promise<void> {
  const { tenantId, personId, role } = membership;
  const present = await findRow(tx, 'memberships', { tenantId, personId });
  if (present) {
    if (BY_POWER.indexOf(role) > BY_POWER.indexOf(present.role))
      await updateRows(tx, 'memberships', { set: { role }, where: { tenantId, personId } });
    return;
  }
  const { length } = await listMembers(tx, tenantId);
  if (length >= MAX_MEMBERS) throw limitReached('members', length);
  await insertRow(tx, 'memberships', membership);
}

/** A member as pages name it. */
export type MemberKey = Pick<MembershipRow, 'tenantId'> & { personId: string };
type RoleChange = MemberKey & Pick<MembershipRow, 'role'>;

/**
 * Changes the role of a member, and ends its sessions, because its rights have changed.
 * @throws AppError not_found, invalid_state for the last owner
 */
export const setRole = defineWrite('people.setRole', async (tx, change: RoleChange) => {
  const { tenantId, role } = change;
  const personId = await requireMember(tx, change);
  if (role !== 'owner') await requireOtherOwner(tx, tenantId, personId);
  await updateRows(tx, 'memberships', { set: { role }, where: { tenantId, personId } });
  await endSessionsOf(tx, { personId });
});

/**
 * Takes a member out of a tenant, as part of a write, and returns the person.
 * @throws AppError not_found, invalid_state for the last owner
 */
export async function deleteMember(tx: Tx, member: MemberKey): Promise<PersonRow['id']> {
  const { tenantId } = member;
  const personId = await requireMember(tx, member);
  await requireOtherOwner(tx, tenantId, personId);
  await deleteRows(tx, 'memberships', { tenantId, personId });
  return personId;
}

/**
 * Checks that a person belongs to this tenant alone. A link that sets a new password lets its holder in as the person everywhere, so an
 * owner of one tenant does not make it for people of others, or for operators.
 *
 * @throws AppError not_found, invalid_state
 */
export async function requireOwnPerson(
  tx: Tx,
  tenantId: TenantRow['id'],
  member: PersonRow['id'],
): Promise<void> {
  const personId = await requireMember(tx, { tenantId, personId: member });
  const isElsewhere = (await listMemberships(tx, personId)).some((one) => one.tenantId !== tenantId);
  if (!isElsewhere && !(await findRow(tx, 'people', { id: personId, isOperator: 1 }))) return;
  throw new AppError(
    'invalid_state',
    'The person does not belong to this tenant alone; the operator makes the link: postrider person link <address>',
  );
}

/** Returns true for an owner of the tenant. */
export async function isOwner(
  tx: Tx,
  tenantId: TenantRow['id'],
  personId: PersonRow['id'],
): Promise<boolean> {
  return (await findRow(tx, 'memberships', { tenantId, personId, role: 'owner' })) !== undefined;
}

async function requireMember(tx: Tx, { tenantId, personId }: MemberKey): Promise<PersonRow['id']> {
  const id = personId as PersonRow['id'];
  if (!(await findRow(tx, 'memberships', { tenantId, personId: id }))) throw notFound('Member');
  return id;
}

/**
 * Checks that a tenant has another owner than this person. A tenant without one could not be given one by its own people.
 * @throws AppError invalid_state
 */
export async function requireOtherOwner(
  tx: Tx,
  tenantId: TenantRow['id'],
  personId: PersonRow['id'],
): Promise<void> {
  const members = await listMembers(tx, tenantId);
  if (members.some(({ id, role }) => role === 'owner' && id !== personId)) return;
  if (members.find(({ id }) => id === personId)?.role !== 'owner') return;
  throw new AppError('invalid_state', 'A tenant keeps its last owner; make another member the owner first');
}
