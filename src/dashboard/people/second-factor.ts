/**
 * The second factor of a login: a one-time code of the authenticator, or a recovery code in its place. Each works once. A one-time code has
 * a million values, and whoever guesses it knows the password already, so few wrong ones are allowed.
 */
import type { App } from '../../app.ts';
import type { PersonRow, SessionRow } from '../../db/people-tables.ts';
import { createFailures } from '../../mailboxes/passwords/failures.ts';
import { DAY_MS } from '../../system/clock.ts';
import { AppError } from '../../system/errors.ts';
import { createTokenBuckets } from '../../system/guards/token-buckets.ts';
import { hashRecoveryCode } from './recovery.ts';
import { useRecoveryCode } from './recovery-store.ts';
import { endSession, loginHasEnded } from './sessions-store.ts';
import { acceptTotpStep } from './store.ts';
import { findTotpStep } from './totp.ts';

/** Number of codes that somebody may enter before the login ends and the password is asked for again. */
const TRIES = { burst: 5, tokensPerSecond: 0 };
/** Maximum number of logins whose tries are counted. The limit of failures bounds how fast others replace them. */
const MAX_LOGINS = 10_000;
/**
 * Wrong codes of a person in a day, from everywhere but where it has logged in from before, and of a network. The codes before and after the
 * present one are right too, so a guesser who knows the password finds one in a day with a chance of 1 in 16,000.
 */
const WRONG_CODES = { perAccount: 20, perAddress: 100, periodSeconds: DAY_MS / 1000 };

type Entered = {
  code: string;
  session: SessionRow;
  clientAddress: string;
  /** Id of the browser when the person has logged in with it before (known-devices.ts). */
  device: string | undefined;
};

export type SecondFactor = {
  /** Checks a code of a person with this secret, and takes it out of use. It returns false for a wrong code. */
  acceptCode(person: Pick<PersonRow, 'id'>, secret: string, code: string): Promise<boolean>;
  /**
   * Checks a code or a recovery code of a person who has entered the password. `session` is the login that waits for it.
   * @throws AppError validation_error for a wrong code, rate_limited, invalid_state for a person without codes, or after too many tries
   */
  requireCode(person: PersonRow, entered: Entered): Promise<void>;
  /** Returns the secret of a person's one-time codes; undefined while the person uses none. */
  totpSecretOf(person: PersonRow): string | undefined;
  sealTotpSecret(personId: PersonRow['id'], secret: string): string;
};

/** Returns the check, which has counted no failures yet. */
export function createSecondFactor({
  clock,
  db,
  log,
  sealer,
}: Pick<App, 'clock' | 'db' | 'log' | 'sealer'>): SecondFactor {
  const failures = createFailures(clock, WRONG_CODES);
  const tries = createTokenBuckets(clock, MAX_LOGINS);

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
    async requireCode(person, { code, session, clientAddress: address, device }) {
      const secret = totpSecretOf(person);
      if (secret === undefined) throw loginHasEnded();
      if (!tries.take(session.id, TRIES).allowed) {
        await db.commit(endSession, { id: session.id, owner: session });
        throw loginHasEnded();
      }
      // Recovery codes cannot be guessed, so that they help a person whose one-time codes somebody else has used up.
      if (await acceptRecoveryCode(person, code)) return;
      const attempt = { account: person.id, address, device };
      if (!failures.mayTry(attempt)) throw tooManyCodes();
      if (await acceptCode(person, secret, code)) return failures.succeeded(attempt);
      failures.failed(attempt);
      log.info(
        { account: person.email, address, protocol: 'dashboard', factor: 'code' },
        'a login has failed',
      );
      throw new AppError('validation_error', 'The code is wrong, or was used before', { param: 'code' });
    },
    totpSecretOf,
    sealTotpSecret: (personId, secret) => sealer.seal(secret, ['people', personId]),
  };
}

function tooManyCodes(): AppError {
  return new AppError(
    'rate_limited',
    'Too many codes were wrong; use a recovery code or a passkey, or try again tomorrow',
  );
}
