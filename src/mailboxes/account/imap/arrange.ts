/** Puts messages that a search has found into the order of SORT, or into threads (RFC 5256). */
import type { Arrangement } from '../../../mail/imap/session.ts';
import { type SortRow, sortMessages } from '../../../mail/imap/sort.ts';
import { threadMessages } from '../../../mail/imap/thread.ts';
import type { Thread } from '../../../mail/imap/thread-row.ts';
import type { SortKeys } from '../../../mail/message/sort-keys.ts';
import { nextTurn } from '../../../system/next-turn.ts';
import type { Column, StoredMessage } from '../stored-message-store.ts';
import { NOTHING_YET } from './responses.ts';
import type { SelectedState } from './session-state.ts';
import { readStored } from './stored.ts';
import type { Entry } from './view.ts';

/** Number of messages whose keys are read before other work runs. */
const MESSAGES_PER_SLICE = 500;

type Sorting = Extract<Arrangement, { kind: 'sort' }>;
type Threading = Extract<Arrangement, { kind: 'thread' }>;

/** Work that yields empty chunks, between which it can be ended, and then returns its result. */
type Arranging<Result> = AsyncGenerator<Buffer, Result, undefined>;

/** Runs work to its end. */
export async function finish<Result>(work: Arranging<Result>): Promise<Result> {
  for (;;) {
    const next = await work.next();
    if (next.done) return next.value;
  }
}

/** Returns the messages in the order of the criteria. Messages that can be read no more are left out. */
export async function* sortFound(
  selected: SelectedState,
  found: readonly Entry[],
  { criteria }: Sorting,
): Arranging<Entry[]> {
  const rows = yield* readSortRows(selected, found);
  const byNumber = new Map(found.map((entry) => [entry.number, entry]));
  return sortMessages(rows, criteria).flatMap((number) => byNumber.get(number) ?? []);
}

/** Returns what SORT compares of these messages, in their order. Messages that can be read no more are left out. */
export async function* readSortRows(selected: SelectedState, found: readonly Entry[]): Arranging<SortRow[]> {
  return yield* readRows(
    selected,
    { found, columns: ['sort', 'internalAt', 'sizeBytes'] },
    ({ entry, stored }) => ({
      number: entry.number,
      internalAt: stored.internalAt,
      sizeBytes: stored.sizeBytes,
      keys: JSON.parse(stored.sort) as SortKeys,
    }),
  );
}

/** Returns the messages as threads of UIDs or of sequence numbers. Messages that can be read no more are left out. */
export async function* threadFound(
  selected: SelectedState,
  { found, uid }: { found: readonly Entry[]; uid: boolean },
  { algorithm }: Threading,
): Arranging<Thread[]> {
  const columns: Column[] = ['sort', 'messageId', 'references', 'internalAt'];
  const rows = yield* readRows(selected, { found, columns }, ({ entry, stored }) => ({
    number: uid ? entry.uid : entry.number,
    internalAt: stored.internalAt,
    keys: JSON.parse(stored.sort) as SortKeys,
    thread: { messageId: stored.messageId, references: JSON.parse(stored.references) as string[] },
  }));
  return threadMessages(algorithm, rows);
}

type Reading = { found: readonly Entry[]; columns: readonly Column[] };

async function* readRows<Row>(
  selected: SelectedState,
  { found, columns }: Reading,
  rowOf: (message: { entry: Entry; stored: StoredMessage }) => Row,
): Arranging<Row[]> {
  const rows: Row[] = [];
  for (let from = 0; from < found.length; from += MESSAGES_PER_SLICE) {
    const slice = found.slice(from, from + MESSAGES_PER_SLICE);
    const messages = await readStored(selected, slice, columns);
    for (const [index, entry] of slice.entries()) {
      const stored = messages[index];
      if (stored) rows.push(rowOf({ entry, stored }));
    }
    await nextTurn();
    yield NOTHING_YET;
  }
  return rows;
}
