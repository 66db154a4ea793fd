/** Counts the recipients of the mail of people. All SQL of these tables is here, and nothing else writes them. */
import { sql } from 'kysely';
import type { ExpirySlice } from '../../db/expiry.ts';
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import { constant, type Param, statement } from '../../db/statement.ts';
import type { CorrespondentRow, SubmissionCountRow } from '../../db/submission-tables.ts';
import { addressKey } from '../../mail/address.ts';

const HOUR_MS = 3_600_000;
const HOURS_PER_DAY = 24;

type MailboxId = MailboxRow['id'];
type Use = Pick<SubmissionCountRow, 'recipients' | 'newRecipients'>;

const useSince = statement((db, param: Param<Pick<SubmissionCountRow, 'mailboxId' | 'hour'>>) =>
  db
    .selectFrom('submissionCounts')
    .select(({ fn }) => [
      fn.sum<number | null>('recipients').as('recipients'),
      fn.sum<number | null>('newRecipients').as('newRecipients'),
    ])
    .where('mailboxId', '=', param('mailboxId'))
    .where('hour', '>', constant(param('hour'))),
);

/** Returns to how many recipients a mailbox has written within the last 24 hours, which begin with a full hour. */
export async function readUse(tx: Tx, mailboxId: MailboxId, now: number): Promise<Use> {
  const row = await useSince.first(tx, { mailboxId, hour: hourOf(now) - HOURS_PER_DAY });
  return { recipients: row?.recipients ?? 0, newRecipients: row?.newRecipients ?? 0 };
}

const correspondent = statement((db, param: Param<Pick<CorrespondentRow, 'mailboxId' | 'address'>>) =>
  db
    .selectFrom('correspondents')
    .select('lastAt')
    .where('mailboxId', '=', param('mailboxId'))
    .where('address', '=', param('address')),
);

/** Returns the number of addresses that the mailbox has not written to before. */
export async function countNew(tx: Tx, mailboxId: MailboxId, addresses: readonly string[]): Promise<number> {
  let count = 0;
  for (const address of addresses)
    if (!(await correspondent.first(tx, { mailboxId, address: addressKey(address) }))) count += 1;
  return count;
}

const addUse = statement((db, param: Param<SubmissionCountRow>) =>
  db
    .insertInto('submissionCounts')
    .values({
      mailboxId: param('mailboxId'),
      hour: param('hour'),
      recipients: param('recipients'),
      newRecipients: param('newRecipients'),
    })
    .onConflict((conflict) =>
      conflict.columns(['mailboxId', 'hour']).doUpdateSet(({ ref, eb }) => ({
        recipients: eb('submissionCounts.recipients', '+', ref('excluded.recipients')),
        newRecipients: eb('submissionCounts.newRecipients', '+', ref('excluded.newRecipients')),
      })),
    ),
);

const upsertCorrespondent = statement((db, param: Param<CorrespondentRow>) =>
  db
    .insertInto('correspondents')
    .values({ mailboxId: param('mailboxId'), address: param('address'), lastAt: param('lastAt') })
    .onConflict((conflict) =>
      conflict
        .columns(['mailboxId', 'address'])
        .doUpdateSet(({ ref }) => ({ lastAt: ref('excluded.lastAt') })),
    ),
);

type Recording = { mailboxId: MailboxId; addresses: readonly string[]; now: number };

/** Counts the recipients of a message and remembers their addresses, as part of the write that accepts it. */
export async function recordRecipients(tx: Tx, { mailboxId, addresses, now }: Recording): Promise<void> {
  const newRecipients = await countNew(tx, mailboxId, addresses);
  await addUse.all(tx, { mailboxId, hour: hourOf(now), recipients: addresses.length, newRecipients });
  for (const address of addresses)
    await upsertCorrespondent.all(tx, { mailboxId, address: addressKey(address), lastAt: now });
}

function hourOf(now: number): number {
  return Math.floor(now / HOUR_MS);
}

/** Finds a mailbox that was deleted and whose correspondents are still known. The owners are found by the index, one after the other. */
const deletedOwner = sql<{ id: MailboxId }>`
  WITH RECURSIVE owners(id) AS (
    SELECT min("mailboxId") FROM correspondents
    UNION ALL
    SELECT (SELECT min("mailboxId") FROM correspondents WHERE "mailboxId" > owners.id) FROM owners WHERE owners.id IS NOT NULL
  )
  SELECT id FROM owners WHERE id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM mailboxes WHERE mailboxes.id = owners.id) LIMIT 1`;

/** Deletes the counts of days that are over, addresses to which nobody has written since `before`, and those of deleted mailboxes. */
export const expireLimits = defineWrite(
  'submission.expireLimits',
  async (tx, { now, before, rows }: { now: number; before: number; rows: number }): Promise<ExpirySlice> => {
    const owner = (await deletedOwner.execute(tx)).rows[0]?.id ?? '';
    const counts = await tx
      .deleteFrom('submissionCounts')
      .where(({ eb, refTuple, selectFrom }) =>
        eb(
          refTuple('mailboxId', 'hour'),
          'in',
          selectFrom('submissionCounts')
            .select(['mailboxId', 'hour'])
            .where('hour', '<=', hourOf(now) - HOURS_PER_DAY)
            .limit(rows)
            .$asTuple('mailboxId', 'hour'),
        ),
      )
      .executeTakeFirst();
    const addresses = await tx
      .deleteFrom('correspondents')
      .where(({ eb, refTuple, selectFrom }) =>
        eb(
          refTuple('mailboxId', 'address'),
          'in',
          selectFrom('correspondents')
            .select(['mailboxId', 'address'])
            .where(owner === '' ? sql<boolean>`"lastAt" < ${before}` : sql<boolean>`"mailboxId" = ${owner}`)
            .limit(rows)
            .$asTuple('mailboxId', 'address'),
        ),
      )
      .executeTakeFirst();
    const deleted = [counts, addresses].map(({ numDeletedRows }) => Number(numDeletedRows));
    const isWhole = owner === '' && deleted.every((number) => number < rows);
    return { next: isWhole ? undefined : 'more', deleted: deleted.reduce((sum, number) => sum + number, 0) };
  },
  { priority: 'bulk' },
);
