/** Reports to a client what has changed in the selected folder since the last report (RFC 9051 section 7.5). */
import { formatNumbers } from '../../mail/imap/sequence-set.ts';
import type { ChangeKind, Chunks } from '../../mail/imap/session.ts';
import { fetchNew, type WantedItems, wantItems } from './fetch-new.ts';
import { Responses } from './responses.ts';
import { flagsItem, loadKeywords, type SelectedState } from './session-state.ts';
import { updateContexts } from './update-contexts.ts';

/**
 * Maximum number of own changes that are kept for a client that does not want to know of flags now, and may later. Beyond it, the client
 * gets its own changes once more.
 */
const MAX_OWN_MODSEQS = 1_000;

/**
 * Yields what was not reported yet: EXPUNGE, EXISTS, RECENT and FETCH responses, and how results of searches have changed.
 * Results leave a list while they still have their sequence numbers (RFC 5267 section 4.3.4), and join it last (RFC 5465 section 7).
 */
export async function* reportChanges(selected: SelectedState, kind: ChangeKind): Chunks {
  const { view, shared, features } = selected;
  const { state, pending } = view;
  if (state.isDeleted && !pending.isDeletedHere)
    return { refused: 'BYE', code: 'UNAVAILABLE', text: 'The mailbox was deleted' };
  const responses = new Responses();
  if (pending.owesHighestModseq)
    responses.add(`* OK [HIGHESTMODSEQ ${state.highestModseq}] The highest modseq\r\n`);
  pending.owesHighestModseq = false;
  responses.add(selected.contexts.removeGone());
  const { messages, flags, items } = selected.events();
  if (kind !== 'withoutExpunge') {
    addRemoved(selected, responses, { onlyOwn: !messages });
    shared.forgetRemoved(state);
  }
  const known = view.count;
  const hasNew = messages && view.addNew() > 0;
  if (hasNew || (kind === 'idle' && pending.mayHaveMissedExists)) {
    responses.add(`* ${view.count} EXISTS\r\n`);
    if (!features().rev2) responses.add(`* ${view.recentCount} RECENT\r\n`);
  }
  pending.mayHaveMissedExists =
    kind !== 'idle' && (hasNew ? pending.isFetching : pending.mayHaveMissedExists);
  if (flags) await addFlags(selected, responses, { known, kind });
  else pending.forgetOwnFlags(MAX_OWN_MODSEQS);
  const wanted: WantedItems = new Map();
  for (let index = known; index < view.count && items.length > 0; index++) {
    const uid = view.uids[index] as number;
    if (!pending.isOwn(uid)) wantItems(wanted, uid, items);
  }
  const updates = await updateContexts(selected, wanted);
  yield* responses.take();
  yield* fetchNew(selected, wanted);
  pending.isFetching = false;
  pending.forgetOwnAdded();
  if (updates !== '') yield Buffer.from(updates);
  return undefined;
}

/** Adds EXPUNGE responses, or VANISHED (RFC 7162 section 3.2.10). */
function addRemoved(
  { view, features }: SelectedState,
  responses: Responses,
  options: { onlyOwn: boolean },
): void {
  const removed = view.removeGone(options);
  if (removed.length === 0) return;
  if (features().qresync) {
    const uids = removed.map(({ uid }) => uid).reverse();
    responses.add(`* VANISHED ${formatNumbers(uids)}\r\n`);
  } else for (const { number } of removed) responses.add(`* ${number} EXPUNGE\r\n`);
}

/** Adds FETCH responses for the messages that the client knew and that others have changed. */
async function addFlags(
  selected: SelectedState,
  responses: Responses,
  { known, kind }: { known: number; kind: ChangeKind },
): Promise<void> {
  const { view, features } = selected;
  const { highestModseq } = view.state;
  const isChanged = highestModseq !== view.reported.modseq;
  const changed = isChanged ? view.unreported(known) : [];
  view.pending.noteReportedFlags(changed);
  const reported = kind === 'idle' ? view.withMissedFlags(changed) : changed;
  await loadKeywords(selected, reported, responses);
  for (const entry of reported) {
    const modseq = features().condstore ? ` MODSEQ (${entry.modseq})` : '';
    responses.add(`* ${entry.number} FETCH (UID ${entry.uid} ${flagsItem(selected, entry)}${modseq})\r\n`);
  }
  if (isChanged) view.reportFlags();
}
