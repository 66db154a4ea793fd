/** SEARCH (RFC 9051 section 6.4.4, RFC 3501 section 6.4.4). */
import { parseSearch, RETURN_ALL } from '../parser/search.ts';
import type { SearchKey } from '../search-key.ts';
import { type Command, defineCommand, enableFeatures, selectedOf, sendChunks } from './command.ts';

export const search = searchCommand('SEARCH', false);
export const uidSearch = searchCommand('UID SEARCH', true);

function searchCommand(name: string, uid: boolean): Command {
  return defineCommand({
    name,
    states: 'selected',
    changes: uid ? 'all' : 'withoutExpunge',
    parse: (cursor) => parseSearch(cursor),
    async run(connection, { esearch, keys }, tag) {
      if (keys.some(hasModseq)) enableFeatures(connection, { condstore: true });
      // IMAP4rev2 has no SEARCH response (RFC 9051 section 7.3.4).
      const form = esearch ?? (connection.features.rev2 ? RETURN_ALL : undefined);
      return await sendChunks(connection, selectedOf(connection).search({ keys, uid, tag, esearch: form }));
    },
  });
}

/** The parser limits how deep keys are nested. */
function hasModseq(key: SearchKey): boolean {
  switch (key.kind) {
    case 'modseq':
      return true;
    case 'not':
      return hasModseq(key.key);
    case 'and':
    case 'or':
      return key.keys.some(hasModseq);
    default:
      return false;
  }
}
