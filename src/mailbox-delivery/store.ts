/** Reads the messages that wait for their delivery to a mailbox. */
import { sql } from 'kysely';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import type { Tx } from '../db/operation.ts';
import { constant, type Param, statement } from '../db/statement.ts';

/** Maximum number of waiting messages that are added up. A mailbox with more waits for its repair. */
const MAX_COUNTED = 1_000;

type Waiting = { queue: MailboxRow['id']; limit: number };

const sumOf = statement((db, param: Param<Waiting>) =>
  db
    .selectFrom((from) =>
      from
        .selectFrom('receivedTasks')
        .innerJoin('receivedMessages', 'receivedMessages.id', 'receivedTasks.messageId')
        .select('receivedMessages.sizeBytes as sizeBytes')
        // Literal, for the partial index `receivedTasksOpen`.
        .where(sql<boolean>`"receivedTasks"."state" = 'pending' AND "receivedTasks"."state" <> 'done'`)
        .where('receivedTasks.queue', '=', param('queue'))
        .limit(constant(param('limit')))
        .as('waiting'),
    )
    .select(({ fn }) => fn.sum<number | null>('sizeBytes').as('bytes')),
);

/** Returns the size of the messages that were accepted for a mailbox and are not in it yet, in bytes. */
export async function readWaitingBytes(tx: Tx, mailboxId: MailboxRow['id']): Promise<number> {
  return (await sumOf.first(tx, { queue: mailboxId, limit: MAX_COUNTED }))?.bytes ?? 0;
}
