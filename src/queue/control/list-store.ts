/** Lists recipients that wait, are held or are being sent to, for the operator. It reads a bounded number of rows, however many there are. */
import { type RawBuilder, sql } from 'kysely';
import { defineRead, type Tx } from '../../db/operation.ts';
import type { RecipientRow, RecipientState } from '../../db/tables.ts';
import { listRecipients } from '../store.ts';
import { covers, type IsAtSite, type Selection } from './selection.ts';
import { domainsAt } from './site-store.ts';
import { findNextQueue, type WalkedState } from './walk-store.ts';

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
};

type ListedRecipients = {
  recipients: RecipientRow[];
  /** True when there may be more. */
  hasMore: boolean;
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
      for (const recipient of await listRecipients(tx, query.emailId))
        if (isOpen(recipient)) list.add(recipient);
      return list.answer();
    }
    if (query.state === 'in_flight' || query.state === null) await list.read(tx, IN_FLIGHT, true);
    const states = STATES_OF[query.state ?? 'ready'];
    if (query.domain === null && query.site === null && query.tenantId === null && query.kind === null) {
      if (states.includes('waiting')) await list.read(tx, DUE_FIRST);
      if (states.includes('held') || query.state === null) await list.read(tx, HELD);
      return list.answer();
    }
    const walked = query.state === null ? (['waiting', 'held'] as const) : states;
    let from = '';
    for (let searches = 0; walked.length > 0 && !list.isFull; searches++) {
      const found = await findNextQueue(tx, {
        selection: query,
        isAtSite,
        states: walked,
        from,
        maxSearches: 1,
      });
      if (found.queue !== undefined)
        for (const state of walked) await list.read(tx, ofQueue(found.queue, state));
      if (found.from === undefined) return list.answer();
      from = found.from;
      if (searches >= MAX_SEARCHES) list.isCut = true;
    }
    return list.answer();
  },
);

/** The states to walk for the state of a recipient. */
const STATES_OF: Record<OpenState, readonly WalkedState[]> = {
  ready: ['waiting'],
  deferred: ['waiting'],
  held: ['held'],
  in_flight: [],
};

function isOpen({ state }: RecipientRow): boolean {
  return OPEN_STATES.some((open) => open === state);
}

/** The conditions are literal, for the partial indexes. */
const IN_FLIGHT = sql`state = 'in_flight'`;
const HELD = sql`state = 'held' ORDER BY queue, "messageId"`;
const DUE_FIRST = sql`state IN ('ready', 'deferred') AND "dueAt" > 0 ORDER BY "dueAt"`;

function ofQueue(queue: string, state: WalkedState): RawBuilder<unknown> {
  return state === 'held'
    ? sql`state = 'held' AND queue = ${queue} ORDER BY "messageId"`
    : sql`state IN ('ready', 'deferred') AND queue = ${queue} ORDER BY "dueAt"`;
}

/** The recipients of an answer while it is made. */
class List {
  readonly #query: ListQuery;
  readonly #isAtSite: IsAtSite;
  readonly #recipients: RecipientRow[] = [];
  /** Number of rows that may still be examined. */
  #left = MAX_EXAMINED;
  /** True when not everything was examined. */
  isCut = false;

  constructor(query: ListQuery, isAtSite: IsAtSite) {
    this.#query = query;
    this.#isAtSite = isAtSite;
  }

  get isFull(): boolean {
    return this.isCut || this.#recipients.length > this.#query.limit;
  }

  add(recipient: RecipientRow): void {
    const { state } = this.#query;
    if (state !== null && state !== recipient.state) return;
    if (covers(this.#query, recipient, this.#isAtSite)) this.#recipients.push(recipient);
  }

  /**
   * Adds the recipients that a condition finds, until the list is full. The criteria of a row are compared in the database, because most
   * rows may not meet them; `hasOthers` says that the condition also finds rows of delivery queues that are not selected.
   */
  async read(tx: Tx, condition: RawBuilder<unknown>, hasOthers = false): Promise<void> {
    if (this.isFull) return;
    const { state, class: replyClass, domain, limit } = this.#query;
    const examined = sql`FROM recipients WHERE ${condition} LIMIT ${this.#left}`;
    const { rows } = await sql<RecipientRow>`SELECT * FROM (SELECT * ${examined})
      WHERE (${state} IS NULL OR state = ${state}) AND (${replyClass} IS NULL OR class = ${replyClass})
        AND (${domain} IS NULL OR domain = ${domain})
      LIMIT ${hasOthers ? MAX_EXAMINED : limit + 1}`.execute(tx);
    for (const row of rows) this.add(row);
    if (this.isFull) return;
    const { rows: counts } = await sql<{ count: number }>`SELECT count(*) AS count
      FROM (SELECT 1 ${examined})`.execute(tx);
    this.#left -= counts[0]?.count ?? 0;
    if (this.#left <= 0) this.isCut = true;
  }

  answer(): ListedRecipients {
    const recipients = this.#recipients.slice(0, this.#query.limit);
    return { recipients, hasMore: this.isCut || this.#recipients.length > this.#query.limit };
  }
}
