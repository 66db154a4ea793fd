/** Stores the recovery codes of people. All SQL of this table is here. */
import { defineWrite, type Tx } from '../../db/operation.ts';
import type { PersonRow, RecoveryCodeRow } from '../../db/people-tables.ts';
import { deleteRows, insertRow } from '../../db/rows.ts';

/** Replaces all codes of a person, as part of a write. Without hashes the person has none any more. */
export async function setRecoveryCodes(
  tx: Tx,
  personId: PersonRow['id'],
  codeHashes: readonly string[],
): Promise<void> {
  await deleteRows(tx, 'recoveryCodes', { personId });
  for (const codeHash of codeHashes) await insertRow(tx, 'recoveryCodes', { personId, codeHash });
}

/** Takes a code out of use. Returns false when the person does not have it, or has used it before. */
export const useRecoveryCode = defineWrite(
  'people.useRecoveryCode',
  async (tx, { personId, codeHash }: RecoveryCodeRow): Promise<boolean> => {
    const used = await tx
      .deleteFrom('recoveryCodes')
      .where('personId', '=', personId)
      .where('codeHash', '=', codeHash)
      .returning('codeHash')
      .executeTakeFirst();
    return used !== undefined;
  },
);

/** Returns the number of codes that a person can still use. */
export async function countRecoveryCodes(tx: Tx, personId: PersonRow['id']): Promise<number> {
  const codes = await tx
    .selectFrom('recoveryCodes')
    .select('codeHash')
    .where('personId', '=', personId)
    .execute();
  return codes.length;
}
