/** Logs out. Its form stands on every page. */
import { findMailboxById } from '../../mailboxes/store.ts';
import { definePage } from '../page.ts';
import { endSession } from '../people/sessions-store.ts';
import { findPerson } from '../people/store.ts';

export const logoutPage = definePage({
  area: 'public',
  path: '/logout',
  async show() {
    return { to: '/' };
  },
  actions: {
    logout: {
      async run({ app, sessionToken, setSession }, _form, actsAs) {
        const session = sessionToken === undefined ? undefined : await app.people.find(sessionToken);
        const { personId = null, mailboxId = null } = session ?? {};
        const person = personId === null ? undefined : await findPerson(app.db.read, personId);
        const mailbox = mailboxId === null ? undefined : await findMailboxById(app.db.read, mailboxId);
        await actsAs({ ...(person && { person }), ...(mailbox && { mailbox }) });
        if (session) await app.db.commit(endSession, { id: session.id, owner: session });
        setSession(undefined);
        return { to: mailboxId === null ? '/login' : '/mailbox/login', said: 'loggedOut' };
      },
    },
  },
});
