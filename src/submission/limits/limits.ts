/**
 * Limits how many recipients a mailbox writes to: whoever steals a password must not be able to send spam to the world. A person writes to
 * fewer, and most of them again and again.
 */

import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { App } from '../../app.ts';
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import type { Tx } from '../../db/operation.ts';
import type { TenantRow } from '../../db/tenant-tables.ts';
import { addressKey } from '../../mail/address.ts';
import { readUnsent } from '../../queue/submitted/store.ts';
import { AppError } from '../../system/errors.ts';
import { BYTES_PER_MEGABYTE, findStoredLimitOf } from '../../tenants/stored-mail/store.ts';
import { type Counted, compareCorrespondents, readUse, recordRecipients, type Use } from './store.ts';

const KEY_BYTES = 32;
/** Number of characters of a hash in base64url, which have 6 bits each. */
const HASH_CHARACTERS = 22;

const keys = new WeakMap<App['sealer'], KeyObject>();

/**
 * Size of the messages of a mailbox that wait for their recipients, from which no more are taken. Mail that is held for weeks, or that no
 * server takes, could otherwise fill the disk.
 */
const MAX_UNSENT_BYTES = 1024 * 1024 * 1024;
/**
 * Size and number of the messages that wait in all mailboxes of a tenant together, from which no more are taken. The plan may allow fewer
 * bytes. The number is bounded because small messages cost more rows than bytes.
 */
const MAX_UNSENT_OF_TENANT = { bytes: 4 * MAX_UNSENT_BYTES, messages: 100_000 };

/** Maximum numbers of recipients within 24 hours. */
export type Limits = Pick<
  App['config']['submission'],
  'recipientsPerDay' | 'newRecipientsPerDay' | 'recipientsPerDayOfTenant'
>;

type Writer = Counted & Pick<MailboxRow, 'id'>;

/** Counts of what a mailbox and its tenant have sent within 24 hours, and the size of its mail that waits for recipients, in bytes. */
type Sent = { own: Use; ofTenant: Use; unsentBytes: number };

async function readSent(tx: Tx, { id, address, tenantId }: Writer, now: number): Promise<Sent> {
  return {
    own: await readUse(tx, address, now),
    ofTenant: await readUse(tx, tenantId, now),
    unsentBytes: (await readUnsent(tx, id)).bytes,
  };
}

/**
 * Checks that a mailbox may write to this number of recipients now.
 * @throws AppError rate_limited, quota_exceeded
 */
function requireWithinLimits({ own, ofTenant, unsentBytes }: Sent, recipients: number, limits: Limits): void {
  const { recipientsPerDay, recipientsPerDayOfTenant } = limits;
  if (unsentBytes >= MAX_UNSENT_BYTES)
    throw new AppError('quota_exceeded', 'Too much mail of the mailbox waits for its recipients');
  if (own.recipients + recipients > recipientsPerDay)
    throw new AppError('rate_limited', `The mailbox may write to ${recipientsPerDay} recipients a day`);
  if (ofTenant.recipients + recipients > recipientsPerDayOfTenant)
    throw new AppError(
      'rate_limited',
      `The mailboxes of your tenant may write to ${recipientsPerDayOfTenant} recipients a day together`,
    );
}

/**
 * Checks that a mailbox may write to this number of recipients to whom it has not written before.
 * @throws AppError rate_limited
 */
function requireFewNew({ own }: Sent, newRecipients: number, { newRecipientsPerDay }: Limits): void {
  if (own.newRecipients + newRecipients > newRecipientsPerDay)
    throw new AppError(
      'rate_limited',
      `The mailbox may write to ${newRecipientsPerDay} recipients a day to whom it has not written before`,
    );
}

/** Compares the recipients of one message with the limits while they are named. The write that accepts the message compares again. */
export class RecipientCheck {
  readonly #app: Pick<App, 'db' | 'clock' | 'config' | 'sealer'>;
  readonly #mailbox: Writer;
  /** Counts from before this message. They are read once, so that many recipients do not cost as many reads. */
  #before: Sent | undefined;
  #recipients = 0;
  /** Number of recipients that were looked up and are new to the mailbox. */
  #newRecipients = 0;
  /** Recipients that were not looked up, because there was space for all of them. */
  #unknown: string[] = [];

