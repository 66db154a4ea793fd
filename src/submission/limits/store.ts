/** Counts the recipients of the mail of people and of their scripts. All SQL of these tables is here, and nothing else writes them. */

import type { ExpirySlice } from '../../db/expiry.ts';
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import { addToRow, findColumns, putRow } from '../../db/rows.ts';
import { constant, type Param, statement } from '../../db/statement.ts';
import type { CorrespondentRow, RecipientCountRow } from '../../db/submission-tables.ts';
import { DAY_MS } from '../../system/clock.ts';

const HOUR_MS = 3_600_000;
const HOURS_PER_DAY = 24;

type MailboxId = MailboxRow['id'];
type Owner = RecipientCountRow['owner'];
/** Numbers of recipients. */
export type Use = Omit<RecipientCountRow, 'owner' | 'hour'>;

const NO_USE: Use = { recipients: 0, newRecipients: 0, sentByScripts: 0, notified: 0 };

const useSince = statement((db, param: Param<Pick<RecipientCountRow, 'owner' | 'hour'>>) =>
  db
    .selectFrom('recipientCounts')
    .select(({ fn }) => [
      fn.sum<number>('recipients').as('recipients'),
      fn.sum<number>('newRecipients').as('newRecipients'),
      fn.sum<number>('sentByScripts').as('sentByScripts'),
      fn.sum<number>('notified').as('notified'),
    ])
    .where('owner', '=', constant(param('owner')))
    .where('hour', '>', constant(param('hour')))
    .groupBy('owner'),
);

/** Returns to how many recipients a mailbox or a tenant has written within the last 24 hours, which begin with a full hour. */
export async function readUse(tx: Tx, owner: Owner, now: number): Promise<Use> {
  return (await useSince.first(tx, { owner, hour: hourOf(now) - HOURS_PER_DAY })) ?? NO_USE;
}

/** A mailbox as what it sends is counted: by its address, because a mailbox can be deleted and made anew, and for its tenant. */
export type Counted = Pick<MailboxRow, 'address' | 'tenantId'>;

/** Counts recipients for a mailbox and its tenant, as part of the write that queues their mail. */
export async function addUse(
  tx: Tx,
  { address, tenantId }: Counted,
  { now, ...use }: Partial<Use> & { now: number },
): Promise<void> {
  for (const owner of [address, tenantId])
    await addToRow(tx, 'recipientCounts', { owner, hour: hourOf(now), ...NO_USE, ...use });
}

function hourOf(now: number): number {
  return Math.floor(now / HOUR_MS);
}

/** Addresses by their hashes (limits.ts). */
type Correspondents = {
  /** Addresses that the mailbox has not written to before. */
  unknown: readonly string[];
  /** All others, with the times of the last messages to them. */
  known: readonly Pick<CorrespondentRow, 'addressHash' | 'lastAt'>[];
};

/** Looks up which addresses the mailbox has written to before. */
export async function compareCorrespondents(
  tx: Tx,
  mailboxId: MailboxId,
  addressHashes: readonly string[],
): Promise<Correspondents> {
  const unknown: string[] = [];
  const known: Correspondents['known'][number][] = [];
  for (const addressHash of addressHashes) {
    const found = await findColumns(tx, 'correspondents', {
      select: ['lastAt'],
      where: { mailboxId, addressHash },
    });
    if (found) known.push({ addressHash, lastAt: found.lastAt });
    else unknown.push(addressHash);
  }
  return { unknown, known };
}

/**
 * Age of the time of the last message to an address from which it is stored anew. Addresses are forgotten after a year, and most are written
 * to many times a day.
 */
const LAST_AT_AGE_MS = DAY_MS;

type Recording = {
  mailbox: Counted & Pick<MailboxRow, 'id'>;
  /** Number of recipients. */
  recipients: number;
  correspondents: Correspondents;
  now: number;
};

/** Counts the recipients of a message and remembers their addresses, as part of the write that accepts it. */
export async function recordRecipients(
  tx: Tx,
  { mailbox, recipients, correspondents: { unknown, known }, now }: Recording,
): Promise<void> {
  const { id: mailboxId } = mailbox;
  await addUse(tx, mailbox, { recipients, newRecipients: unknown.length, now });
  const old = known.filter(({ lastAt }) => Math.abs(now - lastAt) >= LAST_AT_AGE_MS);
  for (const addressHash of [...unknown, ...old.map((known) => known.addressHash)])
    await putRow(tx, 'correspondents', { mailboxId, addressHash, lastAt: now });
}

/** Deletes the counts of days that are over, and addresses to which nobody has written since `before`. */
export const expireLimits = defineWrite(
  'submission.expireLimits',
  async (tx, { now, before, rows }: { now: number; before: number; rows: number }): Promise<ExpirySlice> => {
    const counts = await tx
      .deleteFrom('recipientCounts')
      .where(({ eb, refTuple, selectFrom }) =>
        eb(
          refTuple('owner', 'hour'),
          'in',
          selectFrom('recipientCounts')
            .select(['owner', 'hour'])
            .where('hour', '<=', hourOf(now) - HOURS_PER_DAY)
            .limit(rows)
            .$asTuple('owner', 'hour'),
        ),
      )
      .executeTakeFirst();
    const addresses = await tx
      .deleteFrom('correspondents')
      .where(({ eb, refTuple, selectFrom }) =>
        eb(
          refTuple('mailboxId', 'addressHash'),
          'in',
          selectFrom('correspondents')
            .select(['mailboxId', 'addressHash'])
            .where('lastAt', '<', before)
            .limit(rows)
            .$asTuple('mailboxId', 'addressHash'),
        ),
      )
      .executeTakeFirst();
    const deleted = [counts, addresses].map(({ numDeletedRows }) => Number(numDeletedRows));
    const isWhole = deleted.every((number) => number < rows);
    return { next: isWhole ? undefined : 'more', deleted: deleted.reduce((sum, number) => sum + number, 0) };
  },
  { priority: 'bulk' },
);
