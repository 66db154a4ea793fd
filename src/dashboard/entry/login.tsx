/** The page on which a person logs in: with its password, which a second factor may follow (code.tsx), or with a passkey alone. */
import { CREDENTIAL_FIELD, PasskeyForm, passkeyOrigin } from '../frame/passkeys.tsx';
import { definePage, fieldOf, type PublicContext } from '../page.ts';
import { hasOperator } from '../people/store.ts';
import { requireChannel, targetOf } from './channel.ts';
import { LoginForm } from './login-form.tsx';
import { MAILBOX_FORGOTTEN } from './mailbox-forgotten.tsx';
import { OpenIdLink } from './openid-link.tsx';
import { letIn } from './start.ts';

/** Everybody who logs in may answer the challenges of this page. */
const OWNER = 'login';

export const loginPage = definePage({
  area: 'public',
  path: '/login',
  async show(context) {
    const { login, recovery } = context.texts;
    return {
      title: login.title,
      hasPasskeys: true,
      body: (
        <>
          <h1>{login.title}</h1>
          {!(await hasOperator(context.app.db.read)) && <p>{login.setUpFirst}</p>}
          <LoginForm context={context} account="email" />
          <Passkey context={context} />
          <OpenIdLink context={context} to={targetOf(context)} />
          <p>
            <small>{login.lost}</small>
          </p>
          <p>
            <a href="/mailbox/login">{login.mailbox}</a>
          </p>
          <p>
            <a href={MAILBOX_FORGOTTEN}>{recovery.forgot}</a>
          </p>
        </>
      ),
    };
  },
  actions: {
    login: {
      async run(context, form, actsAs) {
        const { app } = context;
        requireChannel(context);
        const credentials = { email: fieldOf(form, 'email'), password: fieldOf(form, 'password') };
        const person = await app.people.checkPassword(credentials, context);
        await actsAs({ person });
        return letIn(context, { person, ...(await app.people.beginLogin(person, context)) });
      },
    },
    passkey: {
      async run(context, form, actsAs) {
        const { app, origin } = context;
        requireChannel(context);
        const ceremony = { origin: origin ?? '', owner: OWNER };
        const credential = fieldOf(form, CREDENTIAL_FIELD);
        const person = await app.passkeys.verify(credential, ceremony);
        await actsAs({ person });
        const token = await app.people.enterPasskey(person, context);
        return letIn(context, { person, token, stage: 'complete' });
      },
    },
  },
});

function Passkey({ context }: { context: PublicContext }) {
  const origin = passkeyOrigin(context);
  if (origin === undefined) return null;
  const options = context.app.passkeys.request({ origin, owner: OWNER });
  return (
    <PasskeyForm context={context} action="passkey" submit={context.texts.passkeys.use} options={options} />
  );
}
