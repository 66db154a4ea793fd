/** Returns items of new messages without being asked each time (RFC 5465 sections 5.2 and 7). */
import type { FetchItem } from '../../mail/imap/fetch-item.ts';
import type { Chunks } from '../../mail/imap/session.ts';
import { createPause } from '../../system/slices.ts';
import { fetchMessages } from './fetch.ts';
import type { SelectedState } from './session-state.ts';

/** Items that the client wants of one message: a few lists, which many messages share. */
type Lists = readonly (readonly FetchItem[])[];

/** Items that the client wants of new messages, by UID. */
export type WantedItems = Map<number, Lists>;

/** Adds items to those that are wanted of a message. They are joined when they are returned, because the messages can be many. */
export function wantItems(wanted: WantedItems, uid: number, items: readonly FetchItem[]): void {
  if (items.length > 0) wanted.set(uid, [...(wanted.get(uid) ?? []), items]);
}

/** Returns each item once (RFC 5465 section 5.2). */
function join(lists: Lists): FetchItem[] {
  return [...new Map(lists.flat().map((item) => [JSON.stringify(item), item])).values()];
}

function areSame(one: Lists, other: Lists): boolean {
  return one.length === other.length && one.every((list, index) => list === other[index]);
}

/** Yields a FETCH response for each of the messages, whose UIDs rise. */
export async function* fetchNew(selected: SelectedState, wanted: WantedItems): Chunks {
  const { view, features } = selected;
  const groups: { from: number; to: number; lists: Lists }[] = [];
  for (const [uid, lists] of wanted) {
    const number = view.numberOf(uid);
    const last = groups.at(-1);
    if (last?.to === number - 1 && areSame(last.lists, lists)) last.to = number;
    else if (number > 0) groups.push({ from: number, to: number, lists });
  }
  const pause = createPause(selected.shared.account.app.clock);
  for (const { from, to, lists } of groups) {
    await pause();
    const items = join(lists);
    const named = features().qresync && !items.some(({ kind }) => kind === 'UID');
    const query = {
      set: [[from, to]] as const,
      uid: false,
      // Clients with QRESYNC know messages by UID alone (RFC 7162 section 3.2.10).
      items: named ? [{ kind: 'UID' } as const, ...items] : items,
      changedSince: undefined,
      vanished: false,
      partial: undefined,
    };
    yield* fetchMessages(selected, query);
  }
  return undefined;
}
