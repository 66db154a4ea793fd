/** Finds mail that has been due for a while and was not claimed. queue/store.ts writes its rows. */
import { sql } from 'kysely';
import { defineRead } from '../../db/operation.ts';
import type { MessageRow, RecipientRow } from '../../db/tables.ts';
import { isWaiting } from '../store.ts';

/** Maximum number of recipients that a slice examines: some 10 ms of a reader thread. */
const MAX_EXAMINED = 1_000;

type Place = { dueAt: number; queue: string; row: number };

/** A recipient that has been due since `dueAt`. */
export type Overdue = Pick<RecipientRow, 'id' | 'messageId' | 'queue' | 'attempts' | 'delayNoticeAt'> &
  Pick<MessageRow, 'kind' | 'expiresAt'> & { dueAt: number };

export type OverdueSlice = { found: Overdue[]; next: Place | undefined };

/** The place before all mail. */
export const FIRST_PLACE: Place = { dueAt: -1, queue: '', row: 0 };

/**
 * Returns a slice of the recipients that were due by `until`, in the order of the index `recipientsDue`, and the place at which the
 * next slice begins; undefined behind the last one.
 */
export const listOverdue = defineRead(
  'queue.listOverdue',
  async (tx, { after, until }: { after: Place; until: number }): Promise<OverdueSlice> => {
    const { dueAt, queue, row } = after;
    const { rows } = await sql<Overdue & { row: number }>`
      SELECT due.id, due."messageId", due.queue, due."dueAt", due.attempts, due."delayNoticeAt", due.rowid AS row, kind, "expiresAt"
        FROM (SELECT *, rowid FROM recipients
               WHERE ${isWaiting} AND ("dueAt", queue, rowid) > (${dueAt}, ${queue}, ${row}) AND "dueAt" <= ${until}
               ORDER BY "dueAt", queue, rowid LIMIT ${MAX_EXAMINED}) AS due
        JOIN messages ON messages.id = due."messageId"
       ORDER BY due."dueAt", due.queue, due.rowid`.execute(tx);
    const last = rows.at(-1);
    const next = last && rows.length === MAX_EXAMINED ? placeOf(last) : undefined;
    return { found: rows.map(({ row: _row, ...overdue }) => overdue), next };
  },
);

function placeOf({ dueAt, queue, row }: Place): Place {
  return { dueAt, queue, row };
}
