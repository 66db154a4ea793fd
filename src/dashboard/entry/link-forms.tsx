/** The forms behind a link that lets somebody in once. */
import type { LoginLinkRow, PersonRow } from '../../db/people-tables.ts';
import { ACTION_FIELD } from '../field-names.ts';
import { ActionButton, Field, Form } from '../frame/forms.tsx';
import { PasskeyForm, passkeyOrigin } from '../frame/passkeys.tsx';
import type { PublicContext } from '../page.ts';
import { OpenIdLink } from './openid-link.tsx';

type Props = { context: PublicContext };

/**
 * The fields of a person who is new, or who sets a new password. A person who is invited may choose a passkey instead, or logs in if it has an
 * account. The page says so before the form, and does not tell whether it has one.
 */
export function NewPerson({ context, link }: Props & { link: LoginLinkRow }) {
  const { login } = context.texts;
  const field = { context, action: 'enter', isRequired: true };
  return (
    <>
      {link.email !== null && (
        <div class="notice">
          <p>{login.knownText}</p>
          <p>
            <a href={`/login?to=${encodeURIComponent(context.path)}`}>{login.known}</a>
          </p>
        </div>
      )}
      <Form context={context} action="enter" submit={login.linkSubmit}>
        {link.personId === null && <Field {...field} name="name" label={login.name} autocomplete="name" />}
        {link.personId === null && link.email === null && (
          <Field {...field} name="email" label={login.email} type="email" autocomplete="username" />
        )}
        <Field
          {...field}
          name="password"
          label={login.newPassword}
          type="password"
          autocomplete="new-password"
        />
      </Form>
      {link.personId === null && <NewPasskey context={context} link={link} />}
      {link.personId === null && link.email !== null && (
        <OpenIdLink context={context} invitation={context.params['token']} />
      )}
    </>
  );
}

/** The passkey of an invited person. Its address is known, so that the device can name the account. */
function NewPasskey({ context, link: { id, email } }: Props & { link: LoginLinkRow }) {
  const { login, passkeys } = context.texts;
  const origin = passkeyOrigin(context);
  if (email === null || origin === undefined) return null;
  const options = context.app.passkeys.creation(
    { origin, owner: id },
    { handle: id, email, name: email },
    [],
  );
  return (
    <PasskeyForm context={context} action="enterPasskey" submit={passkeys.enter} options={options}>
      <p>{passkeys.enterText}</p>
      <Field
        context={context}
        action="enterPasskey"
        name="name"
        label={login.name}
        isRequired
        autocomplete="name"
      />
    </PasskeyForm>
  );
}

/**
 * An invitation as somebody sees it who is logged in. It is accepted by the person to whose address it is, and nobody else learns whether there
 * is one.
 */
export function LoggedIn({ context, link, viewer }: Props & { link: LoginLinkRow; viewer: PersonRow }) {
  const { login, frame } = context.texts;
  if (viewer.email === link.email) {
    return (
      <>
        <p>{login.acceptText(viewer.email)}</p>
        <ActionButton context={context} action="accept" submit={login.accept} />
      </>
    );
  }
  return (
    <>
      <p>{login.otherPerson(viewer.email, link.email ?? '')}</p>
      <form method="post" action="/logout">
        <input type="hidden" name={ACTION_FIELD} value="logout" />
        <button type="submit">{frame.logOut}</button>
      </form>
    </>
  );
}

/** The page of a link that was used, has expired, or never was. */
export function WrongLink({ context }: Props) {
  const { login } = context.texts;
  return (
    <>
      <h1>{login.wrongLink}</h1>
      <p>{login.wrongLinkText}</p>
      <p>
        <small>{login.newLink}</small>
      </p>
    </>
  );
}