  constructor(app: Pick<App, 'db' | 'clock' | 'config' | 'sealer'>, mailbox: Writer) {
    this.#app = app;
    this.#mailbox = mailbox;
  }

  /**
   * Counts one more recipient, unless the message would have too many with it.
   * @throws AppError rate_limited, quota_exceeded
   */
  async add(address: string): Promise<void> {
    const { db, clock, config } = this.#app;
    const limits = config.submission;
    this.#before ??= await readSent(db.read, this.#mailbox, clock.now());
    requireWithinLimits(this.#before, this.#recipients + 1, limits);
    const mayBeNew = this.#before.own.newRecipients + this.#newRecipients + this.#unknown.length + 1;
    if (mayBeNew <= limits.newRecipientsPerDay) {
      this.#unknown.push(address);
    } else {
      this.#newRecipients += await this.#countNew(this.#unknown.splice(0));
      const newRecipients = this.#newRecipients + (await this.#countNew([address]));
      requireFewNew(this.#before, newRecipients, limits);
      this.#newRecipients = newRecipients;
    }
    this.#recipients += 1;
  }

  async #countNew(addresses: readonly string[]): Promise<number> {
    const { id } = this.#mailbox;
    const hashes = addresses.map((address) => hashCorrespondent(this.#app, id, address));
    const { unknown } = await compareCorrespondents(this.#app.db.read, id, hashes);
    return unknown.length;
  }
}

type Counting = {
  mailbox: Writer;
  /** Hash of each recipient's address (`hashCorrespondent`). */
  addressHashes: readonly string[];
  limits: Limits;
  now: number;
};

/**
 * Counts the recipients of a message as part of the write that accepts it, because many messages can be on their way at the same time.
 * @throws AppError rate_limited, quota_exceeded
 */
export async function countRecipients(
  tx: Tx,
  { mailbox, addressHashes, limits, now }: Counting,
): Promise<void> {
  const before = await readSent(tx, mailbox, now);
  requireWithinLimits(before, addressHashes.length, limits);
  const correspondents = await compareCorrespondents(tx, mailbox.id, addressHashes);
  requireFewNew(before, correspondents.unknown.length, limits);
  await recordRecipients(tx, { mailbox, recipients: addressHashes.length, correspondents, now });
}

/**
 * Checks, as part of the write that accepts a message of this size, that the mail of the tenant's mailboxes that waits for its recipients
 * stays within its bounds, one of which is what the plan lets the tenant store.
 * @throws AppError quota_exceeded
 */
export async function requireSpaceOfTenant(
  tx: Tx,
  tenantId: TenantRow['id'],
  sizeBytes: number,
): Promise<void> {
  const unsent = await readUnsent(tx, tenantId);
  const megabytes = await findStoredLimitOf(tx, tenantId);
  const planBytes = megabytes === null ? Infinity : (megabytes ?? 0) * BYTES_PER_MEGABYTE;
  const maxBytes = Math.min(MAX_UNSENT_OF_TENANT.bytes, planBytes);
  if (unsent.messages < MAX_UNSENT_OF_TENANT.messages && unsent.bytes + sizeBytes <= maxBytes) return;
  throw new AppError(
    'quota_exceeded',
    'Too much mail of the mailboxes of your tenant waits for its recipients',
  );
}

/** Returns the key, which is derived from the master key. After a change of that one, all addresses are new to a mailbox again. */
function keyOf({ sealer }: Pick<App, 'sealer'>): KeyObject {
  const known = keys.get(sealer);
  if (known) return known;
  const bytes = hkdfSync('sha256', sealer.key.export(), '', 'submission: correspondents', KEY_BYTES);
  // With the bytes instead of this object, a hash would cost five times as much.
  const key = createSecretKey(Buffer.from(bytes));
  keys.set(sealer, key);
  return key;
}

/**
 * Returns the hash of an address, which is another one for each mailbox. Whoever reads the database without the
 * master key, for instance in a backup, cannot tell to whom people write: their messages are deleted once they have
 * arrived, and would otherwise leave the addresses behind for a year.
 */
export function hashCorrespondent(
  app: Pick<App, 'sealer'>,
  mailboxId: MailboxRow['id'],
  address: string,
): string {
  const hmac = createHmac('sha256', keyOf(app)).update(`${mailboxId} ${addressKey(address)}`);
  return hmac.digest('base64url').slice(0, HASH_CHARACTERS);
}
