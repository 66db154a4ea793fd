/** Puts messages that a search has found into the order of SORT (RFC 5256), and has what THREAD needs of the same kind. */
import type { Arrangement } from '../../mail/imap/session.ts';
import { type SortRow, sortMessages } from '../../mail/imap/sort.ts';
import type { SortKeys } from '../../mail/message/sort-keys.ts';
import { createPause } from '../../system/slices.ts';
import type { Steps } from '../../system/steps.ts';
import type { Column, StoredMessage } from '../stored-message-store.ts';
import { NOTHING_YET } from './responses.ts';
import type { SelectedState } from './session-state.ts';
import { readStored } from './stored.ts';
import type { Entry } from './view.ts';

/** Number of messages whose keys are read at once: subjects and addresses have up to 1,000 characters each. */
const MESSAGES_PER_SLICE = 100;

type Sorting = Extract<Arrangement, { kind: 'sort' }>;

/** Work that yields empty chunks, between which it can be ended, and then returns its result. */
export type Arranging<Result> = AsyncGenerator<Buffer, Result, undefined>;

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
  const sorted = yield* runInSlices(selected, sortMessages(rows, criteria));
  const byNumber = new Map(found.map((entry) => [entry.number, entry]));
  return sorted.flatMap((number) => byNumber.get(number) ?? []);
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

/** Runs a calculation, and lets other work run between its steps. */
export async function* runInSlices<Result>(
  { shared }: SelectedState,
  steps: Steps<Result>,
): Arranging<Result> {
  const pause = createPause(shared.account.app.clock);
  for (let next = steps.next(); ; next = steps.next()) {
    if (next.done) return next.value;
    const turn = pause();
    if (turn === undefined) continue;
    await turn;
    yield NOTHING_YET;
  }
}

type Reading = { found: readonly Entry[]; columns: readonly Column[] };

/** Reads what is compared of messages, in their order. Messages that can be read no more are left out. */
export async function* readRows<Row>(
  selected: SelectedState,
  { found, columns }: Reading,
  rowOf: (message: { entry: Entry; stored: StoredMessage }) => Row,
): Arranging<Row[]> {
  const rows: Row[] = [];
  const pause = createPause(selected.shared.account.app.clock);
  for (let from = 0; from < found.length; from += MESSAGES_PER_SLICE) {
    const slice = found.slice(from, from + MESSAGES_PER_SLICE);
    const messages = await readStored(selected, slice, columns);
    for (const [index, entry] of slice.entries()) {
      const stored = messages[index];
      if (stored) rows.push(rowOf({ entry, stored }));
      const turn = pause();
      if (turn !== undefined) await turn;
    }
    yield NOTHING_YET;
  }
  return rows;
}
