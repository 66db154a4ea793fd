/** The second factor of a login: a one-time code of the authenticator, or a recovery code in its place. Each works once. */
import type { App } from '../../app.ts';
import type { PersonRow } from '../../db/people-tables.ts';
import type { LoginFailures } from '../../mailboxes/passwords/failures.ts';
import { AppError } from '../../system/errors.ts';
import { tooManyFailures } from './check-password.ts';
import { hashRecoveryCode } from './recovery.ts';
import { useRecoveryCode } from './recovery-store.ts';
import { acceptTotpStep } from './store.ts';
import { findTotpStep } from './totp.ts';

export type SecondFactor = {
  /** Checks a code of a person with this secret, and takes it out of use. It returns false for a wrong code. */
  acceptCode(person: Pick<PersonRow, 'id'>, secret: string, code: string): Promise<boolean>;
  /**
   * Checks a code or a recovery code of a person who has entered the password.
   * @throws AppError validation_error for a wrong code, rate_limited, invalid_state for a person without codes
   */
  requireCode(person: PersonRow, code: string, clientAddress: string): Promise<void>;
  /** Returns the secret of a person's one-time codes; undefined while the person uses none. */
  totpSecretOf(person: PersonRow): string | undefined;
  sealTotpSecret(personId: PersonRow['id'], secret: string): string;
};

/** Returns the check, whose failures count here. */
export function createSecondFactor(
  { clock, db, sealer }: Pick<App, 'clock' | 'db' | 'sealer'>,
  failures: LoginFailures,
): SecondFactor {
  async function acceptCode({ id }: Pick<PersonRow, 'id'>, secret: string, code: string): Promise<boolean> {
    const step = findTotpStep(secret, code, clock.now());
    return step !== undefined && (await db.commit(acceptTotpStep, { id, step }));
  }

  async function acceptRecoveryCode({ id: personId }: PersonRow, code: string): Promise<boolean> {
    const codeHash = hashRecoveryCode(code);
    return codeHash !== undefined && (await db.commit(useRecoveryCode, { personId, codeHash }));
  }

  const totpSecretOf = ({ id, totpSealed }: PersonRow) =>
    totpSealed === null ? undefined : sealer.open(totpSealed, ['people', id]);

  return {
    acceptCode,
    async requireCode(person, code, address) {
      const secret = totpSecretOf(person);
      if (secret === undefined) throw loginHasEnded();
      // A code has a million values, so its failures count against the account as those of passwords do.
      const attempt = { account: `code ${person.email}`, address };
      if (!failures.mayTry(attempt)) throw tooManyFailures();
      if ((await acceptCode(person, secret, code)) || (await acceptRecoveryCode(person, code))) return;
      failures.failed(attempt);
      throw new AppError('validation_error', 'The code is wrong, or was used before', { param: 'code' });
    },
    totpSecretOf,
    sealTotpSecret: (personId, secret) => sealer.seal(secret, ['people', personId]),
  };
}

/** Returns the refusal of a second factor of a login that does not wait for one. */
export function loginHasEnded(): AppError {
  return new AppError('invalid_state', 'The login has ended; begin again');
}
