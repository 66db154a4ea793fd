/**
 * Decides whether a user name and a password open a mailbox. A name that does not exist takes as long as a wrong password, and
 * that a mailbox is suspended or damaged is told only to somebody who knows its password.
 */

import type { Protocol } from '../accounts/protocols.ts';
import type { App } from '../app.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import type { ScramProof } from '../mail/sasl/scram.ts';
import { addressSite } from '../system/address-block.ts';
import { createConnectionCounts } from '../system/guards/connection-counts.ts';
import { readAccount } from './address.ts';
import { findEntered } from './app-passwords/match.ts';
import { recordAppPasswordUse } from './app-passwords/store.ts';
import { type Login, type LoginResult, OWN_PASSWORD, renewLogin } from './credential.ts';
import { createLoginFailures } from './passwords/failures.ts';
import { verifyPassword } from './passwords/hash.ts';
import { normalizePassword } from './passwords/password.ts';
import { createRememberedPasswords } from './passwords/remembered.ts';
import { findProven, listVerifiers } from './scram-proof.ts';
import { findMailboxByAddress, recordLogin } from './store.ts';

/** The client of a login. `username` is the address of the mailbox as a person wrote it, `address` the IP address of the client. */
type Client = { username: string; address: string };
type PasswordRequest = Client & { protocol: Protocol; password: string };
type ProofRequest = Client & { protocol: Protocol } & ScramProof;
/** A request of a mail program. */
export type LoginRequest = PasswordRequest | ProofRequest;
/** A request of the dashboard, which is no protocol of mail programs: no app password opens it. */
type DashboardRequest = Client & {
  protocol: 'dashboard';
  password: string;
  /** Id of the browser when the owner of this name has logged in with it before. */
  device: string | undefined;
};

/** Checks the credentials of a request. It never throws for what a client sends. */
export type Authenticate = (request: LoginRequest | DashboardRequest) => Promise<LoginResult>;

/** Minimum time between two writes of `lastLoginAt` and of `lastUsedAt`, which are shown to people. */
const LOGIN_RECORDED_EVERY_MS = 60_000;
/**
 * Maximum number of unfinished logins of a client address, such as a webmail that starts again. Even a whole site of addresses leaves
 * others a place among the hashes that wait.
 */
const MAX_UNFINISHED = 100;

/** `account` is the address under which failures count, whether it is one or not. */
type Named = { account: string };
type PasswordAttempt = (PasswordRequest | DashboardRequest) & Named;
type Attempt = PasswordAttempt | (ProofRequest & Named);

/** Returns the function that checks credentials. All protocols share one, and with it the limits of attempts. */
export function createAuthenticator(app: App): Authenticate {
  const failures = createLoginFailures(app);
  const remembered = createRememberedPasswords(app.clock);
  const unfinished = createConnectionCounts(MAX_UNFINISHED);
  const logins = app.metrics.counter('mailbox_logins_total', 'Logins of mailboxes, by protocol and result.', [
    'protocol',
    'result',
  ]);

  async function check(mailbox: MailboxRow | undefined, attempt: Attempt): Promise<LoginResult> {
    if ('proof' in attempt) return await checkProof(mailbox, attempt);
    const row = attempt.protocol === 'dashboard' ? undefined : await findEntered(app, mailbox?.id, attempt);
    if (mailbox && row) return { mailbox, credential: { kind: 'app-password', row } };
    // A wrong app password is tried as the password of the mailbox, so that it costs and counts as much as any other.
    return await checkOwnPassword(mailbox?.passwordLogin === 1 ? mailbox : undefined, attempt);
  }

  async function checkProof(
    mailbox: MailboxRow | undefined,
    attempt: ProofRequest & Named,
  ): Promise<LoginResult> {
    const known = await listVerifiers(app, mailbox, attempt);
    const proven = await findProven(known, attempt);
    // Other attempts may have failed meanwhile. Nothing waits from here on, so attempts at the same time cannot exceed the limit.
    if (!failures.mayTry(attempt)) return { refused: 'limited' };
    if (mailbox && proven) return { mailbox, ...proven };
    failures.failed(attempt);
    return refuse(attempt);
  }

  /** The login of a member to a shared mailbox is a line in the log, because all members use the same address. */
  function logMember({ credential }: Login, { account, address, protocol }: Attempt): void {
    if (credential.kind !== 'app-password' || credential.row.memberId === null) return;
    const { id: appPasswordId, memberId } = credential.row;
    app.log.info({ account, memberId, appPasswordId, address, protocol }, 'a member has logged in');
  }

  function refuse({ account, address, protocol }: Attempt): LoginResult {
    app.log.info({ account, address, protocol }, 'a login has failed');
    return { refused: 'credentials' };
  }

  async function checkOwnPassword(
    mailbox: MailboxRow | undefined,
    attempt: PasswordAttempt,
  ): Promise<LoginResult> {
    const password = normalizePassword(attempt.password);
    if (mailbox && remembered.has(mailbox, password)) return { mailbox, credential: OWN_PASSWORD };
    const matches = await verifyPassword(password, mailbox?.passwordHash ?? '', {
      owner: holderOf(attempt),
      mayStart: () => failures.mayTry(attempt),
      onMismatch: () => failures.failed(attempt),
    });
    if (matches === 'busy') return { refused: 'unavailable' };
    if (matches === 'not-started') return { refused: 'limited' };
    if (!matches || !mailbox) return refuse(attempt);
    remembered.add(mailbox, password);
    return { mailbox, credential: OWN_PASSWORD };
  }

  async function login(request: LoginRequest | DashboardRequest): Promise<LoginResult> {
    const { account, isAddress } = readAccount(request.username);
    const attempt = { ...request, account };
    // The limits come before what is remembered, because a remembered password would otherwise be guessed without limits.
    if (!failures.mayTry(attempt)) return { refused: 'limited' };
    const mailbox = isAddress ? await findMailboxByAddress(app.db.read, account) : undefined;
    const result = await check(mailbox, attempt);
    if ('refused' in result) return result;
    failures.succeeded(attempt);
    // The mailbox may have changed while the password was hashed.
    const renewed = await renewLogin(app, result);
    if ('refused' in renewed) return renewed;
    recordUse(app, renewed);
    logMember(renewed, attempt);
    return { ...result, mailbox: renewed.mailbox };
  }

  return async (request) => {
    const release = unfinished.take(request.address);
    const result = release ? await login(request).finally(release) : ({ refused: 'unavailable' } as const);
    logins.inc({ protocol: request.protocol, result: 'refused' in result ? result.refused : 'accepted' });
    return result;
  };
}

/** Returns who has the turns of a login: a client address, or the account in a browser that is known, from which strangers take none. */
function holderOf(attempt: PasswordAttempt): string {
  const isKnown = attempt.protocol === 'dashboard' && attempt.device !== undefined;
  return isKnown ? `mailbox ${attempt.account}` : addressSite(attempt.address);
}

/** Records the time of a login, at most once a minute. */
function recordUse({ db, clock }: App, { mailbox, credential }: Login): void {
  const now = clock.now();
  const isRecent = (at: number | null) => now - (at ?? 0) < LOGIN_RECORDED_EVERY_MS;
  if (!isRecent(mailbox.lastLoginAt)) db.commitInBackground(recordLogin, { id: mailbox.id, now });
  if (credential.kind !== 'app-password' || isRecent(credential.row.lastUsedAt)) return;
  db.commitInBackground(recordAppPasswordUse, { id: credential.row.id, now });
}
