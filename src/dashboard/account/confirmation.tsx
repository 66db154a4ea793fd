/** The field with which a person confirms a change to its own account. */
import { Field } from '../frame/forms.tsx';
import type { PersonContext } from '../page.ts';

type ConfirmationProps = { context: PersonContext; action: string; name?: string };

/** The password of the person, which `people.confirm` checks. */
export function CurrentPassword({ context, action, name = 'password' }: ConfirmationProps) {
  const { account } = context.texts;
  return (
    <Field
      context={context}
      action={action}
      name={name}
      type="password"
      label={account.currentPassword}
      isRequired
      autocomplete="current-password"
    />
  );
}
