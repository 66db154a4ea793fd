/** Stores which account at an issuer of OpenID Connect belongs to which person. All SQL of this table is here. */
import { defineWrite, type Tx } from '../../db/operation.ts';
import type { IssuerSubjectRow, PersonRow } from '../../db/people-tables.ts';
import { findRow, insertRow } from '../../db/rows.ts';
import { AppError } from '../../system/errors.ts';
import { findPersonByEmail } from './store.ts';

/** An account at an issuer, with the address that the issuer has verified, in lower case. */
export type IssuerAccount = Pick<IssuerSubjectRow, 'issuer' | 'subject'> & { email: string };

/**
 * Returns the person of an account: the one who has used it before, or the one with its address, to whom the account then belongs. Undefined
 * when there is neither.
 *
 * @throws AppError restricted_api_key when the person with the address has used another account of the issuer, which may have given the
 * address to somebody else
 */
export const findPersonOfAccount = defineWrite(
  'people.findPersonOfAccount',
  async (tx, account: IssuerAccount): Promise<PersonRow['id'] | undefined> => {
    const { issuer, subject, email } = account;
    const known = await findRow(tx, 'issuerSubjects', { issuer, subject });
    if (known) return known.personId;
    const person = await findPersonByEmail(tx, email);
    if (person) await insertAccount(tx, person.id, account);
    return person?.id;
  },
);

/**
 * Gives an account to a person, as part of a write.
 * @throws AppError restricted_api_key
 */
export async function insertAccount(
  tx: Tx,
  personId: PersonRow['id'],
  { issuer, subject }: IssuerAccount,
): Promise<void> {
  const isTaken =
    (await findRow(tx, 'issuerSubjects', { personId, issuer })) ||
    (await findRow(tx, 'issuerSubjects', { issuer, subject }));
  if (isTaken)
    throw new AppError('restricted_api_key', 'This address belongs to another account of the provider');
  await insertRow(tx, 'issuerSubjects', { personId, issuer, subject });
}
