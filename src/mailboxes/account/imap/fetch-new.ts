/** Returns items of new messages without being asked each time (RFC 5465 sections 5.2 and 7). */
import type { FetchItem } from '../../../mail/imap/fetch-item.ts';
import type { Chunks } from '../../../mail/imap/session.ts';
import { fetchMessages } from './fetch.ts';
import type { SelectedState } from './session-state.ts';

/** Items that the client wants of new messages, by UID. */
export type WantedItems = Map<number, readonly FetchItem[]>;

/** Adds items to those that are wanted of a message. Each is returned once (RFC 5465 section 5.2). */
export function wantItems(wanted: WantedItems, uid: number, items: readonly FetchItem[]): void {
  const all = [...(wanted.get(uid) ?? []), ...items];
  if (all.length > 0) wanted.set(uid, [...new Map(all.map((item) => [JSON.stringify(item), item])).values()]);
}

/** Yields a FETCH response for each of the messages, whose UIDs rise. */
export async function* fetchNew(selected: SelectedState, wanted: WantedItems): Chunks {
  const { view, features } = selected;
  const groups: { from: number; to: number; key: string; items: readonly FetchItem[] }[] = [];
  for (const [uid, items] of wanted) {
    const number = view.numberOf(uid);
    const key = JSON.stringify(items);
    const last = groups.at(-1);
    if (last?.to === number - 1 && last.key === key) last.to = number;
    else if (number > 0) groups.push({ from: number, to: number, key, items });
  }
  for (const { from, to, items } of groups) {
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
