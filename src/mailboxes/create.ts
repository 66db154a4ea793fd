/** Creates a mailbox: with the password that the caller chose, or with one that is shown once. */
import type { App } from '../app.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import { sandboxDomain } from '../domains/name.ts';
import { readAll } from '../http/json/read-fields.ts';
import { newId } from '../system/ids.ts';
import { BYTES_PER_MEGABYTE } from '../tenants/stored-mail/store.ts';
import { readAliases, readNewAddress } from './address.ts';
import { withItsDetails } from './details.ts';
import { readDisabledCapabilities } from './disabled-capabilities.ts';
import { filtersIn, NO_FILTERS } from './filters/filters.ts';
import { readFilters } from './filters/read.ts';
import { derivePassword, NO_PASSWORD, requireNoPassword } from './passwords/derive.ts';
import { generatePassword, readPassword } from './passwords/password.ts';
import type { MailboxDetails, NewMailbox } from './schemas.ts';
import { createScramSalts } from './scram-keys.ts';
import { insertMailbox, requireNewMailbox } from './store.ts';

/** A new mailbox, and the password that was made for it; null when the caller chose one. */
export type CreatedMailbox = MailboxDetails & { password: string | null };

/**
 * Creates a mailbox.
 * @throws AppError validation_error, domain_not_verified, domain_in_use, invalid_state, already_exists, unavailable
 */
export async function createMailbox(
  app: Pick<App, 'db' | 'clock' | 'config' | 'wakeups' | 'sealer'>,
  tenantId: MailboxRow['tenantId'],
  wanted: NewMailbox,
): Promise<CreatedMailbox> {
  const { displayName = null, disabledCapabilities = [], kind = 'personal', members = [] } = wanted;
  const { passwordLogin = kind === 'personal', passwordRecovery = true } = wanted;
  if (kind === 'shared') requireNoPassword(wanted);
  const { scramLogin, quotaBytes = app.config.mailboxes.quotaMegabytes * BYTES_PER_MEGABYTE } = wanted;
  const { address, aliases, chosen, disabled, filters } = readAll({
    address: () => readNewAddress(app.config, wanted.address),
    aliases: () => readAliases(app.config, wanted.aliases ?? []),
    chosen: () => (wanted.password === undefined ? null : readPassword('password', wanted.password)),
    disabled: () => readDisabledCapabilities(disabledCapabilities),
    filters: () => readFilters({ ...NO_FILTERS, ...filtersIn(wanted) }),
  });
  const sandbox = sandboxDomain(app.config);
  await requireNewMailbox(
    app.db.read,
    { tenantId, quotaBytes, ...address },
    { sandbox, now: app.clock.now() },
  );
  const generated = chosen === null && kind === 'personal' ? generatePassword() : null;
  const scramSalt = createScramSalts(app)(address.address).toString('hex');
  const password = chosen ?? generated;
  const derivation = {
    owner: tenantId,
    salt: scramSalt,
    // A password that the server has made cannot be guessed, whatever it is stored as.
    hasScram: scramLogin ?? generated !== null,
  };
  const derived = password === null ? NO_PASSWORD : await derivePassword(password, derivation);
  const now = app.clock.now();
  const mailbox: MailboxRow = {
    id: newId('mbx', now),
    tenantId,
    ...address,
    displayName,
    kind,
    ...derived,
    passwordLogin: passwordLogin ? 1 : 0,
    passwordRecovery: passwordRecovery ? 1 : 0,
    timeZone: null,
    scramSalt,
    quotaBytes,
    status: 'active',
    usedBytes: 0,
    messageCount: 0,
    lastModseq: 0,
    lastLoginAt: null,
    disabledCapabilities: disabled,
    createdAt: now,
    updatedAt: now,
  };
  await app.db.commit(insertMailbox, { mailbox, aliases, filters, members, sandbox });
  app.wakeups.notify('mailboxes');
  const shown = await withItsDetails(app.db.read, mailbox);
  return { ...shown, password: generated };
}
