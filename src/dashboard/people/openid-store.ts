/** Stores which account at an issuer of OpenID Connect belongs to which person. All SQL of this table is here. */
import { defineWrite, type Tx } from '../../db/operation.ts';
import type { IssuerSubjectRow, PersonRow } from '../../db/people-tables.ts';
import { deleteRows, findRow, insertRow } from '../../db/rows.ts';
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

type Binding = {
  account: IssuerAccount;
  /** The person who is logged in already in the browser that brings the account. */
  viewer: PersonRow['id'] | undefined;
};

/**
 * Lets the person of an account in, to whom it then belongs, and returns the id of the person. Undefined when there is none. `unproven` is a
 * person who has the address, has never used the account, and is not logged in. Whoever was given the link of an invitation has chosen the
 * password, and nobody has checked that the address is theirs: its owner must not share the person with somebody unawares.
 *
 * @throws AppError restricted_api_key when the person with the address has used another account of the issuer, which may have given the
 * address to somebody else
 */
export const bindAccount = defineWrite(
  'people.bindAccount',
  async (tx, { account, viewer }: Binding): Promise<PersonRow['id'] | 'unproven' | undefined> => {
    const { issuer, subject } = account;
    const person = await findPersonOfAccount(tx, account);
    const isBound = (await findRow(tx, 'issuerSubjects', { issuer, subject })) !== undefined;
    if (!person || isBound) return person?.id;
    await requireUnused(tx, person.id, account);
    if (person.id !== viewer) return 'unproven';
    await insertAccount(tx, person.id, account);
    return person.id;
  },
);

/**
 * Gives an account to a person, as part of a write.
 * @throws AppError restricted_api_key
 */
export async function insertAccount(
  tx: Tx,
  personId: PersonRow['id'],
  account: IssuerAccount,
): Promise<void> {
  await requireUnused(tx, personId, account);
  const { issuer, subject } = account;
  await insertRow(tx, 'issuerSubjects', { personId, issuer, subject });
}

/** Returns true for a person who has used an account at the issuer. */
export async function hasAccountAt(tx: Tx, personId: PersonRow['id'], issuer: string): Promise<boolean> {
  return (await findRow(tx, 'issuerSubjects', { personId, issuer })) !== undefined;
}

/** Takes all accounts at issuers from a person, as part of a write. */
export async function removeAccountsOf(tx: Tx, personId: PersonRow['id']): Promise<void> {
  await deleteRows(tx, 'issuerSubjects', { personId });
}

/** Checks that the account belongs to nobody, and that the person has no other one at the issuer. */
async function requireUnused(
  tx: Tx,
  personId: PersonRow['id'],
  { issuer, subject }: IssuerAccount,
): Promise<void> {
  const isTaken =
    (await findRow(tx, 'issuerSubjects', { personId, issuer })) ||
    (await findRow(tx, 'issuerSubjects', { issuer, subject }));
  if (isTaken)
    throw new AppError('restricted_api_key', 'This address belongs to another account of the provider');
}
