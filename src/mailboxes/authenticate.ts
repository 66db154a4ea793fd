/**
 * Decides whether a user name and a password open a mailbox. A name that does not exist takes as long as a wrong password, and
 * that a mailbox is suspended or damaged is told only to somebody who knows its password.
 */
import type { App } from '../app.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import { addressKey, parseMailbox } from '../mail/address.ts';
import { addressSite } from '../system/address-block.ts';
import { createConnectionCounts } from '../system/guards/connection-counts.ts';
import { findEntered } from './app-passwords/match.ts';
import { recordAppPasswordUse } from './app-passwords/store.ts';
import { type Login, type LoginResult, OWN_PASSWORD, renewLogin } from './credential.ts';
import { createLoginFailures } from './passwords/failures.ts';
import { verifyPassword } from './passwords/hash.ts';
import { normalizePassword } from './passwords/password.ts';
import { createRememberedPasswords } from './passwords/remembered.ts';
import type { Protocol } from './protocols.ts';
import { findMailboxByAddress, recordLogin } from './store.ts';

export type LoginRequest = {
  /** Address of the mailbox, as a person wrote it. */
  username: string;
  password: string;
  /** IP address of the client. */
  address: string;
  protocol: Protocol;
};

/** Checks a name and a password. It never throws for what a client sends. */
export type Authenticate = (request: LoginRequest) => Promise<LoginResult>;

/** Minimum time between two writes of `lastLoginAt` and of `lastUsedAt`, which are shown to people. */
const LOGIN_RECORDED_EVERY_MS = 60_000;
/**
 * Maximum number of unfinished logins of a client address, such as a webmail that starts again. Even a whole site of addresses leaves
 * others a place among the hashes that wait. Our own limit.
 */
const MAX_UNFINISHED = 100;
/** Maximum length of a user name under which failures are counted and logged: the longest address. */
const MAX_ACCOUNT_CHARACTERS = 254;

type LoginApp = Pick<App, 'db' | 'clock' | 'config' | 'log' | 'metrics'>;
/** `account` is the address under which failures count, whether it is one or not. */
type Attempt = LoginRequest & { account: string };

/** Returns the function that checks credentials. All protocols share one, and with it the limits of attempts. */
export function createAuthenticator(app: LoginApp): Authenticate {
  const failures = createLoginFailures(app);
  const remembered = createRememberedPasswords(app.clock);
  const unfinished = createConnectionCounts(MAX_UNFINISHED);
  const logins = app.metrics.counter('mailbox_logins_total', 'Logins of mailboxes, by protocol and result.', [
    'protocol',
    'result',
  ]);

  async function check(mailbox: MailboxRow | undefined, attempt: Attempt): Promise<LoginResult> {
    const row = await findEntered(app, mailbox?.id, attempt);
    if (mailbox && row) return { mailbox, credential: { kind: 'app-password', row } };
    // A wrong app password is tried as the password of the mailbox, so that it costs and counts as much as any other.
    return await checkOwnPassword(mailbox?.passwordLogin === 1 ? mailbox : undefined, attempt);
  }

  async function checkOwnPassword(mailbox: MailboxRow | undefined, attempt: Attempt): Promise<LoginResult> {
    const password = normalizePassword(attempt.password);
    if (mailbox && remembered.has(mailbox, password)) return { mailbox, credential: OWN_PASSWORD };
    const matches = await verifyPassword(password, mailbox?.passwordHash ?? '', {
      owner: addressSite(attempt.address),
      mayStart: () => failures.mayTry(attempt),
      onMismatch: () => failures.failed(attempt),
    });
    if (matches === 'busy') return { refused: 'unavailable' };
    if (matches === 'not-started') return { refused: 'limited' };
    if (!matches || !mailbox) {
      app.log.info({ account: attempt.account, address: attempt.address }, 'a login has failed');
      return { refused: 'credentials' };
    }
    remembered.add(mailbox, password);
    return { mailbox, credential: OWN_PASSWORD };
  }

  async function login(request: LoginRequest): Promise<LoginResult> {
    const address = parseMailbox(request.username)?.address;
    const account = addressKey(address ?? request.username.slice(0, MAX_ACCOUNT_CHARACTERS));
    const attempt = { ...request, account };
    // The limits come before what is remembered, because a remembered password would otherwise be guessed without limits.
    if (!failures.mayTry(attempt)) return { refused: 'limited' };
    const mailbox = address === undefined ? undefined : await findMailboxByAddress(app.db.read, account);
    const result = await check(mailbox, attempt);
    if ('refused' in result) return result;
    failures.succeeded(attempt);
    // The mailbox may have changed while the password was hashed.
    const renewed = await renewLogin(app, result);
    if (!('refused' in renewed)) recordUse(app, renewed);
    return renewed;
  }

  return async (request) => {
    const release = unfinished.take(request.address);
    const result = release ? await login(request).finally(release) : ({ refused: 'unavailable' } as const);
    logins.inc({ protocol: request.protocol, result: 'refused' in result ? result.refused : 'accepted' });
    return result;
  };
}

/** Records the time of a login, at most once a minute. */
function recordUse({ db, clock }: LoginApp, { mailbox, credential }: Login): void {
  const now = clock.now();
  const isRecent = (at: number | null) => now - (at ?? 0) < LOGIN_RECORDED_EVERY_MS;
  if (!isRecent(mailbox.lastLoginAt)) db.commitInBackground(recordLogin, { id: mailbox.id, now });
  if (credential.kind === 'password' || isRecent(credential.row.lastUsedAt)) return;
  db.commitInBackground(recordAppPasswordUse, { id: credential.row.id, now });
}
