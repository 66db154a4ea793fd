/** The password of a mailbox, which its owner changes, and the browsers and mail programs that are logged in. */
import { notFound } from '../../system/errors.ts';
import { Heading } from '../frame/elements.tsx';
import { CurrentPassword, PasswordChange } from '../frame/passwords.tsx';
import { SessionTable } from '../frame/sessions.tsx';
import { type Contexts, definePage, fieldOf } from '../page.ts';
import { renewMailboxSession, requireOwnPassword } from '../people/mailbox-login.ts';
import { endSession, listSessions } from '../people/sessions-store.ts';
import { mailSessionActions, mailSessionSection } from '../receiving/mail-sessions.tsx';

const PAGE = '/mailbox/security';
const PLACE = { base: '', page: PAGE, appPasswords: '/mailbox/app-passwords' };

export const mailboxSecurityPage = definePage({
  area: 'mailbox',
  path: '/security',
  menu: { group: 'mailbox', label: ({ myMailbox }) => myMailbox.security },
  async show(context) {
    const { app, mailbox, session, texts } = context;
    const { myMailbox } = texts;
    const sessions = await listSessions(app.db.read, session);
    return {
      title: myMailbox.security,
      body: (
        <>
          <Heading title={myMailbox.security} />
          <PasswordChange context={context} name="password" owner={mailbox.address}>
            <p>{myMailbox.passwordText}</p>
            <CurrentPassword context={context} name="currentPassword" />
          </PasswordChange>
          <SessionTable context={context} sessions={sessions} />
          {await mailSessionSection(context, PLACE)}
        </>
      ),
    };
  },
  actions: {
    ...mailSessionActions<Contexts['mailbox']>(() => PLACE),
    password: {
      async run(context, form) {
        const { app, api, session, texts, setSession } = context;
        const password = fieldOf(form, 'currentPassword');
        await requireOwnPassword(app, context, { password, wrong: texts.account.wrongPassword });
        await api.patch('', { password: fieldOf(form, 'password') });
        setSession(await renewMailboxSession(app, session, context));
        return { to: PAGE, said: 'passwordChanged' };
      },
    },
    end: {
      logs: ['id'],
      async run({ app, session }, form) {
        if (!(await app.db.commit(endSession, { id: fieldOf(form, 'id'), owner: session })))
          throw notFound('Session');
        return { to: PAGE, said: 'ended' };
      },
    },
  },
});
