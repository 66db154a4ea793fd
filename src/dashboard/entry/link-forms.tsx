/** The forms behind a link that lets somebody in once. */
import type { LoginLinkRow, PersonRow } from '../../db/people-tables.ts';
import { ACTION_FIELD, ActionButton, Field, Form } from '../frame/forms.tsx';
import type { PublicContext } from '../page.ts';

type Props = { context: PublicContext };

/** The fields of a person who is new, or who sets a new password. */
export function NewPerson({ context, link }: Props & { link: LoginLinkRow }) {
  const { login } = context.texts;
  const field = { context, action: 'enter', isRequired: true };
  return (
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
