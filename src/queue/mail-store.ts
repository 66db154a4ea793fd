/**
 * Reads a message with some of its recipients. A message may go to 150 sites, and each of their deliveries would otherwise
 * read all of its recipients, twice.
 */
import { sql } from 'kysely';
import type { Tx } from '../db/operation.ts';
import { constant, type Param, statement } from '../db/statement.ts';
import type { RecipientRow } from '../db/tables.ts';
import { findMessage, listRecipients, type SpooledMessage } from './store.ts';

/** A message as a write has read it, with the recipients that the write may change. */
export type Mail = {
  message: SpooledMessage;
  recipients: RecipientRow[];
  /** The states of all other recipients of the message. */
  others: readonly OtherRecipients[];
};

/** Other recipients that share a state. `attempts` is the largest number of attempts among them. */
type OtherRecipients = Pick<RecipientRow, 'state' | 'attempts'>;

/**
 * Returns a message that must exist, with all of its recipients.
 * @throws Error when it does not exist
 */
export async function getMail(tx: Tx, messageId: string): Promise<Mail> {
  const message = await findMessage(tx, messageId);
  if (!message) throw new Error(`message ${messageId} does not exist`);
  return { message, recipients: await listRecipients(tx, messageId), others: [] };
}

type Part = { messageId: string; namesJson: string };

/**
 * Returns the statements that read the recipients of a message whose column has one of the named values, and the states
 * of its other recipients. The plus sign keeps SQLite from an index of the column, which may have a million rows.
 */
function partBy(column: 'id' | 'queue') {
  const isNamed = (param: Param<Part>, is: 'IN' | 'NOT IN') =>
    sql<boolean>`+${sql.ref(column)} ${sql.raw(is)} (SELECT value FROM json_each(${param('namesJson')}))`;
  return {
    named: statement((db, param: Param<Part>) =>
      db
        .selectFrom('recipients')
        .selectAll()
        .where('messageId', '=', constant(param('messageId')))
        .where(isNamed(param, 'IN'))
        .orderBy('position'),
    ),
    others: statement((db, param: Param<Part>) =>
      db
        .selectFrom('recipients')
        .select(['state', sql<number>`max(attempts)`.as('attempts')])
        .where('messageId', '=', constant(param('messageId')))
        .where(isNamed(param, 'NOT IN'))
        .groupBy('state'),
    ),
  };
}

/** Number of recipients up to which a message is read whole, with one query instead of two. */
const FEW_RECIPIENTS = 16;

const firstRecipients = statement((db, param: Param<Pick<Part, 'messageId'>>) =>
  db
    .selectFrom('recipients')
    .selectAll()
    .where('messageId', '=', constant(param('messageId')))
    .orderBy('position')
    .limit(sql.lit(FEW_RECIPIENTS + 1)),
);

const PARTS = { id: partBy('id'), queue: partBy('queue') };

/**
 * Returns a message with some of its recipients: those with one of the ids, or in one of the queues. Returns undefined
 * when the message does not exist.
 */
export async function findMailPart(
  tx: Tx,
  messageId: string,
  { by, names }: { by: keyof typeof PARTS; names: readonly string[] },
): Promise<Mail | undefined> {
  const message = await findMessage(tx, messageId);
  if (!message) return undefined;
  const first = await firstRecipients.all(tx, { messageId });
  if (first.length <= FEW_RECIPIENTS) {
    const { recipients = [], others = [] } = Object.groupBy(first, (recipient) =>
      names.includes(recipient[by]) ? 'recipients' : 'others',
    );
    return { message, recipients, others };
  }
  const part = { messageId, namesJson: JSON.stringify(names) };
  const recipients = await PARTS[by].named.all(tx, part);
  return { message, recipients, others: await PARTS[by].others.all(tx, part) };
}
