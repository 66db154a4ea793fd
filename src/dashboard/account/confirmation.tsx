/** The field with which a person confirms a change to its own account. */
import type { PersonContext } from '../page.ts';
import { NO_PASSWORD } from '../people/passkeys-store.ts';

type ConfirmationProps = { context: PersonContext; name?: string };

/** The password of the person, which `people.confirm` checks. It may stand in several forms of a page. */
export function CurrentPassword({ context, name = 'password' }: ConfirmationProps) {
  const { account } = context.texts;
  if (context.person.passwordHash === NO_PASSWORD) return <p>{account.confirmByLogin}</p>;
  return (
    <div class="field">
      <label>
        {account.currentPassword}
        <input type="password" name={name} required autocomplete="current-password" dir="auto" />
      </label>
    </div>
  );
}
