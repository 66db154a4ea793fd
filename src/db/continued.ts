/**
 * Lists of the operator that have no ids which sort by time. An answer has one page, and `next` names the place behind it: the `after` of the
 * request for the page that follows. A page costs the same wherever it is.
 */

/** What the answer with a page says beside its items. `next` is null on the last page. */
export type Continuation = { hasMore: boolean; next: string | null };

/** Returns a page of what was found, which has one item more than the page when others follow. `placeOf` names the place of an item. */
export function pageOfFound<Item>(
  found: readonly Item[],
  limit: number,
  placeOf: (item: Item) => string,
): Continuation & { items: Item[] } {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  const hasMore = found.length > limit;
  return { items, hasMore, next: hasMore && last !== undefined ? placeOf(last) : null };
}
