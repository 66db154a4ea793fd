/** Keeps a person logged in whose own rights it has just changed itself: that has ended all its sessions. */
import type { PersonContext } from './page.ts';

/** Begins the session of this browser anew when the person is the one that is logged in. */
export async function renewOwnSession(context: PersonContext, personId: string): Promise<void> {
  const { app, person, setSession } = context;
  if (personId === person.id) setSession(await app.people.renew(person, context));
}
