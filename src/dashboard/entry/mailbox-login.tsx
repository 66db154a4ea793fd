/** The page on which the owner of a mailbox logs in, with the password of the mailbox. */
import { readAccount } from '../../mailboxes/address.ts';
import { definePage, fieldOf } from '../page.ts';
import { beginMailboxSession, checkMailboxPassword } from '../people/mailbox-login.ts';
import { requireChannel, targetOf } from './channel.ts';
import { LoginForm } from './login-form.tsx';
import { MAILBOX_FORGOTTEN } from './mailbox-forgotten.tsx';

export const mailboxLoginPage = definePage({
  area: 'public',
  path: '/mailbox/login',
  async show(context) {
    const { login, recovery } = context.texts;
    return {
      title: login.mailboxTitle,
      body: (
        <>
          <h1>{login.mailboxTitle}</h1>
          <LoginForm context={context} account="address" help={login.mailboxPassword} />
          <p>
            <a href={MAILBOX_FORGOTTEN}>{recovery.forgot}</a>
          </p>
          <p>
            <a href="/login">{login.person}</a>
          </p>
        </>
      ),
    };
  },
  actions: {
    login: {
      async run(context, form, actsAs) {
        const { app, clientAddress, knownDevice, setSession, keepDevice } = context;
        requireChannel(context);
        const address = fieldOf(form, 'address').trim();
        const password = fieldOf(form, 'password');
        const mailbox = await checkMailboxPassword(app, { clientAddress, knownDevice, address, password });
        await actsAs({ mailbox });
        setSession(await beginMailboxSession(app, mailbox, context));
        keepDevice({ kind: 'mailbox', account: readAccount(address).account });
        const to = targetOf(context);
        return { to: to?.startsWith('/mailbox') ? to : '/mailbox' };
      },
    },
  },
});
