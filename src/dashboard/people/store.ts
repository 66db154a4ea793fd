/** Stores the people who log in. All SQL of this table is here, and nothing else writes it. */
import { defineWrite, type Tx } from '../../db/operation.ts';
import type { PersonRow } from '../../db/people-tables.ts';
import { deleteRows, findRow, insertRow, updateRows } from '../../db/rows.ts';
import { AppError, limitReached, orNotFound } from '../../system/errors.ts';
import { deleteMember, listMemberships, type MemberKey, requireOtherOwner } from './memberships-store.ts';
import { removePasskeysOf } from './passkeys-store.ts';
import { setRecoveryCodes } from './recovery-store.ts';
import { endOtherSessions, endSessionsOf } from './sessions-store.ts';

/** Maximum number of people of an installation. Our own limit. */
const MAX_PEOPLE = 10_000;

/**
 * Stores a new person, as part of a write.
 * @throws AppError already_exists for an address that another person has, validation_error at the maximum
 */
export async function insertPerson(tx: Tx, person: PersonRow): Promise<void> {
  if (await findPersonByEmail(tx, person.email))
    throw new AppError(
      'already_exists',
      'A person with this address exists already; log in, and open the link again',
      { param: 'email' },
    );
  const { count } = await tx
    .selectFrom('people')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  if (count >= MAX_PEOPLE) throw limitReached('people', count);
  await insertRow(tx, 'people', person);
}

/** Returns the person with this address, which is in lower case. */
export function findPersonByEmail(tx: Tx, email: string): Promise<PersonRow | undefined> {
  return findRow(tx, 'people', { email });
}

/** Returns the person with this id. */
export function findPerson(tx: Tx, id: string): Promise<PersonRow | undefined> {
  return findRow(tx, 'people', { id: id as PersonRow['id'] });
}

/** Returns true when somebody can log in as the operator. */
export async function hasOperator(tx: Tx): Promise<boolean> {
  return (await findRow(tx, 'people', { isOperator: 1 })) !== undefined;
}

/** Returns true for an operator. */
export async function isOperator(tx: Tx, id: PersonRow['id']): Promise<boolean> {
  return (await findRow(tx, 'people', { id, isOperator: 1 })) !== undefined;
}

/** Returns all operators, in the order in which they came. */
export function listOperators(tx: Tx): Promise<PersonRow[]> {
  return tx.selectFrom('people').selectAll().where('isOperator', '=', 1).orderBy('id').execute();
}

/** Fields of a person that pages change. */
type PersonChange = Partial<
  Pick<PersonRow, 'name' | 'passwordHash' | 'totpSealed' | 'language' | 'timeZone'>
>;

type ChangeInput = {
  id: PersonRow['id'];
  set: PersonChange;
  /** Hashes of new recovery codes, which replace all earlier ones; none removes them. */
  recoveryCodes?: readonly string[];
  /** The session that stays. Without it, the change ends no session; a new password or factor ends all others. */
  endsOthersThan?: string;
};

/**
 * Changes a person.
 * @throws AppError not_found, invalid_state when the session that stays has ended
 */
export const changePerson = defineWrite('people.change', async (tx, input: ChangeInput) => {
  const { id, set, recoveryCodes, endsOthersThan } = input;
  orNotFound(await findPerson(tx, id), 'Person');
  if (Object.keys(set).length > 0) await updateRows(tx, 'people', { set, where: { id } });
  if (recoveryCodes) await setRecoveryCodes(tx, id, recoveryCodes);
  if (endsOthersThan !== undefined) await endOtherSessions(tx, { id: endsOthersThan, personId: id });
});

/**
 * Sets a new password for a person who has lost its own, as part of a write. It ends all sessions, one-time codes, recovery codes and
 * passkeys, because somebody else may have them.
 */
export async function resetPassword(
  tx: Tx,
  { id, passwordHash }: Pick<PersonRow, 'id' | 'passwordHash'>,
): Promise<void> {
  await updateRows(tx, 'people', { set: { passwordHash, totpSealed: null }, where: { id } });
  await setRecoveryCodes(tx, id, []);
  await removePasskeysOf(tx, id);
  await endSessionsOf(tx, { personId: id });
}

/** Makes a person an operator, as part of a write. */
export async function makeOperator(tx: Tx, id: PersonRow['id']): Promise<void> {
  await updateRows(tx, 'people', { set: { isOperator: 1 }, where: { id } });
}

/**
 * Ends the right of a person to operate the installation. Its sessions end, because its rights have changed. A person without a tenant is
 * deleted.
 * @throws AppError not_found, invalid_state for the last operator
 */
export const endOperator = defineWrite('people.endOperator', async (tx, personId: string) => {
  const person = await findPerson(tx, personId);
  const { id } = orNotFound(person?.isOperator === 1 ? person : undefined, 'Operator');
  await requireOtherOperator(tx, id);
  await updateRows(tx, 'people', { set: { isOperator: 0 }, where: { id } });
  await endSessionsOf(tx, { personId: id });
  await deleteUnattached(tx, id);
});

/**
 * Removes a member from a tenant, and ends its sessions.
 * @throws AppError not_found, invalid_state for the last owner
 */
export const removeMember = defineWrite('people.removeMember', async (tx, member: MemberKey) => {
  const personId = await deleteMember(tx, member);
  await endSessionsOf(tx, { personId });
  await deleteUnattached(tx, personId);
});

/** Deletes a person who belongs to no tenant and is no operator. Otherwise a tenant could invite and remove people until there is no place. */
async function deleteUnattached(tx: Tx, id: PersonRow['id']): Promise<void> {
  const { length } = await listMemberships(tx, id);
  if (length === 0 && !(await isOperator(tx, id))) await deleteRows(tx, 'people', { id });
}

/**
 * Accepts the time step of a one-time code. Returns false when this step or a later one was accepted before: a code works once (RFC 6238
 * section 5.2).
 */
export const acceptTotpStep = defineWrite(
  'people.acceptTotpStep',
  async (tx, { id, step }: { id: PersonRow['id']; step: number }): Promise<boolean> => {
    const accepted = await tx
      .updateTable('people')
      .set({ totpStep: step })
      .where('id', '=', id)
      .where('totpStep', '<', step)
      .returning('id')
      .executeTakeFirst();
    return accepted !== undefined;
  },
);

/**
 * Deletes a person, with the sessions and memberships. The audit log keeps what the person has done.
 * @throws AppError not_found, invalid_state for the last operator, and for the last owner of a tenant
 */
export const deletePerson = defineWrite('people.delete', async (tx, id: PersonRow['id']) => {
  const { isOperator } = orNotFound(await findPerson(tx, id), 'Person');
  if (isOperator === 1) await requireOtherOperator(tx, id);
  for (const { tenantId } of await listMemberships(tx, id)) await requireOtherOwner(tx, tenantId, id);
  await deleteRows(tx, 'people', { id });
});

/** An installation without an operator could not be given one by its own people. */
async function requireOtherOperator(tx: Tx, personId: PersonRow['id']): Promise<void> {
  if ((await listOperators(tx)).some(({ id }) => id !== personId)) return;
  throw new AppError('invalid_state', 'An installation keeps its last operator; invite another one first');
}
