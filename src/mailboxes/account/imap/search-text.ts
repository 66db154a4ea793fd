/** Decodes the text of a stored message for SEARCH TEXT and SEARCH BODY. */
import { readMimeTree } from '../../../mail/message/mime-tree.ts';
import { readText, type SearchText } from '../../../mail/message/search-text.ts';
import type { OpenAccount } from '../account.ts';
import type { StoredMessage } from '../stored-message-store.ts';
import { MessageOctets } from './sections.ts';

/** Maximum size of a message that is decoded here. Larger ones are decoded in threads that end when it takes too long. */
const MAX_OCTETS_HERE = 64 * 1024;

/** Returns the folded text of a message, with the prefix of its recipient. */
export async function readSearchText(account: OpenAccount, stored: StoredMessage): Promise<SearchText> {
  const octets = await new MessageOctets(account, stored).whole();
  if (octets.length <= MAX_OCTETS_HERE) {
    const root = tryReadTree(octets);
    if (root) return (await readText(octets, root)).search;
  }
  return (await account.app.parser.read(octets, account.id)).search;
}

/** Returns undefined for a message with too many parts. */
function tryReadTree(octets: Buffer): ReturnType<typeof readMimeTree> | undefined {
  try {
    return readMimeTree(octets);
  } catch {
    return undefined;
  }
}
