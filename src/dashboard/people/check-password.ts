/** Checks the password of a person. Its failures are limited as those of mailboxes are, and a name that does not exist takes as long as any other. */
import type { App } from '../../app.ts';
import type { PersonRow } from '../../db/people-tables.ts';
import type { LoginFailures } from '../../mailboxes/passwords/failures.ts';
import { verifyPassword } from '../../mailboxes/passwords/hash.ts';
import { normalizePassword } from '../../mailboxes/passwords/password.ts';
import { addressSite } from '../../system/address-block.ts';
import { AppError } from '../../system/errors.ts';

type Attempt = {
  account: string;
  password: string;
  clientAddress: string;
  /** Id of the browser when the person has logged in with it before (known-devices.ts). */
  device: string | undefined;
};

/**
 * Returns the person when the password is right. `person` is undefined for an account that does not exist.
 * @throws AppError validation_error, rate_limited, unavailable
 */
type PasswordCheck = (person: PersonRow | undefined, attempt: Attempt) => Promise<PersonRow>;

/** Returns the check, whose failures count here. */
export function createPasswordCheck(app: Pick<App, 'log'>, failures: LoginFailures): PasswordCheck {
  return async function check(
    person: PersonRow | undefined,
    { account, password, clientAddress, device }: Attempt,
  ): Promise<PersonRow> {
    const attempt = { account, address: clientAddress, device };
    if (!failures.mayTry(attempt)) throw tooManyFailures();
    const matches = await verifyPassword(normalizePassword(password), person?.passwordHash ?? '', {
      // Strangers do not take the turns of a person in a browser that is known.
      owner: device === undefined ? addressSite(clientAddress) : `person ${account}`,
      mayStart: () => failures.mayTry(attempt),
      onMismatch: () => failures.failed(attempt),
    });
    if (matches === 'busy')
      throw new AppError('unavailable', 'Many people are logging in; try again in a moment');
    if (matches === 'not-started') throw tooManyFailures();
    if (!matches || !person) {
      app.log.info({ account, address: clientAddress, protocol: 'dashboard' }, 'a login has failed');
      throw new AppError('validation_error', 'The address or the password is wrong');
    }
    failures.succeeded(attempt);
    return person;
  };
}

/** Returns the refusal of an attempt after too many failures. */
export function tooManyFailures(): AppError {
  return new AppError('rate_limited', 'Too many attempts have failed; try again in some minutes');
}
