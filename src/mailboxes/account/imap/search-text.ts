/** Finds the messages that criteria of text match (RFC 9051 section 6.4.4), in the texts that are stored for searches. */
import { foldText } from '../../../mail/message/fold.ts';
import { readHeaderText } from '../../../mail/message/search-text.ts';
import type { OpenAccount } from '../account.ts';
import { searchText } from '../search.ts';
import type { TextKey } from './search-match.ts';

/** Facts of a message that criteria of text need beside its content. */
type Sought = { contentId: number; prefix: Uint8Array | undefined };

type Matches = (key: TextKey, message: Sought) => boolean;

/** Returns the function that says which criteria a message with one of the contents matches. */
export async function findTexts(
  account: OpenAccount,
  keys: readonly TextKey[],
  contentIds: readonly number[],
): Promise<Matches> {
  const found = new Map<TextKey, { needle: string; contents: ReadonlySet<number> }>();
  for (const key of keys) {
    const needle = foldText(key.text);
    found.set(key, { needle, contents: await searchText(account, { contentIds, needle, where: key.kind }) });
  }
  return (key, { contentId, prefix }) => {
    const sought = found.get(key);
    if (!sought) return false;
    if (sought.contents.has(contentId)) return true;
    return key.kind === 'text' && prefix !== undefined && readHeaderText(prefix).includes(sought.needle);
  };
}
