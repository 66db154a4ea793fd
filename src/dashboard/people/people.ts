/**
 * Logging in: passwords with a limit of failures, sessions, and links that let somebody in once. What a login needs in memory, its counters,
 * is here; everything that lasts is in the stores.
 */
import type { App } from '../../app.ts';
import type { PersonRow, SessionRow, SessionStage } from '../../db/people-tables.ts';
import { addressKey } from '../../mail/address.ts';
import { createLoginFailures } from '../../mailboxes/passwords/failures.ts';
import { hashPassword } from '../../mailboxes/passwords/hash.ts';
import { DAY_MS, MINUTE_MS } from '../../system/clock.ts';
import { AppError } from '../../system/errors.ts';
import { newId } from '../../system/ids.ts';
import { createPasswordCheck, tooManyFailures } from './check-password.ts';
import { findSession, openSession, recordSessionUse } from './sessions-store.ts';
import { acceptTotpStep, findPerson, findPersonByEmail } from './store.ts';
import { hashToken, newToken } from './tokens.ts';
import { findTotpStep } from './totp.ts';

/** Time after which a session ends, and the time without use after which it ends earlier. */
export const SESSION_MS = 30 * DAY_MS;
const IDLE_MS = 7 * DAY_MS;
/** Time that a login waits for its second factor. */
const SECOND_FACTOR_MS = 10 * MINUTE_MS;
/** Minimum time between two writes of the time at which a session was last used. */
const USE_RECORDED_EVERY_MS = MINUTE_MS;
/** Maximum length of a User-Agent that is kept for the list of sessions. */
const MAX_USER_AGENT_CHARACTERS = 200;

type Client = { clientAddress: string; userAgent: string };

/** The owner of a session that begins. */
type Owner = Pick<SessionRow, 'personId' | 'mailboxId'> & {
  stage: SessionStage;
  /** Digest of the password of the mailbox (mailboxes/credential.ts). */
  passwordDigest?: string;
};

export type People = {
  /**
   * Checks the password of a person, and begins a session, which still needs the second factor if the person has one.
   * @throws AppError validation_error for a wrong address or password, rate_limited, unavailable
   */
  logIn(login: { email: string; password: string } & Client): Promise<{ token: string; stage: SessionStage }>;
  /**
   * Completes a login with a one-time code, under a new token.
   * @throws AppError validation_error for a wrong code, rate_limited
   */
  enterCode(session: SessionRow, code: string, client: Client): Promise<string>;
  /** Checks a code of a person with this secret, and takes it out of use. It returns false for a wrong code. */
  acceptCode(person: Pick<PersonRow, 'id'>, secret: string, code: string): Promise<boolean>;
  /**
   * Checks the password of a person who is logged in, before a change that needs it.
   * @throws AppError validation_error, rate_limited, unavailable
   */
  requirePassword(person: PersonRow, password: string, client: Client): Promise<void>;
  /** Begins a session and returns its token. `replaces` is the session of the same browser that ends. */
  begin(owner: Owner, client: Client, replaces?: SessionRow['id']): Promise<string>;
  /** Returns the session of a token while it lasts. */
  find(token: string): Promise<SessionRow | undefined>;
  /** Returns true for the token of a session, also of one that has expired. */
  knows(token: string): Promise<boolean>;
  /** Returns the secret of a person's one-time codes; undefined while the person uses none. */
  totpSecretOf(person: PersonRow): string | undefined;
  sealTotpSecret(personId: PersonRow['id'], secret: string): string;
  hashPassword(password: string, person: Pick<PersonRow, 'id'>): Promise<string>;
};

/** Returns the logins of an installation where nobody has tried yet. */
export function createPeople(app: Pick<App, 'clock' | 'config' | 'db' | 'sealer' | 'log'>): People {
  const { clock, db, sealer } = app;
  const failures = createLoginFailures(app);
  const check = createPasswordCheck(app, failures);

  async function begin(owner: Owner, client: Client, replaces: SessionRow['id'] | null = null) {
    const now = clock.now();
    const token = newToken();
    const lastsMs = owner.stage === 'complete' ? SESSION_MS : SECOND_FACTOR_MS;
    await db.commit(openSession, {
      replaces,
      session: {
        passwordDigest: null,
        ...owner,
        id: newId('ses', now),
        tokenHash: hashToken(token) ?? '',
        address: client.clientAddress,
        userAgent: client.userAgent.slice(0, MAX_USER_AGENT_CHARACTERS),
        createdAt: now,
        lastUsedAt: now,
        expiresAt: now + lastsMs,
      },
    });
    return token;
  }

  async function acceptCode({ id }: Pick<PersonRow, 'id'>, secret: string, code: string): Promise<boolean> {
    const step = findTotpStep(secret, code, clock.now());
    return step !== undefined && (await db.commit(acceptTotpStep, { id, step }));
  }

  const totpSecretOf = ({ id, totpSealed }: PersonRow) =>
    totpSealed === null ? undefined : sealer.open(totpSealed, ['people', id]);

  return {
    async logIn({ email, password, ...client }) {
      const account = addressKey(email.trim());
      const known = await findPersonByEmail(db.read, account);
      const person = await check(known, { account, password, clientAddress: client.clientAddress });
      const stage = person.totpSealed === null ? 'complete' : 'second_factor';
      return { stage, token: await begin({ personId: person.id, mailboxId: null, stage }, client) };
    },
    async enterCode(session, code, client) {
      const person = session.personId && (await findPerson(db.read, session.personId));
      const secret = person ? totpSecretOf(person) : undefined;
      if (!person || secret === undefined || session.stage !== 'second_factor')
        throw new AppError('invalid_state', 'The login has ended; begin again');
      // A code has a million values, so its failures count against the account as those of passwords do.
      const attempt = { account: person.email, address: client.clientAddress };
      const codes = { ...attempt, account: `code ${person.email}` };
      if (!failures.mayTry(codes)) throw tooManyFailures();
      if (!(await acceptCode(person, secret, code))) {
        failures.failed(codes);
        throw new AppError('validation_error', 'The code is wrong, or was used before', { param: 'code' });
      }
      return begin({ personId: person.id, mailboxId: null, stage: 'complete' }, client, session.id);
    },
    acceptCode,
    async requirePassword(person, password, { clientAddress }) {
      await check(person, { account: person.email, password, clientAddress });
    },
    begin,
    async find(token) {
      const tokenHash = hashToken(token);
      const session = tokenHash === undefined ? undefined : await findSession(db.read, tokenHash);
      const now = clock.now();
      if (!session || session.expiresAt <= now || session.lastUsedAt + IDLE_MS <= now) return undefined;
      if (now - session.lastUsedAt >= USE_RECORDED_EVERY_MS)
        db.commitInBackground(recordSessionUse, { id: session.id, now });
      return session;
    },
    async knows(token) {
      const tokenHash = hashToken(token);
      return tokenHash !== undefined && (await findSession(db.read, tokenHash)) !== undefined;
    },
    totpSecretOf,
    sealTotpSecret: (personId, secret) => sealer.seal(secret, ['people', personId]),
    hashPassword: (password, { id }) => hashPassword(password, id),
  };
}
