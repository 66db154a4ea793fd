/** Pages of lists: Resend's `limit`, `after` and `before`, and its envelope. */
import type { Asked, Given } from './call.ts';

/** A page of a list of ours. */
export type Page<Item> = { data: readonly Item[]; hasMore: boolean };

/** Returns the request for a page. */
export function askPage({ query: { limit, after, before } }: Pick<Given, 'query'>): Asked {
  return {
    query: {
      ...(limit !== undefined && { limit }),
      ...(after !== undefined && { startingAfter: after }),
      ...(before !== undefined && { endingBefore: before }),
    },
  };
}

/** Returns the function that shows a page. */
export function showPage<Item>(show: (item: Item) => unknown) {
  return ({ data, hasMore }: Page<Item>) => ({ object: 'list', has_more: hasMore, data: data.map(show) });
}
