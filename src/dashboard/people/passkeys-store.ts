/** Stores the passkeys of people. All SQL of this table is here. */
import { defineWrite, type Tx } from '../../db/operation.ts';
import type { PasskeyRow, PersonRow, SessionRow } from '../../db/people-tables.ts';
import { deleteRows, findRow, insertRow, updateRows } from '../../db/rows.ts';
import { AppError, limitReached, notFound } from '../../system/errors.ts';
import { endOtherSessions, requireSession } from './sessions-store.ts';

/** Maximum number of passkeys of a person. Our own limit. */
const MAX_PASSKEYS = 20;
/** Stands for the hash of the password of a person who has none. */
export const NO_PASSWORD = '';

/**
 * Stores a new passkey, as part of a write.
 * @throws AppError already_exists, validation_error at the maximum
 */
export async function insertPasskey(tx: Tx, passkey: PasskeyRow): Promise<void> {
  if (await findPasskey(tx, passkey.credentialId))
    throw new AppError('already_exists', 'This passkey is in use already');
  const { length } = await listPasskeys(tx, passkey.personId);
  if (length >= MAX_PASSKEYS) throw limitReached('passkeys', length);
  await insertRow(tx, 'passkeys', passkey);
}

/**
 * Adds a passkey to a person who exists.
 * @param session the id of the session that adds it
 * @throws AppError invalid_state when the session has ended; the errors of `insertPasskey`
 */
export const addPasskey = defineWrite(
  'people.addPasskey',
  async (tx, { session, ...passkey }: PasskeyRow & { session: SessionRow['id'] }) => {
    await requireSession(tx, { id: session, personId: passkey.personId });
    await insertPasskey(tx, passkey);
  },
);

/** Returns the passkeys of a person, in the order in which they came. */
export function listPasskeys(tx: Tx, personId: PersonRow['id']): Promise<PasskeyRow[]> {
  return tx.selectFrom('passkeys').selectAll().where('personId', '=', personId).orderBy('id').execute();
}

/** Returns the passkey with this id of the authenticator. */
export function findPasskey(tx: Tx, credentialId: string): Promise<PasskeyRow | undefined> {
  return findRow(tx, 'passkeys', { credentialId });
}

/**
 * Records the use of a passkey, and returns its person. Returns undefined when its counter has not grown, as a copy of the authenticator would
 * have it, or when the passkey was removed meanwhile. An authenticator that does not count says 0 each time.
 */
export const usePasskey = defineWrite(
  'people.usePasskey',
  async (
    tx,
    { id, counter, now }: Pick<PasskeyRow, 'id' | 'counter'> & { now: number },
  ): Promise<PersonRow | undefined> => {
    const passkey = await findRow(tx, 'passkeys', { id });
    if (!passkey || (passkey.counter >= counter && passkey.counter > 0)) return undefined;
    await updateRows(tx, 'passkeys', { set: { counter, lastUsedAt: now }, where: { id } });
    return findRow(tx, 'people', { id: passkey.personId });
  },
);

type Owned = { id: string; personId: PersonRow['id'] };

/**
 * Gives a passkey of a person another name.
 * @throws AppError not_found
 */
export const renamePasskey = defineWrite(
  'people.renamePasskey',
  async (tx, { name, ...owned }: Owned & { name: string }) => {
    const { id } = await requirePasskey(tx, owned);
    await updateRows(tx, 'passkeys', { set: { name }, where: { id } });
  },
);

/**
 * Removes a passkey of a person, and ends the sessions but one, because one of them may have begun with it.
 * @throws AppError not_found, invalid_state for the last way to log in, and when that session has ended
 */
export const removePasskey = defineWrite(
  'people.removePasskey',
  async (tx, { endsOthersThan, ...owned }: Owned & { endsOthersThan: string }) => {
    const { id, personId } = await requirePasskey(tx, owned);
    const person = await findRow(tx, 'people', { id: personId });
    const { length } = await listPasskeys(tx, personId);
    if (length === 1 && person?.passwordHash === NO_PASSWORD)
      throw new AppError('invalid_state', 'This is the only way to log in; set a password first');
    await deleteRows(tx, 'passkeys', { id });
    await endOtherSessions(tx, { id: endsOthersThan, personId });
  },
);

/** Removes all passkeys of a person, as part of a write. */
export async function removePasskeysOf(tx: Tx, personId: PersonRow['id']): Promise<void> {
  await deleteRows(tx, 'passkeys', { personId });
}

async function requirePasskey(tx: Tx, { id, personId }: Owned): Promise<PasskeyRow> {
  const passkey = await findRow(tx, 'passkeys', { id: id as PasskeyRow['id'], personId });
  if (!passkey) throw notFound('Passkey');
  return passkey;
}
