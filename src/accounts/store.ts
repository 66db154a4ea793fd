/** Stores the one row of an account. All SQL of it is here. */

import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Tx } from '../db/operation.ts';
import { type Param, statement } from '../db/statement.ts';
import type { AccountTables } from './rows.ts';
import { insertRow } from './rows.ts';
import type { AccountRow } from './tables.ts';

export type AccountTx = Tx<AccountTables>;

const selectAccount = statement((db: AccountTx) => db.selectFrom('account').selectAll());

/** Returns the row; undefined in a new database. */
export function findAccountRow(tx: AccountTx): Promise<AccountRow | undefined> {
  return selectAccount.first(tx, {});
}

/** Adds the row of a new account, or of one that was salvaged and begins with the numbers of the old one. */
export async function insertAccount(
  tx: AccountTx,
  { lastModseq, lastUidValidity }: Pick<AccountRow, 'lastModseq' | 'lastUidValidity'> = {
    lastModseq: 0,
    lastUidValidity: 0,
  },
): Promise<void> {
  await insertRow(tx, 'account', {
    id: 1,
    identity: newIdentity(),
    lastModseq,
    lastUidValidity,
    usedBytes: 0,
    messageCount: 0,
  });
}

function newIdentity(): string {
  return randomBytes(12).toString('base64url');
}

/** Gives an older copy of the database another identity, and a modseq that is not lower than one that clients have seen. */
export async function beginAnew(tx: AccountTx, lastModseq: number): Promise<void> {
  await tx
    .updateTable('account')
    .set({ identity: newIdentity(), lastModseq: sql`max(lastModseq, ${lastModseq})` })
    .execute();
}

type Usage = Pick<AccountRow, 'usedBytes' | 'messageCount'>;

const NO_USAGE: Usage = { usedBytes: 0, messageCount: 0 };

const takeModseq = statement((db: AccountTx, param: Param<Usage>) =>
  db
    .updateTable('account')
    .set({ lastModseq: sql`lastModseq + 1`, ...sumsOf(param) })
    .returning('lastModseq'),
);

function sumsOf(param: Param<Usage>) {
  return {
    usedBytes: sql<number>`usedBytes + ${param('usedBytes')}`,
    messageCount: sql<number>`messageCount + ${param('messageCount')}`,
  };
}

/**
 * Returns the number of a change. Everything that one write changes has the same (RFC 7162 section 3.1.1). `usage` is added to the size
 * and the number of messages.
 */
export async function nextModseq(tx: AccountTx, usage = NO_USAGE): Promise<number> {
  const row = await takeModseq.first(tx, usage);
  if (!row) throw new Error('the account has no row');
  return row.lastModseq;
}

const takeUidValidity = statement((db: AccountTx, param: Param<{ seconds: number }>) =>
  db
    .updateTable('account')
    .set({ lastUidValidity: sql`max(lastUidValidity + 1, ${param('seconds')})` })
    .returning('lastUidValidity'),
);

/** Returns a UIDVALIDITY that no folder of the account has had. It rises with the clock, so a new database has higher ones. */
export async function nextUidValidity(tx: AccountTx, now: number): Promise<number> {
  const row = await takeUidValidity.first(tx, { seconds: Math.floor(now / 1_000) });
  if (!row) throw new Error('the account has no row');
  return row.lastUidValidity;
}

const addUsage = statement((db: AccountTx, param: Param<Usage>) =>
  db.updateTable('account').set(sumsOf(param)),
);

/** Adds to the size and the number of messages; negative numbers subtract. */
export async function changeUsage(tx: AccountTx, usage: Usage): Promise<void> {
  await addUsage.all(tx, usage);
}
