/** Groups messages that a search has found into threads (RFC 5256). */
import { writeThreads } from '../../mail/imap/encode/search.ts';
import type { Arrangement } from '../../mail/imap/session.ts';
import type { ThreadRow } from '../../mail/imap/thread.ts';
import { threadMessages } from '../../mail/imap/thread.ts';
import { MAX_REFERENCES, type SortKeys } from '../../mail/message/sort-keys.ts';
import { nextSlice } from '../../system/slices.ts';
import type { Column } from '../stored-message-store.ts';
import { type Arranging, readRows, runInSlices } from './arrange.ts';
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
    await nextSlice();
    yield NOTHING_YET;
  }
  const threads = yield* runInSlices(selected, threadMessages(algorithm, rows));
  return yield* runInSlices(selected, writeThreads(threads));
}

/**
 * Memory of the references of all messages of one command, in bytes: an eighth of the heap of the thread (`HEAP_MEGABYTES` of
 * account/part.ts), which is enough for ten references of each of 30,000 messages.
 */
const MAX_REFERENCES_BYTES = 64 * 1024 * 1024;
/** Memory of a reference beside its characters: entries of lists and maps, and a node. */
const BYTES_PER_REFERENCE = 128;

/**
 * The references of messages, within the limit of memory. When all together are too many, each message keeps the newest ones, as if its
 * References field had been truncated by a mail program.
 */
export class HeldReferences {
  readonly #rows: ThreadRow[] = [];
  #bytes = 0;
  #maxPerMessage = MAX_REFERENCES;
  readonly #maxBytes: number;

  constructor(maxBytes = MAX_REFERENCES_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Sets the references of a message, which are JSON. */
  add(row: ThreadRow, json: string): void {
    row.thread.references = JSON.parse(json) as string[];
    this.#rows.push(row);
    this.#bytes += this.#trim(row);
    while (this.#bytes > this.#maxBytes && this.#maxPerMessage > 1) {
      this.#maxPerMessage = Math.ceil(this.#maxPerMessage / 2);
      this.#bytes = 0;
      for (const one of this.#rows) this.#bytes += this.#trim(one);
    }
  }

  /** Drops the oldest references of a message that has too many, and returns the memory of the others. */
  #trim({ thread }: ThreadRow): number {
    if (thread.references.length > this.#maxPerMessage)
      thread.references = thread.references.slice(-this.#maxPerMessage);
    return thread.references.reduce((bytes, id) => bytes + BYTES_PER_REFERENCE + id.length, 0);
  }
}
