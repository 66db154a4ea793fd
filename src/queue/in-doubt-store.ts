/** Reads which mail of a copied database may have left the installation that it is a copy of. queue/store.ts writes the rows. */
import type { Database } from 'better-sqlite3';
import { kyselyOn } from '../db/dialect.ts';
import type { Tables } from '../db/tables.ts';

/**
 * A recipient whose mail may have left. `in_flight`: an attempt was running. `ready`: it was due. `due_since`: it became due after the
 * state that the copy has.
 */
export type RecipientInDoubt = {
  id: string;
  address: string;
  messageId: string;
  doubt: 'in_flight' | 'ready' | 'due_since';
};

/** Yields the recipients of a database of the time `takenAt` whose mail may have left by `now`, both in Unix milliseconds. */
export function* eachRecipientInDoubt(
  database: Database,
  { takenAt, now }: { takenAt: number; now: number },
): Generator<RecipientInDoubt> {
  const recipients = kyselyOn<Tables>(database)
    .selectFrom('recipients')
    .select(['recipients.id', 'address', 'messageId', 'dueAt']);
  const inFlight = recipients.where('state', '=', 'in_flight').compile();
  for (const row of iterate(database, inFlight)) yield { ...named(row), doubt: 'in_flight' };
  const due = recipients
    .where('state', 'in', ['ready', 'deferred'])
    .where('dueAt', '<=', now)
    .orderBy('dueAt')
    .compile();
  for (const row of iterate(database, due))
    yield { ...named(row), doubt: (row.dueAt ?? 0) <= takenAt ? 'ready' : 'due_since' };
}

type Row = { id: string; address: string; messageId: string; dueAt: number | null };

function iterate(
  database: Database,
  { sql, parameters }: { sql: string; parameters: readonly unknown[] },
): IterableIterator<Row> {
  return database.prepare<unknown[], Row>(sql).iterate(...parameters);
}

function named({ id, address, messageId }: Row): Omit<RecipientInDoubt, 'doubt'> {
  return { id, address, messageId };
}
