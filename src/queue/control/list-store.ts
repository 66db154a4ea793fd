/** Lists recipients that wait, are held or are being sent to, for the operator. It reads a bounded number of rows, however many there are. */
import { sql } from 'kysely';
import { defineRead, type Tx } from '../../db/operation.ts';
import type { RecipientRow, RecipientState } from '../../db/tables.ts';
import { listRecipients } from '../store.ts';
import { type ListedRow, type Position, positionOf, rowsBehind, type Segment } from './list-position.ts';
import { covers, type IsAtSite, type Selection } from './selection.ts';
import { domainsAt } from './site-store.ts';
import { findNextQueue } from './walk-store.ts';

/** The states of recipients that have not ended. */
export const OPEN_STATES = [
  'ready',
  'deferred',
  'held',
  'in_flight',
] as const satisfies readonly RecipientState[];
export type OpenState = (typeof OPEN_STATES)[number];

type ListQuery = Selection & {
  /** Only recipients in this state; all open ones when it is null. */
  state: OpenState | null;
  /** Maximum number of recipients in the answer. */
  limit: number;
  /** Position at which the list goes on; undefined at the beginning. */
  after?: Position | undefined;
};

type ListedRecipients = {
  recipients: RecipientRow[];
  /** Position of the next page, which may be empty; undefined at the end. */
  next: Position | undefined;
};

/** Maximum number of rows that one list examines: about 50 ms of a reader thread. */
const MAX_EXAMINED = 20_000;
/** Maximum number of delivery queues that one list searches. */
const MAX_SEARCHES = 5_000;

/**
 * Returns recipients that are selected. Without a criterion, those come first that are due first; with one, they are in the order of
 * their delivery queues.
 */
export const listOpen = defineRead(
  'queue.listOpen',
  async (tx, query: ListQuery): Promise<ListedRecipients> => {
    const isAtSite = await domainsAt(tx, query.site);
    const list = new List(query, isAtSite);
    if (query.emailId !== null) {
      const recipients = await listRecipients(tx, query.emailId);
      return {
        recipients: recipients.filter((one) => list.isListed(one)).slice(0, query.limit),
        next: undefined,
      };
    }
    const { after, domain, site, tenantId, kind } = query;
    const segments = segmentsOf(query);
    for (const segment of fromPosition(segments, after)) {
      await list.read(tx, segment);
      if (list.isFull) return list.answer();
    }
    if (domain === null && site === null && tenantId === null && kind === null) return list.answer();
    return readByQueue(tx, { query, list, isAtSite });
  },
);

/** Returns the segments of all delivery queues. With a criterion of delivery queues, mail that waits or is held is found in them. */
function segmentsOf({ state, domain, site, tenantId, kind }: ListQuery): Segment[] {
  const isOfAll = domain === null && site === null && tenantId === null && kind === null;
  const segments: Segment[] = [];
  if (state === null || state === 'in_flight') segments.push({ name: 'inFlight', queue: '' });
  if (isOfAll && state !== 'held' && state !== 'in_flight') segments.push({ name: 'due', queue: '' });
  if (isOfAll && (state === null || state === 'held')) segments.push({ name: 'allHeld', queue: '' });
  return segments;
}

/** Returns the segments from a position on: the first one begins there. */
function fromPosition(segments: readonly Segment[], after: Position | undefined): readonly Position[] {
  if (!after) return segments;
  const index = segments.findIndex(({ name }) => name === after.name);
  return index < 0 ? [] : [after, ...segments.slice(index + 1)];
}

type ByQueue = { query: ListQuery; list: List; isAtSite: IsAtSite };

