/** The password of a mailbox, which its owner changes, and the browsers that are logged in with it. */
import { notFound } from '../../system/errors.ts';
import { Heading } from '../frame/elements.tsx';
import { Field, Form } from '../frame/forms.tsx';
import { SessionTable } from '../frame/sessions.tsx';
import { type Contexts, definePage, fieldOf } from '../page.ts';
import { renewMailboxSession, requireMailboxPassword } from '../people/mailbox-login.ts';
import { endSession, listSessions } from '../people/sessions-store.ts';

type MailboxContext = Contexts['mailbox'];

const PAGE = '/mailbox/security';

export const mailboxSecurityPage = definePage({
  area: 'mailbox',
  path: '/security',
  menu: { group: 'mailbox', label: ({ myMailbox }) => myMailbox.security },
  async show(context) {
    const { app, session, texts } = context;
    const { myMailbox } = texts;
    const sessions = await listSessions(app.db.read, session);
    return {
      title: myMailbox.security,
      body: (
        <>
          <Heading title={myMailbox.security} />
          <Password context={context} />
          <SessionTable context={context} sessions={sessions} />
        </>
      ),
    };
  },
  actions: {
    password: {
      async run(context, form) {
        const { app, api, mailbox, session, clientAddress, setSession } = context;
        const current = { address: mailbox.address, password: fieldOf(form, 'currentPassword') };
        await requireMailboxPassword(app, { ...current, clientAddress });
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

function Password({ context }: { context: MailboxContext }) {
  const { account, myMailbox } = context.texts;
  const field = { context, action: 'password', type: 'password' as const, isRequired: true };
  return (
    <section aria-labelledby="password">
      <h2 id="password">{account.password}</h2>
      <p>{myMailbox.passwordText}</p>
      <Form context={context} action="password" submit={account.changePassword}>
        <Field
          {...field}
          name="currentPassword"
          label={account.currentPassword}
          autocomplete="current-password"
        />
        <Field {...field} name="password" label={account.newPassword} autocomplete="new-password" />
      </Form>
    </section>
  );
}
