/**
 * Limits to how many recipients a mailbox writes: whoever steals a password must not be able to send spam to the world. A person writes to
 * fewer, and most of them again and again.
 */
import type { App } from '../../app.ts';
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import type { Tx } from '../../db/operation.ts';
import type { TenantRow } from '../../db/tenant-tables.ts';
import { readUnsent } from '../../queue/submitted/unsent-store.ts';
import { AppError } from '../../system/errors.ts';
import { BYTES_PER_MEGABYTE, findPlanName, findStoredLimit } from '../../tenants/stored-mail/store.ts';
import { hashCorrespondent } from './correspondents.ts';
import { type Counted, countNew, readUse } from './store.ts';

/**
 * Size of the messages of a mailbox that wait for their recipients, from which no more are taken. Mail that is held for weeks, or that no
 * server takes, could otherwise fill the disk. Our own limit.
 */
const MAX_UNSENT_BYTES = 1024 * 1024 * 1024;
/**
 * Size and number of the messages that wait in all mailboxes of a tenant together, from which no more are taken. The plan may allow fewer
 * bytes. The number is bounded because small messages cost more rows than bytes. Our own limits.
 */
const MAX_UNSENT_OF_TENANT = { bytes: 4 * MAX_UNSENT_BYTES, messages: 100_000 };

/** Maximum numbers of recipients within 24 hours. */
export type Limits = Pick<
  App['config']['submission'],
  'recipientsPerDay' | 'newRecipientsPerDay' | 'recipientsPerDayOfTenant'
>;

type Question = {
  mailbox: Counted & Pick<MailboxRow, 'id'>;
  /** Number of recipients. */
  recipients: number;
  /** Returns the hash of each recipient's address (correspondents.ts). It is called when there is not space for as many new ones. */
  addressHashes: () => readonly string[];
};

/**
 * Checks that a mailbox may write to these recipients of one message now.
 * @throws AppError rate_limited, quota_exceeded
 */
export function requireWithinLimits(
  app: Pick<App, 'db' | 'clock' | 'config' | 'sealer'>,
  mailbox: Question['mailbox'],
  addresses: readonly string[],
): Promise<void> {
  const { db, clock, config } = app;
  const addressHashes = () => addresses.map((address) => hashCorrespondent(app, mailbox.id, address));
  const question = { mailbox, recipients: addresses.length, addressHashes };
  return requireInWrite(db.read, { ...question, limits: config.submission, now: clock.now() });
}

/**
 * Checks the limits as part of a write, because many messages can be on their way at the same time.
 * @throws AppError rate_limited, quota_exceeded
 */
export async function requireInWrite(
  tx: Tx,
  { mailbox, recipients, addressHashes, limits, now }: Question & { limits: Limits; now: number },
): Promise<void> {
  const { recipientsPerDay, newRecipientsPerDay, recipientsPerDayOfTenant } = limits;
  if ((await readUnsent(tx, mailbox.id)).bytes >= MAX_UNSENT_BYTES)
    throw new AppError('quota_exceeded', 'Too much mail of the mailbox waits for its recipients');
  const use = await readUse(tx, mailbox.address, now);
  if (use.recipients + recipients > recipientsPerDay)
    throw new AppError('rate_limited', `The mailbox may write to ${recipientsPerDay} recipients a day`);
  if ((await readUse(tx, mailbox.tenantId, now)).recipients + recipients > recipientsPerDayOfTenant)
    throw new AppError(
      'rate_limited',
      `The mailboxes of your tenant may write to ${recipientsPerDayOfTenant} recipients a day together`,
    );
  // Known addresses need not be looked up while there is space for new ones.
  if (use.newRecipients + recipients <= newRecipientsPerDay) return;
  if (use.newRecipients + (await countNew(tx, mailbox.id, addressHashes())) > newRecipientsPerDay)
    throw new AppError(
      'rate_limited',
      `The mailbox may write to ${newRecipientsPerDay} recipients a day to whom it has not written before`,
    );
}

/**
 * Checks, as part of the write that accepts a message of this size, that the mail of the tenant's mailboxes that waits for its recipients
 * stays within its bounds, one of which is what the plan lets the tenant store.
 * @throws AppError quota_exceeded
 */
export async function requireRoomOfTenant(
  tx: Tx,
  tenantId: TenantRow['id'],
  sizeBytes: number,
): Promise<void> {
  const unsent = await readUnsent(tx, tenantId);
  const plan = await findPlanName(tx, tenantId);
  const megabytes = plan === undefined ? 0 : ((await findStoredLimit(tx, plan)) ?? Infinity);
  const maxBytes = Math.min(MAX_UNSENT_OF_TENANT.bytes, megabytes * BYTES_PER_MEGABYTE);
  if (unsent.messages < MAX_UNSENT_OF_TENANT.messages && unsent.bytes + sizeBytes <= maxBytes) return;
  throw new AppError(
    'quota_exceeded',
    'Too much mail of the mailboxes of your tenant waits for its recipients',
  );
}
