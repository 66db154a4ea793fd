/** Logs out. Its form stands on every page. */
import { definePage } from '../page.ts';
import { endSession } from '../people/sessions-store.ts';

export const logoutPage = definePage({
  area: 'public',
  path: '/logout',
  async show() {
    return { to: '/' };
  },
  actions: {
    logout: {
      async run({ app, sessionToken, setSession }) {
        const session = sessionToken === undefined ? undefined : await app.people.find(sessionToken);
        if (session) await app.db.commit(endSession, { id: session.id, owner: session });
        setSession(undefined);
        return { to: session?.mailboxId ? '/mailbox/login' : '/login', said: 'loggedOut' };
      },
    },
  },
});
