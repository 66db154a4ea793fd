/** The methods of a session about the folder that it has selected. */
import type { Refusal, SelectedMailbox } from '../../../mail/imap/session.ts';
import { copyTo, moveTo } from './copy.ts';
import { expungeDeleted } from './expunge.ts';
import { fetchMessages } from './fetch.ts';
import { reportChanges } from './report-changes.ts';
import { searchMessages } from './search.ts';
import type { SelectedState } from './session-state.ts';
import { storeFlags } from './store-flags.ts';

/** Returns the selected mailbox of a session. `end` frees what the selection holds. */
export function createSelected(selected: SelectedState, end: () => void): SelectedMailbox {
  const { view } = selected;
  return {
    fetch: (query) => fetchMessages(selected, query),
    store: (query) => storeFlags(selected, query),
    search: (query) => searchMessages(selected, query),
    async cancelUpdates(tags) {
      selected.contexts.cancel(tags);
      return undefined;
    },
    copy: (query) => copyTo(selected, query),
    move: (query) => moveTo(selected, query),
    expunge: (uids) => expungeDeleted(selected, uids),
    changes: (kind) => reportChanges(selected, kind),
    async close({ expunge }): Promise<Refusal | undefined> {
      if (expunge && !view.isReadOnly) await expungeDeleted(selected, undefined);
      end();
      return undefined;
    },
  };
}
