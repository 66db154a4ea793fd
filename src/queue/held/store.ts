/** Reads held recipients, and the suspects that may be held later (suspect.ts). queue/store.ts writes them. */
import { sql } from 'kysely';
import type { Tx } from '../../db/operation.ts';
import { statement } from '../../db/statement.ts';
import type { RecipientRow } from '../../db/tables.ts';

/**
 * The condition is literal, because SQLite uses a partial index (`recipientsSuspect`) only when it can see that the
 * condition of the index holds. The number is `SUSPECT_FROM_INTERRUPTIONS`.
 */
const isSuspect = sql<boolean>`interruptedAttempts >= 2 AND state IN ('ready', 'in_flight')`;

type Suspect = Pick<RecipientRow, 'messageId' | 'queue' | 'interruptedAttempts'>;

const waitingSuspect = statement((db) =>
  db
    .selectFrom('recipients')
    .select(['messageId', 'queue', 'interruptedAttempts'])
    .where(isSuspect)
    .where('dueAt', 'is', null)
    // The claim would park it again, and the probes of others would wait for it.
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('messages')
            .innerJoin('broadcasts', 'broadcasts.id', 'messages.broadcastId')
            .select('messages.id')
            .whereRef('messages.id', '=', 'recipients.messageId')
            .where('broadcasts.status', '=', sql.lit('paused')),
        ),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('tenants')
            .select('tenants.id')
            .where(sql<boolean>`tenants.status <> 'active'`)
            .where(sql<boolean>`recipients.queue LIKE '% ' || tenants.id || ' %'`),
        ),
      ),
    )
    .orderBy('interruptedAttempts')
    .orderBy('id')
    .limit(1),
);

/**
 * Returns the suspect whose probe is next: the oldest of those with the fewest interrupted attempts. Copies of a paused
 * broadcast, and mail of a suspended tenant, wait until it is resumed.
 */
export function findWaitingSuspect(tx: Tx): Promise<Suspect | undefined> {
  return waitingSuspect.first(tx, {});
}

const suspectsOnProbe = statement((db) =>
  db
    .selectFrom('recipients')
    .select(({ fn }) => fn.max('interruptedAttempts').as('interruptedAttempts'))
    .where(isSuspect)
    .where('dueAt', 'is not', null),
);

/** Returns the largest number of interrupted attempts of a suspect that is due or in flight; undefined when there is none. */
export async function findMaxInterruptedOnProbe(tx: Tx): Promise<number | undefined> {
  return (await suspectsOnProbe.first(tx, {}))?.interruptedAttempts ?? undefined;
}

const dueSuspects = statement((db) =>
  db
    .selectFrom('recipients')
    .select('messageId')
    .where(isSuspect)
    .where('state', '=', 'ready')
    .where('dueAt', 'is not', null),
);

/** Returns the ids of messages with suspects that are due and not in flight. */
export async function listDueSuspects(tx: Tx): Promise<string[]> {
  return [...new Set((await dueSuspects.all(tx, {})).map(({ messageId }) => messageId))];
}

/** The condition is literal, for the partial index `recipientsHeldByReason`. */
const isHeld = sql<boolean>`recipients.state = 'held'`;

const heldCount = statement((db) =>
  db
    .selectFrom('recipients')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where(isHeld)
    .where(sql<boolean>`"holdReason" IS NOT 'approval'`),
);

/** Returns the number of held recipients of all tenants that wait for the operator, and not for the approval of a tenant. */
export async function countHeld(tx: Tx): Promise<number> {
  return (await heldCount.first(tx, {}))?.count ?? 0;
}
