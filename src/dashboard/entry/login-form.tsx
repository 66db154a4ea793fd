/** The form with which somebody logs in by a password: a person, or the owner of a mailbox. */
import { Field, Form } from '../frame/forms.tsx';
import type { PublicContext } from '../page.ts';

type LoginFormProps = {
  context: PublicContext;
  /** Name of the field with the address. */
  account: 'email' | 'address';
  /** Says which password is meant. */
  help?: string;
};

/** The form, whose action is `login`. */
export function LoginForm({ context, account, help }: LoginFormProps) {
  const { login } = context.texts;
  const field = { context, action: 'login', isRequired: true };
  return (
    <Form context={context} action="login" submit={login.submit}>
      <Field {...field} name={account} type="email" label={login.email} autocomplete="username" />
      <Field
        {...field}
        name="password"
        type="password"
        label={login.password}
        help={help}
        autocomplete="current-password"
      />
    </Form>
  );
}
