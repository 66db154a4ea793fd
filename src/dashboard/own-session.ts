/** Keeps a person logged in whose own rights it has just changed itself: that has ended all its sessions. */
import type { PersonContext } from './page.ts';
import { findPerson } from './people/store.ts';

/**
 * Begins the session of this browser anew when the person is the one that is logged in. Returns false when that person has lost all that it
 * belonged to, and was deleted.
 */
export async function renewOwnSession(context: PersonContext, personId: string): Promise<boolean> {
  const { app, person, setSession } = context;
  if (personId !== person.id) return true;
  const isThere = (await findPerson(app.db.read, personId)) !== undefined;
  setSession(isThere ? await app.people.renew(person, context) : undefined);
  return isThere;
}
