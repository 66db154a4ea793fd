/** The page that asks for the second factor after the password: a one-time code, a recovery code, or a passkey of the person. */
import { Field, Form } from '../frame/forms.tsx';
import { CREDENTIAL_FIELD, PasskeyForm, passkeyOrigin } from '../frame/passkeys.tsx';
import { definePage, fieldOf, type PublicContext } from '../page.ts';
import { listPasskeys } from '../people/passkeys-store.ts';
import { findPerson } from '../people/store.ts';
import { letIn } from './start.ts';

export const codePage = definePage({
  area: 'public',
  path: '/login/code',
  async show(context) {
    const { login } = context.texts;
    return {
      title: login.codeTitle,
      hasPasskeys: true,
      body: (
        <>
          <h1>{login.codeTitle}</h1>
          <Form context={context} action="code" submit={login.codeSubmit}>
            <Field
              context={context}
              action="code"
              name="code"
              label={login.code}
              isRequired
              autocomplete="one-time-code"
            />
          </Form>
          {await passkey(context)}
        </>
      ),
    };
  },
  actions: {
    code: {
      async run(context, form, actsAs) {
        const { app } = context;
        const session = await sessionOf(context);
        const person = session?.personId ? await findPerson(app.db.read, session.personId) : undefined;
        if (!session || !person) return { to: '/login' };
        // Whoever enters codes knows the password, so the person and its owners learn of wrong ones.
        await actsAs({ person });
        const token = await app.people.enterCode(session, fieldOf(form, 'code'), context);
        return letIn(context, { person, token, stage: 'complete' });
      },
    },
    passkey: {
      async run(context, form, actsAs) {
        const { app, origin = '' } = context;
        const session = await sessionOf(context);
        if (!session?.personId) return { to: '/login' };
        const ceremony = { origin, owner: session.id };
        const person = await app.passkeys.verify(fieldOf(form, CREDENTIAL_FIELD), ceremony, session.personId);
        await actsAs({ person });
        const token = await app.people.enterPasskey(person, context, session);
        return letIn(context, { person, token, stage: 'complete' });
      },
    },
  },
});

/** Returns the session of whoever has entered the password. */
async function sessionOf({ app, sessionToken }: PublicContext) {
  return sessionToken === undefined ? undefined : app.people.find(sessionToken);
}

/** The passkeys of the person, when it has some. */
async function passkey(context: PublicContext) {
  const { app, texts } = context;
  const session = await sessionOf(context);
  const origin = passkeyOrigin(context);
  if (!session?.personId || session.stage !== 'second_factor' || origin === undefined) return null;
  const allowed = await listPasskeys(app.db.read, session.personId);
  if (allowed.length === 0) return null;
  const options = app.passkeys.request({ origin, owner: session.id }, allowed);
  return (
    <PasskeyForm context={context} action="passkey" submit={texts.passkeys.use} options={options}>
      <p>{texts.passkeys.instead}</p>
    </PasskeyForm>
  );
}
