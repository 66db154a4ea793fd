/** Stores which account at an issuer of OpenID Connect belongs to which person. All SQL of this table is here. */
import { defineWrite, type Tx } from '../../db/operation.ts';
import type { IssuerSubjectRow, PersonRow } from '../../db/people-tables.ts';
import { findRow, insertRow } from '../../db/rows.ts';
import { AppError } from '../../system/errors.ts';
import { findPerson, findPersonByEmail } from './store.ts';

/** An account at an issuer, with the address that the issuer has verified, in lower case. */
export type IssuerAccount = Pick<IssuerSubjectRow, 'issuer' | 'subject'> & { email: string };

/** Returns the person of an account: the one who has used it before, or the one with its address. */
export async function findPersonOfAccount(
  tx: Tx,
  { issuer, subject, email }: IssuerAccount,
): Promise<PersonRow | undefined> {
  const known = await findRow(tx, 'issuerSubjects', { issuer, subject });
  return known ? findPerson(tx, known.personId) : findPersonByEmail(tx, email);
}

/**
 * Lets the person of an account in, to whom it then belongs, and returns the id of the person. Undefined when there is none.
 *
 * @throws AppError restricted_api_key when the person with the address has used another account of the issuer, which may have given the
 * address to somebody else
 */
export const bindAccount = defineWrite(
  'people.bindAccount',
  async (tx, account: IssuerAccount): Promise<PersonRow['id'] | undefined> => {
    const { issuer, subject } = account;
    const person = await findPersonOfAccount(tx, account);
    const isBound = (await findRow(tx, 'issuerSubjects', { issuer, subject })) !== undefined;
    if (person && !isBound) await insertAccount(tx, person.id, account);
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
