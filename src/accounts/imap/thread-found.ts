/** Groups messages that a search has found into threads (RFC 5256). */
import { writeThreads } from '../../mail/imap/encode/threads.ts';
import type { Arrangement } from '../../mail/imap/session.ts';
import { threadMessages } from '../../mail/imap/thread.ts';
import type { ThreadRow } from '../../mail/imap/thread-row.ts';
import type { SortKeys } from '../../mail/message/sort-keys.ts';
import { nextTurn } from '../../system/next-turn.ts';
import type { Column } from '../stored-message-store.ts';
import { type Arranging, readRows, runInSlices } from './arrange.ts';
import { HeldReferences } from './held-references.ts';
import { NOTHING_YET } from './responses.ts';
import type { SelectedState } from './session-state.ts';
import { readStored } from './stored.ts';
import type { Entry } from './view.ts';

type Threading = Extract<Arrangement, { kind: 'thread' }>;

/** Returns the response with the threads, of UIDs or of sequence numbers. Messages that can be read no more are left out. */
export async function* threadFound(
  selected: SelectedState,
  { found, uid }: { found: readonly Entry[]; uid: boolean },
  { algorithm }: Threading,
): Arranging<string> {
  const columns: Column[] = ['sort', 'internalAt'];
  const isByReferences = algorithm === 'REFERENCES';
  if (isByReferences) columns.push('messageId', 'shortReferences');
  const held = new HeldReferences();
  const unread: { entry: Entry; row: ThreadRow }[] = [];
  const rows = yield* readRows(selected, { found, columns }, ({ entry, stored }) => {
    const row: ThreadRow = {
      number: uid ? entry.uid : entry.number,
      internalAt: stored.internalAt,
      keys: JSON.parse(stored.sort) as SortKeys,
      thread: { messageId: stored.messageId, references: [] },
    };
    if (!isByReferences) return row;
    if (stored.shortReferences === null) unread.push({ entry, row });
    else held.add(row, stored.shortReferences);
    return row;
  });
  for (const { entry, row } of unread) {
    const [stored] = await readStored(selected, [entry], ['references']);
    if (stored) held.add(row, stored.references);
    await nextTurn();
    yield NOTHING_YET;
  }
  const threads = yield* runInSlices(selected, threadMessages(algorithm, rows));
  return yield* runInSlices(selected, writeThreads(threads));
}
