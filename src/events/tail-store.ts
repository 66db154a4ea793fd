/**
 * Reads the event log in the order in which it was written, for people who look on. Ids are ordered by the time of an event, and one that is
 * committed late would lie behind a reader that has passed it; SQLite numbers the rows of a table as they come (rowid).
 */
import { sql } from 'kysely';
import { defineRead, type Tx } from '../db/operation.ts';
import type { EventRow } from '../db/tables.ts';

/** One line of a tail: the envelope of what happened, never a subject and never content. */
export type TailLine = {
  /** Position of the event in the log. */
  position: number;
  tenantId: EventRow['tenantId'];
  mode: EventRow['mode'];
  type: string;
  /** Time of the event, in Unix milliseconds. */
  at: number;
  emailId: string | null;
  from: string | null;
  /** The recipient, or what else the event is about: an address, the name of a domain, the id of a broadcast. */
  to: string | null;
  /** The reply of a server, or the reason for which mail is held. */
  reply: string | null;
};

/** Lines, with the position up to which the log was read. */
export type TailPage = { lines: TailLine[]; position: number };

/** Maximum length of a text in a line. */
const MAX_TEXT_CHARACTERS = 300;

const position = sql<number>`"events"."rowid"`;

function eventsInOrder(tx: Tx) {
  return tx
    .selectFrom('events')
    .leftJoin('messages', 'messages.id', 'events.emailId')
    .select(['events.tenantId', 'events.mode', 'events.type', 'events.createdAt', 'events.emailId'])
    .select(['events.data', 'messages.sender', position.as('position')]);
}

/** Returns the position of the newest event; 0 when there is none. */
async function newestPosition(tx: Tx): Promise<number> {
  const newest = await tx
    .selectFrom('events')
    .select(position.as('position'))
    .orderBy(position, 'desc')
    .limit(1)
    .executeTakeFirst();
  return newest?.position ?? 0;
}

/**
 * Returns the events behind a position, at most `limit` of them, the oldest first. A position beyond the end, of a log that was restored, is
 * taken for the end.
 */
export const readTail = defineRead(
  'events.readTail',
  async (tx, { after, limit }: { after: number; limit: number }): Promise<TailPage> => {
    const rows = await eventsInOrder(tx).where(position, '>', after).orderBy(position).limit(limit).execute();
    const last = rows.at(-1)?.position ?? Math.min(after, await newestPosition(tx));
    return { lines: rows.map(lineOf), position: last };
  },
);

/** Returns the newest events, at most `limit` of them, the oldest first. */
export const readNewest = defineRead(
  'events.readNewest',
  async (tx, { limit }: { limit: number }): Promise<TailPage> => {
    const rows = await eventsInOrder(tx).orderBy(position, 'desc').limit(limit).execute();
    return { lines: rows.map(lineOf).reverse(), position: rows[0]?.position ?? 0 };
  },
);

type Row = Awaited<ReturnType<ReturnType<typeof eventsInOrder>['execute']>>[number];

type Details = { [Name in 'bounce' | 'delay' | 'hold']?: { diagnostic?: string | null } } & {
  [Name in 'to' | 'from' | 'email' | 'name' | 'broadcastId' | 'id']?: unknown;
};

function lineOf({ data, sender, createdAt, ...row }: Row): TailLine {
  const details = JSON.parse(data) as Details;
  const { bounce, delay, hold } = details;
  return {
    ...row,
    at: createdAt,
    from: sender ?? textOf(details.from),
    to: textOf(details.to ?? details.email ?? details.broadcastId ?? details.name ?? details.id),
    reply: textOf((bounce ?? delay ?? hold)?.diagnostic),
  };
}

function textOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  const text = [value].flat().join(', ');
  return text.length > MAX_TEXT_CHARACTERS ? `${text.slice(0, MAX_TEXT_CHARACTERS)}…` : text;
}
