/** The rights of the person of a stream, which are compared with those at its beginning as long as it lasts. */
import type { DashboardApp } from '../page.ts';
import { listMemberships } from '../people/memberships-store.ts';
import { findPerson } from '../people/store.ts';
import { LoginNeeded } from '../viewer.ts';

type RightsApp = Pick<DashboardApp, 'people' | 'db'>;

/**
 * Returns a function that says whether the session of a token lasts, with the rights that its person has now.
 * @throws LoginNeeded for a session that is over
 */
export async function watchRights(
  app: RightsApp,
  token: string | undefined,
): Promise<() => Promise<boolean>> {
  const rights = await rightsOf(app, token ?? '');
  // Two sessions that are over have the same rights, and such a stream would never end.
  if (rights === undefined) throw new LoginNeeded('account');
  return async () => (await rightsOf(app, token ?? '')) === rights;
}

/** Returns what the rights of a person depend on, as a text that is compared; undefined when the session is over. */
async function rightsOf({ people, db }: RightsApp, token: string): Promise<string | undefined> {
  const session = await people.peek(token);
  const person = session?.personId && (await findPerson(db.read, session.personId));
  if (!person) return undefined;
  const memberships = await listMemberships(db.read, person.id);
  return JSON.stringify([session.id, person.isOperator, memberships]);
}