/** Goes on with the delivery queues that the selection may name. */
async function readByQueue(tx: Tx, { query, list, isAtSite }: ByQueue): Promise<ListedRecipients> {
  const { state, after } = query;
  const states = (['waiting', 'held'] as const).filter((walked) => isWalked(walked, state));
  // The position is behind those of all queues, unless it is in one of them.
  const resumed = after?.queue === '' ? undefined : after;
  let from: string | undefined = resumed?.queue ?? '';
  for (let searches = 0; states.length > 0 && from !== undefined; searches++) {
    if (searches >= MAX_SEARCHES) return list.endAt({ name: states[0] ?? 'waiting', queue: from });
    const found = await findNextQueue(tx, { selection: query, isAtSite, states, from, maxSearches: 1 });
    const { queue } = found;
    if (queue !== undefined) {
      const segments = states.map((name) => ({ name, queue }));
      for (const segment of resumed?.queue === queue ? fromPosition(segments, resumed) : segments) {
        await list.read(tx, segment);
        if (list.isFull) return list.answer();
      }
    }
    from = found.from;
  }
  return list.answer();
}

function isWalked(walked: 'waiting' | 'held', state: OpenState | null): boolean {
  if (state === null) return true;
  return walked === 'held' ? state === 'held' : state === 'ready' || state === 'deferred';
}

/** The recipients of an answer while it is made. */
class List {
  readonly #query: ListQuery;
  readonly #isAtSite: IsAtSite;
  readonly #found: { row: ListedRow; segment: Segment }[] = [];
  /** Number of rows that may still be examined. */
  #left = MAX_EXAMINED;
  /** Position at which the examination ended before the end of the list. */
  #cutAt: Position | undefined;

  constructor(query: ListQuery, isAtSite: IsAtSite) {
    this.#query = query;
    this.#isAtSite = isAtSite;
  }

  get isFull(): boolean {
    return this.#cutAt !== undefined || this.#found.length > this.#query.limit;
  }

  isListed(recipient: RecipientRow): boolean {
    const { state } = this.#query;
    const isWanted =
      state === null ? OPEN_STATES.some((open) => open === recipient.state) : state === recipient.state;
    return isWanted && covers(this.#query, recipient, this.#isAtSite);
  }

  /**
   * Adds the recipients of a segment from a position on, until the list is full. The criteria of a row are compared in the database, because
   * most rows may not meet them; what is being sent may also be of delivery queues that are not selected.
   */
  async read(tx: Tx, position: Position): Promise<void> {
    const { state, class: replyClass, domain, limit } = this.#query;
    const examined = this.#left;
    const behind = rowsBehind(position);
    const { rows } = await sql<ListedRow>`SELECT * FROM (SELECT *, rowid AS row ${behind} LIMIT ${examined})
      WHERE (${state} IS NULL OR state = ${state}) AND (${replyClass} IS NULL OR class = ${replyClass})
        AND (${domain} IS NULL OR domain = ${domain})
      LIMIT ${position.name === 'inFlight' ? MAX_EXAMINED : limit + 1}`.execute(tx);
    for (const row of rows) if (this.isListed(row)) this.#found.push({ row, segment: position });
    if (this.isFull) return;
    const { rows: counts } = await sql<{ count: number }>`SELECT count(*) AS count
      FROM (SELECT 1 ${behind} LIMIT ${examined})`.execute(tx);
    this.#left -= counts[0]?.count ?? 0;
    if (this.#left > 0) return;
    const { rows: ends } = await sql<ListedRow>`SELECT *, rowid AS row ${behind}
      LIMIT 1 OFFSET ${examined - 1}`.execute(tx);
    this.#cutAt = ends[0] && positionOf(position, ends[0]);
  }

  /** Returns the answer when the list was not read to its end. */
  endAt(position: Position): ListedRecipients {
    this.#cutAt = position;
    return this.answer();
  }

  answer(): ListedRecipients {
    const listed = this.#found.slice(0, this.#query.limit);
    const last = listed.at(-1);
    const isMore = this.#found.length > this.#query.limit;
    return {
      recipients: listed.map(({ row }) => row),
      next: isMore && last ? positionOf(last.segment, last.row) : this.#cutAt,
    };
  }
}
