/**
 * The last step of an invitation that somebody has accepted with a password: one-time codes, which need no script. The session begins afterwards.
 * Whoever has no authenticator app at hand goes on without, and switches the codes on later.
 */
import { AppError } from '../../system/errors.ts';
import { authenticatorFields, isTotpSecret, recoveryCodesView } from '../frame/authenticator.tsx';
import { ActionButton, Form } from '../frame/forms.tsx';
import { definePage, fieldOf, type PublicContext } from '../page.ts';
import { hashRecoveryCode, newRecoveryCodes } from '../people/recovery.ts';
import { loginHasEnded } from '../people/sessions-store.ts';
import { changePerson, findPerson } from '../people/store.ts';
import { AUTHENTICATOR, letIn, startOf } from './start.ts';

export const authenticatorPage = definePage({
  area: 'public',
  path: AUTHENTICATOR,
  async show(context) {
    const entering = await findEntering(context);
    if (!entering) return { to: await startOf(context.app, context.sessionToken) };
    const { login } = context.texts;
    const { email } = entering.person;
    return {
      title: login.authenticatorTitle,
      body: (
        <>
          <h1>{login.authenticatorTitle}</h1>
          <p>{login.authenticatorText}</p>
          <Form context={context} action="on" submit={login.authenticatorSubmit}>
            {await authenticatorFields(context, { action: 'on', email })}
          </Form>
          <p>{login.authenticatorLaterText}</p>
          <ActionButton context={context} action="later" submit={login.authenticatorLater} />
        </>
      ),
    };
  },
  actions: {
    on: {
      async run(context, form, actsAs) {
        const { app, texts } = context;
        const { person, session } = await requireEntering(context);
        const secret = fieldOf(form, 'totpSecret');
        await actsAs({ person });
        if (!isTotpSecret(secret) || !(await app.people.acceptCode(person, secret, fieldOf(form, 'code'))))
          throw new AppError('validation_error', 'The code is wrong', { param: 'code' });
        const totpSealed = app.people.sealTotpSecret(person.id, secret);
        const codes = newRecoveryCodes();
        const recoveryCodes = codes.flatMap((code) => hashRecoveryCode(code) ?? []);
        const change = { id: person.id, set: { totpSealed }, recoveryCodes };
        await app.db.commit(changePerson, { ...change, endsOthersThan: session.id });
        const token = await app.people.renew({ ...person, totpSealed }, context);
        await letIn(context, { person, token, stage: 'complete' });
        return recoveryCodesView(context, { codes, title: texts.said.totpOn, to: await startOf(app, token) });
      },
    },
    later: {
      async run(context, _form, actsAs) {
        const { person } = await requireEntering(context);
        await actsAs({ person });
        const token = await context.app.people.renew(person, context);
        return letIn(context, { person, token, stage: 'complete' });
      },
    },
  },
});

/** Returns the person who has just chosen a password behind a link; undefined for everybody else. */
async function findEntering({ app, sessionToken }: PublicContext) {
  const session = sessionToken === undefined ? undefined : await app.people.find(sessionToken);
  if (session?.stage !== 'set_up' || session.personId === null) return undefined;
  const person = await findPerson(app.db.read, session.personId);
  return person && { person, session };
}

/** @throws AppError invalid_state */
async function requireEntering(context: PublicContext) {
  const entering = await findEntering(context);
  if (!entering) throw loginHasEnded();
  return entering;
}
