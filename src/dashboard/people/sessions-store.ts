/** Stores the sessions of the dashboard. All SQL of this table is here. A session is found by the hash of the token in its cookie. */

import { type ExpiryRange, type ExpirySlice, findSlice } from '../../db/expiry.ts';
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import type { PersonRow, SessionRow } from '../../db/people-tables.ts';
import { deleteRows, findRow, insertRow, updateRows } from '../../db/rows.ts';
import { AppError } from '../../system/errors.ts';

/** Maximum number of sessions of a person. The oldest one ends when another begins. */
const MAX_SESSIONS = 50;

/** Fields of a person that decide how it logs in. */
export type Factors = Pick<PersonRow, 'passwordHash' | 'totpSealed'>;

type Opening = {
  session: SessionRow;
  /** Hash of the token of the session that the same browser has had, which ends. */
  replaces: string | undefined;
  /** The factors of the person when they were checked. */
  checked: Factors | undefined;
};

/**
 * Stores a new session, which may replace another one of the same browser. A check of a password takes time, in which the person may have
 * ended all sessions by a new password, or switched one-time codes on: what was checked before does not open a session after that.
 *
 * @throws AppError invalid_state when the factors have changed since they were checked
 */
export const openSession = defineWrite(
  'people.openSession',
  async (tx, { session, replaces, checked }: Opening) => {
    if (session.personId !== null && checked) await requireUnchanged(tx, session.personId, checked);
    if (replaces !== undefined) await deleteRows(tx, 'dashboardSessions', { tokenHash: replaces });
    await insertRow(tx, 'dashboardSessions', session);
    const others = await listSessions(tx, session);
    for (const { id } of others.slice(MAX_SESSIONS)) await deleteRows(tx, 'dashboardSessions', { id });
  },
);

async function requireUnchanged(tx: Tx, id: PersonRow['id'], checked: Factors): Promise<void> {
  const person = await findRow(tx, 'people', { id });
  if (person?.passwordHash === checked.passwordHash && person.totpSealed === checked.totpSealed) return;
  throw new AppError(
    'invalid_state',
    'The password or the second factor has changed meanwhile; log in again',
  );
}

/** Returns the refusal of what needs a login that has ended, or that waits for something else. */
export function loginHasEnded(): AppError {
  return new AppError('invalid_state', 'The login has ended; begin again');
}

type Own = { id: string; personId: PersonRow['id'] };

/**
 * Checks that a session lasts which changes how its person logs in, as part of that change. The check of its password takes time, in which the
 * person may have ended all sessions because somebody else has one: that one must not leave itself another way in.
 *
 * @throws AppError invalid_state
 */
export async function requireSession(tx: Tx, { id, personId }: Own): Promise<void> {
  const session = await findRow(tx, 'dashboardSessions', { id: id as SessionRow['id'], personId });
  if (!session) throw loginHasEnded();
}

/** Returns the session with this token hash, also an expired one. */
export function findSession(tx: Tx, tokenHash: string): Promise<SessionRow | undefined> {
  return findRow(tx, 'dashboardSessions', { tokenHash });
}

type Owner = { personId: PersonRow['id'] | null; mailboxId: MailboxRow['id'] | null };

/** Returns the sessions of a person or of a mailbox, the newest first. */
export function listSessions(tx: Tx, { personId, mailboxId }: Owner): Promise<SessionRow[]> {
  const all = tx.selectFrom('dashboardSessions').selectAll().orderBy('id', 'desc');
  return personId === null
    ? all.where('mailboxId', '=', mailboxId).execute()
    : all.where('personId', '=', personId).execute();
}

/** Records when a session was last used. */
export const recordSessionUse = defineWrite(
  'people.recordSessionUse',
  async (tx, { id, now }: { id: SessionRow['id']; now: number }) => {
    await updateRows(tx, 'dashboardSessions', { set: { lastUsedAt: now }, where: { id } });
  },
);

/** Ends one session of an owner. It returns false when the owner has no such session. */
export const endSession = defineWrite(
  'people.endSession',
  async (tx, { id, owner }: { id: string; owner: Owner }): Promise<boolean> => {
    const session = (await listSessions(tx, owner)).find((one) => one.id === id);
    if (session) await deleteRows(tx, 'dashboardSessions', { id: session.id });
    return session !== undefined;
  },
);

/**
 * Ends the sessions of a person but the one that does it, as part of a write.
 * @throws AppError invalid_state when that one has ended
 */
export async function endOtherSessions(tx: Tx, own: Own): Promise<void> {
  await requireSession(tx, own);
  await endSessionsOf(tx, { personId: own.personId, except: own.id });
}

/** Ends the sessions of a person but one, as part of a write. */
export async function endSessionsOf(
  tx: Tx,
  { personId, except }: { personId: PersonRow['id']; except?: string },
): Promise<void> {
  for (const { id } of await listSessions(tx, { personId, mailboxId: null }))
    if (id !== except) await deleteRows(tx, 'dashboardSessions', { id });
}

/** Deletes a slice of old sessions. */
export const expireSessions = defineWrite(
  'people.expireSessions',
  async (tx, range: ExpiryRange): Promise<ExpirySlice> => {
    const { isInSlice, next } = await findSlice(tx, 'dashboardSessions', range);
    const { numDeletedRows } = await tx.deleteFrom('dashboardSessions').where(isInSlice).executeTakeFirst();
    return { next, deleted: Number(numDeletedRows) };
  },
  { priority: 'bulk' },
);
