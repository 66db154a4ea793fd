/** Confirms a change of a person to its own account, which `people.confirm` checks. */
import { CurrentPassword } from '../frame/passwords.tsx';
import type { PersonContext } from '../page.ts';
import { NO_PASSWORD } from '../people/passkeys-store.ts';

/** The field with the password of the person. Whoever has none confirms a change by having logged in just before. */
export function Confirmation({ context, name }: { context: PersonContext; name?: string }) {
  if (context.person.passwordHash === NO_PASSWORD) return <p>{context.texts.account.confirmByLogin}</p>;
  return <CurrentPassword context={context} {...(name !== undefined && { name })} />;
}
