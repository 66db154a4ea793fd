/**
 * Logging in: passwords with a limit of failures, sessions, and links that let somebody in once. What a login needs in memory, its counters,
 * is here; everything that lasts is in the stores.
 */
import type { App } from '../../app.ts';
import type { PersonRow, SessionRow, SessionStage } from '../../db/people-tables.ts';
import { readAccount } from '../../mailboxes/address.ts';
import { createLoginFailures } from '../../mailboxes/passwords/failures.ts';
import { hashPassword } from '../../mailboxes/passwords/hash.ts';
import { DAY_MS, MINUTE_MS } from '../../system/clock.ts';
import { AppError } from '../../system/errors.ts';
import { newId } from '../../system/ids.ts';
import { createPasswordCheck } from './check-password.ts';
import { createSessionSearch, type SessionSearch } from './find-session.ts';
import { createKnownDevices, type KnownDevices } from './known-devices.ts';
import { NO_PASSWORD } from './passkeys-store.ts';
import { createSecondFactor, type SecondFactor } from './second-factor.ts';
import { type Factors, loginHasEnded, openSession } from './sessions-store.ts';
import { findPerson, findPersonByEmail } from './store.ts';
import { hashToken, newToken } from './tokens.ts';

/** Time after which a session ends. */
export const SESSION_MS = 30 * DAY_MS;
/** Times after which a session ends, by what it waits for: the second factor, the authenticator app of an invited person, or nothing. */
const LASTS_MS = { second_factor: 10 * MINUTE_MS, set_up: 30 * MINUTE_MS, complete: SESSION_MS };
/** Time after a login in which a person without a password may make changes that others confirm with their password. */
const FRESH_LOGIN_MS = 15 * MINUTE_MS;
/** Maximum length of a User-Agent that is kept for the list of sessions. */
const MAX_USER_AGENT_CHARACTERS = 200;

/** The browser that asks. Its session, if it has one, ends when another one begins, so that nothing of before a login is valid after it. */
export type Client = {
  clientAddress: string;
  userAgent: string;
  sessionToken: string | undefined;
  /** Tokens of the accounts for which the browser is known. */
  knownDevice: string | undefined;
};

/** The owner of a session that begins. */
type Owner = Pick<SessionRow, 'personId' | 'mailboxId'> & {
  stage: SessionStage;
  /** Digest of the password of the mailbox (mailboxes/credential.ts). */
  passwordDigest?: string;
  /** The factors of the person that were checked. The session does not begin when they have changed meanwhile. */
  checked?: Factors;
};

/** A login that has begun. It still needs the second factor when its stage says so. */
type Begun = { token: string; stage: SessionStage };

export type People = SessionSearch & {
  devices: KnownDevices;
  /**
   * Checks the address and the password of a person who logs in.
   * @throws AppError validation_error for a wrong address or password, rate_limited, unavailable
   */
  checkPassword(credentials: { email: string; password: string }, client: Client): Promise<PersonRow>;
  /**
   * Begins a session of a person who has logged in with its password, or elsewhere. It still needs the second factor if the person has one.
   * @throws AppError as `begin`
   */
  beginLogin(person: PersonRow, client: Client): Promise<Begun>;
  /**
   * Completes a login with a one-time code or a recovery code, under a new token.
   * @throws AppError validation_error for a wrong code, rate_limited, invalid_state for a login that waits for none
   */
  enterCode(session: SessionRow, code: string, client: Client): Promise<string>;
  /**
   * Checks the password of a person who is logged in, before a change that needs it. Whoever has no password must have logged in just before.
   * @throws AppError validation_error, rate_limited, unavailable, invalid_state for a login that is too old
   */
  confirm(identity: { person: PersonRow; session: SessionRow } & Client, password: string): Promise<void>;
  /**
   * Begins the session of a person whose passkey was right. In the place of a code, the passkey completes the login that waits for it.
   * @throws AppError as `begin`, invalid_state for a login that waits for nothing
   */
  enterPasskey(person: PersonRow, client: Client, pending?: SessionRow): Promise<string>;
  /**
   * Begins the session of the same browser anew, after a change of rights has ended all sessions of the person. It returns the token.
   * @throws AppError as `begin`
   */
  renew(person: PersonRow, client: Client): Promise<string>;
  /**
   * Begins a session and returns its token.
   * @throws AppError invalid_state when what the login has checked is not true any more
   */
  begin(owner: Owner, client: Client): Promise<string>;
  hashPassword(password: string, person: Pick<PersonRow, 'id'>): Promise<string>;
} & Omit<SecondFactor, 'requireCode'>;

/** Returns the logins of an installation where nobody has tried yet. */
export function createPeople(app: Pick<App, 'clock' | 'config' | 'db' | 'sealer' | 'log'>): People {
  const { clock, db } = app;
  const devices = createKnownDevices(app);
  const check = createPasswordCheck(app, createLoginFailures(app));
  const { requireCode, ...secondFactor } = createSecondFactor(app);

  async function begin({ checked, ...owner }: Owner, client: Client): Promise<string> {
    const now = clock.now();
    const token = newToken();
    await db.commit(openSession, {
      replaces: hashToken(client.sessionToken ?? ''),
      checked,
      session: {
        passwordDigest: null,
        ...owner,
        id: newId('ses', now),
        tokenHash: hashToken(token) ?? '',
        address: client.clientAddress,
        userAgent: client.userAgent.slice(0, MAX_USER_AGENT_CHARACTERS),
        createdAt: now,
        lastUsedAt: now,
        expiresAt: now + LASTS_MS[owner.stage],
      },
    });
    return token;
  }

  async function beginLogin(person: PersonRow, client: Client): Promise<Begun> {
    const stage = person.totpSealed === null ? 'complete' : 'second_factor';
    const owner = { personId: person.id, mailboxId: null, stage, checked: person } as const;
    return { stage, token: await begin(owner, client) };
  }

  return {
    async checkPassword({ email, password }, { clientAddress, knownDevice }) {
      const { account, isAddress } = readAccount(email.trim());
      const known = isAddress ? await findPersonByEmail(db.read, account) : undefined;
      const device = devices.find(knownDevice, { kind: 'person', account });
      return check(known, { account, password, clientAddress, device });
    },
    devices,
    beginLogin,
    async enterCode(session, code, client) {
      const person = session.personId && (await findPerson(db.read, session.personId));
      if (!person || session.stage !== 'second_factor') throw loginHasEnded();
      const device = devices.find(client.knownDevice, { kind: 'person', account: person.email });
      await requireCode(person, { code, session, clientAddress: client.clientAddress, device });
      return begin({ ...completed(person.id), checked: person }, client);
    },
    async enterPasskey(person, client, pending) {
      if (pending && pending.stage !== 'second_factor') throw loginHasEnded();
      return begin({ ...completed(person.id), checked: person }, client);
    },
    async confirm({ person, session, clientAddress, knownDevice }, password) {
      const { email: account } = person;
      const device = devices.find(knownDevice, { kind: 'person', account });
      if (person.passwordHash !== NO_PASSWORD)
        await check(person, { account, password, clientAddress, device });
      else if (clock.now() - session.createdAt > FRESH_LOGIN_MS)
        throw new AppError('invalid_state', 'Log out, log in again, and do this within 15 minutes');
    },
    renew: (person, client) => begin({ ...completed(person.id), checked: person }, client),
    begin,
    ...createSessionSearch(app),
    ...secondFactor,
    hashPassword: (password, { id }) => hashPassword(password, id),
  };
}

function completed(personId: PersonRow['id']) {
  return { personId, mailboxId: null, stage: 'complete' } as const;
}
