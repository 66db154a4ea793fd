/** The password of whoever is logged in, a person or the owner of a mailbox: the field that confirms a change, and the form of a new one. */
import type { ComponentChildren } from 'preact';
import type { BaseContext } from '../page.ts';
import { Field, Form } from './forms.tsx';

/** The present password. The field may stand in several forms of a page. */
export function CurrentPassword({ context, name = 'password' }: { context: BaseContext; name?: string }) {
  return (
    <div class="field">
      <label>
        {context.texts.account.currentPassword}
        <input type="password" name={name} required autocomplete="current-password" dir="auto" />
      </label>
    </div>
  );
}

type PasswordChangeProps = {
  context: BaseContext;
  /** Name of the field with the new password. */
  name: string;
  /** Address that a password manager stores the password for. */
  owner: string;
  /** The field that confirms the change, with what there is to say before it. */
  children: ComponentChildren;
};

/** The part of a page about the password. The page has the action `password`. */
export function PasswordChange({ context, name, owner, children }: PasswordChangeProps) {
  const { account } = context.texts;
  return (
    <section aria-labelledby="password">
      <h2 id="password">{account.password}</h2>
      <Form context={context} action="password" submit={account.changePassword}>
        <input type="hidden" autocomplete="username" value={owner} />
        {children}
        <Field
          context={context}
          action="password"
          name={name}
          type="password"
          label={account.newPassword}
          isRequired
          autocomplete="new-password"
        />
      </Form>
    </section>
  );
}
