/** The forms behind a link that lets somebody in once. */
import type { LoginLinkRow, PersonRow } from '../../db/people-tables.ts';
import { ACTION_FIELD, ActionButton, Field, Form } from '../frame/forms.tsx';
import { PasskeyForm, passkeyOrigin } from '../frame/passkeys.tsx';
import type { PublicContext } from '../page.ts';
import { OpenIdLink } from './openid-link.tsx';

type Props = { context: PublicContext };

/** The fields of a person who is new, or who sets a new password. A person who is invited may choose a passkey instead. */
export function NewPerson({ context, link }: Props & { link: LoginLinkRow }) {
  const { login } = context.texts;
  const field = { context, action: 'enter', isRequired: true };
  return (
    <>
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

type KnownProps = Props & {
  /** The person to whose address the invitation is. */
  invited: PersonRow;
  /** The person that is logged in. */
  viewer: PersonRow | undefined;
};

/** An invitation for a person who exists. It is accepted by that person alone, logged in. */
export function KnownPerson({ context, invited, viewer }: KnownProps) {
  const { login, frame } = context.texts;
  if (!viewer) {
    return (
      <>
        <p>{login.knownText}</p>
        <p>
          <a href={`/login?to=${encodeURIComponent(context.path)}`}>{login.title}</a>
        </p>
      </>
    );
  }
  if (viewer.id !== invited.id) {
    return (
      <>
        <p>{login.otherPerson(viewer.email, invited.email)}</p>
        <form method="post" action="/logout">
          <input type="hidden" name={ACTION_FIELD} value="logout" />
          <button type="submit">{frame.logOut}</button>
        </form>
      </>
    );
  }
  return (
    <>
      <p>{login.acceptText(viewer.email)}</p>
      <ActionButton context={context} action="accept" submit={login.accept} />
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
