/** The methods of a session about the folder that it has selected. */

import type { SequenceSet } from '../../mail/imap/sequence-set.ts';
import type {
  ChangeKind,
  Chunks,
  CopyQuery,
  FetchQuery,
  Refusal,
  SearchQuery,
  SelectedMailbox,
  StoreQuery,
} from '../../mail/imap/session.ts';
import { expungeMessages } from '../expunge-messages.ts';
import { DELETED } from '../flags.ts';
import { copyTo, moveTo, REMOVED_PER_COMMIT } from './copy.ts';
import { fetchMessages } from './fetch.ts';
import type { FolderState } from './folder-state.ts';
import { reportChanges } from './report-changes.ts';
import { searchMessages } from './search.ts';
import type { SelectedState } from './session-state.ts';
import { groupsOf } from './slices.ts';
import { storeFlags } from './store-flags.ts';

/** The selected mailbox of a session. `end` frees what the selection holds. */
export class Selected implements SelectedMailbox {
  readonly #selected: SelectedState;
  readonly #end: (selected: SelectedState) => void;

  constructor(selected: SelectedState, end: (selected: SelectedState) => void) {
    this.#selected = selected;
    this.#end = end;
  }

  readonly fetch = (query: FetchQuery): Chunks => fetchMessages(this.#selected, query);

  store(query: StoreQuery): Chunks {
    return storeFlags(this.#selected, query);
  }

  search(query: SearchQuery): Chunks {
    return searchMessages(this.#selected, query);
  }

  async cancelUpdates(tags: readonly string[]): Promise<undefined> {
    this.#selected.contexts.cancel(tags);
    return undefined;
  }

  copy(query: CopyQuery): ReturnType<SelectedMailbox['copy']> {
    return copyTo(this.#selected, query);
  }

  move(query: CopyQuery): ReturnType<SelectedMailbox['move']> {
    return moveTo(this.#selected, query);
  }

  expunge(...[uids]: Parameters<SelectedMailbox['expunge']>): ReturnType<SelectedMailbox['expunge']> {
    return expungeDeleted(this.#selected, uids);
  }

  changes(kind: ChangeKind): Chunks {
    return reportChanges(this.#selected, kind);
  }

  async close({ expunge }: { expunge: boolean }): Promise<Refusal | undefined> {
    if (expunge && !this.#selected.view.isReadOnly) await expungeDeleted(this.#selected, undefined);
    this.#end(this.#selected);
    return undefined;
  }
}

type Ranges = Parameters<typeof expungeMessages.run>[1]['ranges'];

/**
 * Removes the messages with `\Deleted` for EXPUNGE, UID EXPUNGE and CLOSE (RFC 9051 sections 6.4.2, 6.4.3 and 6.4.9), only those with
 * these UIDs when they are given. With QRESYNC the answer is HIGHESTMODSEQ (RFC 7162 sections 3.2.7 and 3.2.9). Many messages are several
 * changes, so that other accounts of the thread go on in between.
 */
async function expungeDeleted(
  { view, account, features }: SelectedState,
  uids: SequenceSet | undefined,
): Promise<{ noticed: string } | undefined> {
  const { folderId } = view.state;
  const named = uids && view.find(uids, true);
  const parts: Ranges[] = named
    ? [...groupsOf(named, REMOVED_PER_COMMIT)].map((group) => view.uidRanges(group))
    : partsOf(view.state);
  let lastModseq: number | undefined;
  for (const ranges of parts) {
    const expunged = await account.db.commit(expungeMessages, { folderId, ranges }, (committed) => {
      if (committed) account.changes.publish({ kind: 'expunged', folderId, ...committed });
    });
    lastModseq = expunged?.modseq ?? lastModseq;
  }
  return lastModseq !== undefined && features().qresync
    ? { noticed: `HIGHESTMODSEQ ${lastModseq}` }
    : undefined;
}

/** Returns the ranges of each commit, which together have all messages with `\Deleted`. */
function partsOf(state: FolderState): Ranges[] {
  const parts: { uidFrom: number; uidTo: number }[] = [];
  let inLast = REMOVED_PER_COMMIT;
  for (let index = 0; index < state.count; index++) {
    if (((state.flags[index] as number) & DELETED) === 0 || state.isGone(index)) continue;
    const uid = state.uids[index] as number;
    if (inLast === REMOVED_PER_COMMIT) {
      parts.push({ uidFrom: uid, uidTo: uid });
      inLast = 0;
    }
    (parts.at(-1) as { uidTo: number }).uidTo = uid;
    inLast++;
  }
  return parts.map((part) => [part]);
}
