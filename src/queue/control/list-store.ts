/** Lists recipients that wait, are held or are being sent to, for the operator. It reads a bounded number of rows, however many there are. */
import { type RawBuilder, sql } from 'kysely';
import { defineRead, type Tx } from '../../db/operation.ts';
import type { RecipientRow, RecipientState } from '../../db/tables.ts';
import { listRecipients } from '../store.ts';
import { covers, type Selection } from './selection.ts';
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
    const isListed = (recipient: RecipientRow) =>
      (query.state === null || recipient.state === query.state) && covers(query, recipient, isAtSite);
    const list = new List(query.limit, isListed);
    if (query.emailId !== null) {
      for (const recipient of await listRecipients(tx, query.emailId))
        if (isOpen(recipient)) list.add(recipient);
      return list.answer();
    }
    if (query.state === 'in_flight' || query.state === null) await list.read(tx, IN_FLIGHT);
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

/** Number of rows that are read at once. */
const ROWS_PER_READ = 1_000;

/** The recipients of an answer while it is made. */
class List {
  readonly #limit: number;
  readonly #isListed: (recipient: RecipientRow) => boolean;
  readonly #recipients: RecipientRow[] = [];
  #examined = 0;
  /** True when not everything was examined. */
  isCut = false;

  constructor(limit: number, isListed: (recipient: RecipientRow) => boolean) {
    this.#limit = limit;
    this.#isListed = isListed;
  }

  get isFull(): boolean {
    return this.isCut || this.#recipients.length > this.#limit;
  }

  add(recipient: RecipientRow): void {
    this.#examined++;
    if (this.#isListed(recipient)) this.#recipients.push(recipient);
  }

  /** Adds the recipients that a condition finds, until the list is full. */
  async read(tx: Tx, condition: RawBuilder<unknown>): Promise<void> {
    for (let offset = 0; !this.isFull; offset += ROWS_PER_READ) {
      const { rows } = await sql<RecipientRow>`SELECT * FROM recipients WHERE ${condition}
        LIMIT ${ROWS_PER_READ} OFFSET ${offset}`.execute(tx);
      for (const row of rows) this.add(row);
      if (rows.length < ROWS_PER_READ) return;
      if (this.#examined >= MAX_EXAMINED) this.isCut = true;
    }
  }

  answer(): ListedRecipients {
    const recipients = this.#recipients.slice(0, this.#limit);
    return { recipients, hasMore: this.isCut || this.#recipients.length > this.#limit };
  }
}
