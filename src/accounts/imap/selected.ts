/** The methods of a session about the folder that it has selected. */
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
import { copyTo, moveTo } from './copy.ts';
import { expungeDeleted } from './expunge.ts';
import { fetchMessages } from './fetch.ts';
import { reportChanges } from './report-changes.ts';
import { searchMessages } from './search.ts';
import type { SelectedState } from './session-state.ts';
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
