/** Finds the messages that criteria of text match (RFC 9051 section 6.4.4), in the texts that are stored for searches. */
import { foldText } from '../../mail/message/fold.ts';
import { readHeaderText } from '../../mail/message/search-text.ts';
import { createPause } from '../../system/slices.ts';
import type { OpenAccount } from '../account.ts';
import { searchText } from '../search.ts';
import type { TextKey } from './search-match.ts';

/** Facts of a message that criteria of text need beside its content. */
type Sought = { contentId: number; prefix: Uint8Array | undefined };

type Matches = (message: Sought) => ReadonlySet<TextKey>;

/** Returns the function that tells which criteria a message with one of the contents matches. */
export async function findTexts(
  account: OpenAccount,
  keys: readonly TextKey[],
  contentIds: readonly number[],
): Promise<Matches> {
  const pause = createPause(account.app.clock);
  const found: { key: TextKey; needle: string; contents: ReadonlySet<number> }[] = [];
  for (const key of keys) {
    const needle = foldText(key.text);
    const contents = await searchText(account, { contentIds, needle, where: key.kind });
    found.push({ key, needle, contents });
    // A client may send thousands of criteria.
    await pause();
  }
  return ({ contentId, prefix }) => {
    const header = prefix && readHeaderText(prefix);
    const isMatch = ({ key, needle, contents }: (typeof found)[number]): boolean =>
      contents.has(contentId) || (key.kind === 'text' && header !== undefined && header.includes(needle));
    return new Set(found.filter(isMatch).map(({ key }) => key));
  };
}
