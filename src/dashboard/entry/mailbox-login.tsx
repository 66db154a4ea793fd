/** The page on which the owner of a mailbox logs in, with the password of the mailbox. */
import { Field, Form } from '../frame/forms.tsx';
import { definePage, fieldOf } from '../page.ts';
import { logInToMailbox } from '../people/mailbox-login.ts';
import { requireChannel, targetOf } from './login.tsx';

export const mailboxLoginPage = definePage({
  area: 'public',
  path: '/mailbox/login',
  async show(context) {
    const { login } = context.texts;
    const field = { context, action: 'login', isRequired: true };
    return {
      title: login.mailboxTitle,
      body: (
        <>
          <h1>{login.mailboxTitle}</h1>
          <Form context={context} action="login" submit={login.submit}>
            <Field {...field} name="address" type="email" label={login.email} autocomplete="username" />
            <Field
              {...field}
              name="password"
              type="password"
              label={login.password}
              help={login.mailboxPassword}
              autocomplete="current-password"
            />
          </Form>
          <p>
            <a href="/login">{login.person}</a>
          </p>
        </>
      ),
    };
  },
  actions: {
    login: {
      async run(context, form) {
        const { app, clientAddress, userAgent, setSession } = context;
        requireChannel(context);
        const address = fieldOf(form, 'address').trim();
        const password = fieldOf(form, 'password');
        setSession(await logInToMailbox(app, { address, password, clientAddress, userAgent }));
        const to = targetOf(context);
        return { to: to?.startsWith('/mailbox') ? to : '/mailbox' };
      },
    },
  },
});
