/**
 * Changes a mailbox. Its sessions end when it is suspended, or has other capabilities, which clients ask for once. Another password ends the
 * sessions that were opened with the old one. Sessions follow a new quota.
 */

import type { RunningAccounts } from '../accounts/running-accounts.ts';
import type { App } from '../app.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import { sandboxDomain } from '../domains/name.ts';
import { readAll } from '../http/json/read-fields.ts';
import { invalid } from '../system/errors.ts';
import { isTimeZone } from '../system/time-zone.ts';
import { readAliases } from './address.ts';
import { endSessionsOfGone, endSessionsOfMember } from './app-passwords/revoke.ts';
import { listAppPasswordsOf } from './app-passwords/store.ts';
import { readDisabledCapabilities } from './disabled-capabilities.ts';
import { type Filters, filtersIn } from './filters/filters.ts';
import { readFilters } from './filters/read.ts';
import { findFilters } from './filters/store.ts';
import { derivePassword, requireNoPassword } from './passwords/derive.ts';
import { readPassword } from './passwords/password.ts';
import type { MailboxChange } from './schemas.ts';
import { getMailbox, updateMailbox } from './store.ts';

type Wanted = { id: string; change: MailboxChange };

/**
 * Changes the named fields of a mailbox and returns it.
 * @throws AppError not_found, validation_error, unavailable; invalid_state for the status of a damaged mailbox, and for an alias at a
 * domain that is not for mailboxes; domain_not_verified, domain_in_use and already_exists for an alias
 */
export async function changeMailbox(
  app: Pick<App, 'db' | 'clock' | 'config'> & { accounts: RunningAccounts },
  tenantId: MailboxRow['tenantId'],
  { id, change }: Wanted,
): Promise<MailboxRow> {
  const { displayName, aliases, quotaBytes, status, password, disabledCapabilities } = change;
  const { passwordLogin, passwordRecovery, timeZone } = change;
  const { zone, named, read, disabled } = readAll({
    zone: () => readTimeZone(timeZone),
    named: () => (aliases === undefined ? undefined : readAliases(app.config, aliases)),
    read: () => (password === undefined ? undefined : readPassword('password', password)),
    disabled: () =>
      disabledCapabilities === undefined ? undefined : readDisabledCapabilities(disabledCapabilities),
  });
  const before = await getMailbox(app.db.read, tenantId, id);
  if (before.kind === 'shared') requireNoPassword(change);
  const used = await listAppPasswordsOf(app.db.read, before.id);
  const filters = await readChangedFilters(app, before.id, filtersIn(change));
  const derived = await derive(before, read, change.scramLogin);
  const after = await app.db.commit(updateMailbox, {
    tenantId,
    id: before.id,
    now: app.clock.now(),
    change: {
      ...(displayName !== undefined && { displayName }),
      ...(change.members !== undefined && { members: change.members }),
      ...(named !== undefined && { aliases: { aliases: named, sandbox: sandboxDomain(app.config) } }),
      ...(quotaBytes !== undefined && { quotaBytes }),
      ...(status !== undefined && { status }),
      ...derived,
      ...(passwordLogin !== undefined && { passwordLogin: passwordLogin ? 1 : 0 }),
      ...(passwordRecovery !== undefined && { passwordRecovery: passwordRecovery ? 1 : 0 }),
      ...(zone !== undefined && { timeZone: zone }),
      ...(disabled !== undefined && { disabledCapabilities: disabled }),
      ...(filters && { filters }),
    },
  });
  await tellSessions(app.accounts, before, after);
  await endSessionsOfGone(app, used);
  if (before.status === 'active' && after.status === 'suspended') await endSessionsOfMember(app, after.id);
  return after;
}

/** Returns the time zone of a request. @throws AppError validation_error for one that this system does not know */
function readTimeZone(name: MailboxChange['timeZone']): MailboxChange['timeZone'] {
  if (typeof name !== 'string' || isTimeZone(name)) return name;
  throw invalid('timeZone', '`timeZone` must be the name of a time zone, such as Europe/Berlin');
}

type Derived = Partial<Pick<MailboxRow, 'passwordHash' | 'scramVerifier'>>;

/** Returns what changes of the stored password, where there is another one, or where SCRAM is turned on or off. */
async function derive(
  { tenantId, scramSalt, scramVerifier }: MailboxRow,
  password: string | undefined,
  scramLogin = scramVerifier !== null,
): Promise<Derived> {
  if (password !== undefined)
    return await derivePassword(password, { owner: tenantId, salt: scramSalt, hasScram: scramLogin });
  if (!scramLogin) return { scramVerifier: null };
  if (scramVerifier !== null) return {};
  throw invalid('scramLogin', '`scramLogin` can be turned on together with a `password` only');
}

async function tellSessions(accounts: RunningAccounts, before: MailboxRow, after: MailboxRow): Promise<void> {
  const isSuspended = before.status === 'active' && after.status === 'suspended';
  const hasOtherCapabilities = before.disabledCapabilities !== after.disabledCapabilities;
  if (isSuspended || hasOtherCapabilities) return await accounts.close(after.id);
  const isOldPasswordValid = after.passwordLogin === 1 && after.passwordHash === before.passwordHash;
  if (before.passwordLogin === 1 && !isOldPasswordValid) await accounts.endSessions(after.id, 'password');
  if (before.quotaBytes !== after.quotaBytes) await accounts.configure(after);
}

/** Returns the filters that change, which are right together with those that stay. @throws AppError validation_error */
async function readChangedFilters(
  { db }: Pick<App, 'db'>,
  mailboxId: MailboxRow['id'],
  change: Partial<Filters> | undefined,
): Promise<Partial<Filters> | undefined> {
  if (!change) return undefined;
  const read = readFilters({ ...(await findFilters(db.read, mailboxId)), ...change });
  return filtersIn(
    Object.fromEntries(Object.keys(change).map((name) => [name, read[name as keyof Filters]])),
  );
}
