/**
 * Logs in the owner of a mailbox with the password of the mailbox. The check is that of mail programs, so that failures over IMAP, SMTP and
 * here share one budget. Such a session lasts while this password opens the mailbox.
 */
import type { App } from '../../app.ts';
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import type { SessionRow } from '../../db/people-tables.ts';
import { readAccount } from '../../mailboxes/address.ts';
import type { Authenticate } from '../../mailboxes/authenticate.ts';
import { type LoginRefusal, markOf, OWN_PASSWORD, renewMarked } from '../../mailboxes/credential.ts';
import { findMailboxById } from '../../mailboxes/store.ts';
import { AppError } from '../../system/errors.ts';
import { findTenantStatus } from '../../tenants/store.ts';
import { TranslatedRefusal } from '../texts/refusal.ts';
import { tooManyFailures } from './check-password.ts';
import type { Client, People } from './people.ts';

type LoginApp = Pick<App, 'clock' | 'db'> & {
  people: Pick<People, 'begin' | 'devices'>;
  authenticate: Authenticate;
};
type Visitor = Pick<Client, 'clientAddress' | 'knownDevice'>;
type Login = { address: string; password: string } & Visitor;

/**
 * Checks the password of a mailbox whose owner logs in, and returns the mailbox.
 * @throws AppError validation_error for a wrong address or password, invalid_state for a suspended mailbox, rate_limited, unavailable
 */
export async function checkMailboxPassword(
  app: Pick<LoginApp, 'authenticate' | 'db' | 'people'>,
  { address, password, ...visitor }: Login,
): Promise<MailboxRow> {
  const result = await authenticate(app, { username: address, password, ...visitor });
  if ('refused' in result) throw refusalOf(result.refused);
  const { mailbox } = result;
  if (!(await isTenantActive(app, mailbox))) throw refusalOf('suspended');
  return mailbox;
}

/**
 * Checks the password of an owner who is logged in, before a change that needs it. `wrong` says that it is not the password.
 * @throws AppError as `checkMailboxPassword`
 */
export async function requireOwnPassword(
  app: Pick<LoginApp, 'authenticate' | 'people'>,
  { mailbox, clientAddress, knownDevice }: Visitor & { mailbox: MailboxRow },
  { password, wrong }: { password: string; wrong: string },
): Promise<void> {
  const { address: username } = mailbox;
  const result = await authenticate(app, { username, password, clientAddress, knownDevice });
  if (!('refused' in result)) return;
  throw result.refused === 'credentials'
    ? new TranslatedRefusal('validation_error', wrong)
    : refusalOf(result.refused);
}

type Credentials = { username: string; password: string } & Visitor;

/** Checks a password as mail programs have it checked. A browser in which the owner has logged in before has failures of its own. */
function authenticate(
  app: Pick<LoginApp, 'authenticate' | 'people'>,
  { username, password, clientAddress, knownDevice }: Credentials,
) {
  const { account } = readAccount(username);
  const device = app.people.devices.find(knownDevice, { kind: 'mailbox', account });
  return app.authenticate({ username, password, address: clientAddress, protocol: 'dashboard', device });
}

/** Begins a session that lasts while the mailbox has its present password. It returns the token. */
export async function beginMailboxSession(
  { people }: Pick<LoginApp, 'people'>,
  mailbox: MailboxRow,
  client: Client,
): Promise<string> {
  const { passwordDigest } = markOf({ mailbox, credential: OWN_PASSWORD });
  const owner = { personId: null, mailboxId: mailbox.id, passwordDigest, stage: 'complete' as const };
  return people.begin(owner, client);
}

/** Begins the session of the same browser anew, after another password has ended all sessions. It returns the token. */
export async function renewMailboxSession(
  app: LoginApp,
  { mailboxId }: SessionRow,
  client: Client,
): Promise<string | undefined> {
  const mailbox = mailboxId === null ? undefined : await findMailboxById(app.db.read, mailboxId);
  return mailbox && beginMailboxSession(app, mailbox, client);
}

/** Returns the mailbox of a session; undefined once its password, its state or that of its tenant does not let the owner in any more. */
export async function findMailboxOf(
  app: Pick<App, 'clock' | 'db'>,
  { mailboxId, passwordDigest }: SessionRow,
): Promise<MailboxRow | undefined> {
  if (mailboxId === null || passwordDigest === null) return undefined;
  const login = await renewMarked(app, { mailboxId, passwordDigest, credential: 'password' });
  if ('refused' in login || !(await isTenantActive(app, login.mailbox))) return undefined;
  return login.mailbox;
}

async function isTenantActive({ db }: Pick<App, 'db'>, { tenantId }: MailboxRow): Promise<boolean> {
  return (await findTenantStatus(db.read, tenantId)) === 'active';
}

function refusalOf(refused: LoginRefusal): AppError {
  switch (refused) {
    case 'credentials':
      return new AppError('validation_error', 'The address or the password is wrong');
    case 'limited':
      return tooManyFailures();
    case 'suspended':
      return new AppError('invalid_state', 'The mailbox is suspended; ask whoever manages your mailboxes');
    case 'damaged':
      return new AppError('invalid_state', 'The mailbox is damaged, and waits for the operator to repair it');
    case 'unavailable':
      return new AppError('unavailable', 'Many people are logging in; try again in a moment');
  }
}
