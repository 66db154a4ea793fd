/** How tools say which part of a list they show. */

type Page = { data: readonly unknown[]; nextCursor?: string | null };

/** Returns a sentence on a page of a list, with the cursor of the next one. `things` is the plural of its items. */
export function saysPage(things: string, { data, nextCursor = null }: Page): string {
  const more =
    nextCursor === null
      ? 'There are no more.'
      : `There are more: call again with startingAfter ${nextCursor}.`;
  return `Number of ${things} shown: ${data.length}. ${more}`;
}
