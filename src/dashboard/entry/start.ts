/** The root of the host: it leads to where the person who is logged in works, or to the page to log in. */
import type { PersonRow, SessionStage } from '../../db/people-tables.ts';
import { tenantPath } from '../frame/layout.tsx';
import { type Answer, type DashboardApp, definePage, type PublicContext } from '../page.ts';
import { listMemberships } from '../people/memberships-store.ts';
import { findPerson } from '../people/store.ts';
import { targetOf } from './channel.ts';

/** Path of the page on which an invited person gets one-time codes. */
export const AUTHENTICATOR = '/login/authenticator';

export const startPage = definePage({
  area: 'public',
  path: '/',
  async show({ app, sessionToken }) {
    return { to: await startOf(app, sessionToken) };
  },
});

/** Returns the first page of whoever has this session. */
export async function startOf(
  { db, people }: Pick<DashboardApp, 'db' | 'people'>,
  token: string | undefined,
): Promise<string> {
  const session = token === undefined ? undefined : await people.find(token);
  if (!session) return '/login';
  if (session.stage === 'second_factor') return '/login/code';
  if (session.stage === 'set_up') return AUTHENTICATOR;
  if (session.personId === null) return '/mailbox';
  const [first] = await listMemberships(db.read, session.personId);
  if (first) return tenantPath(first.tenantName, 'live');
  return (await findPerson(db.read, session.personId))?.isOperator === 1 ? '/operator' : '/account';
}

/** Returns the person who is logged in. */
export async function viewerOf({
  app,
  sessionToken,
}: Pick<PublicContext, 'app' | 'sessionToken'>): Promise<PersonRow | undefined> {
  const session = sessionToken === undefined ? undefined : await app.people.find(sessionToken);
  if (session?.stage !== 'complete' || session.personId === null) return undefined;
  return findPerson(app.db.read, session.personId);
}

type LoggedIn = { person: Pick<PersonRow, 'email'>; token: string; stage: SessionStage };

/** Lets a person in with the session of its login. A browser is known once the login is complete. */
export async function letIn(context: PublicContext, { person, token, stage }: LoggedIn): Promise<Answer> {
  const { app, setSession, keepDevice } = context;
  setSession(token);
  if (stage === 'complete') keepDevice({ kind: 'person', account: person.email });
  return { to: await placeAfter(app, { token, stage, to: targetOf(context) }) };
}

type After = { token: string; stage: SessionStage; to: string | undefined };

/** Returns the page after a login: the one that was wanted, or the first one, once the second factor has come. */
export async function placeAfter(
  app: Pick<DashboardApp, 'db' | 'people'>,
  { token, stage, to }: After,
): Promise<string> {
  if (stage === 'complete') return to ?? startOf(app, token);
  return to === undefined ? '/login/code' : `/login/code?to=${encodeURIComponent(to)}`;
}
