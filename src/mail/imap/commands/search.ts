/** SEARCH (RFC 9051 section 6.4.4, RFC 3501 section 6.4.4), and SORT and THREAD, which are forms of it (RFC 5256 section 3). */
import type { Cursor } from '../parser/cursor.ts';
import { parseSearch, RETURN_ALL } from '../parser/search.ts';
import { parseSort } from '../parser/sort.ts';
import { parseThread } from '../parser/thread.ts';
import type { SearchKey } from '../search-key.ts';
import type { Arrangement, SearchReturn } from '../session.ts';
import { type Command, defineCommand, enableFeatures, selectedOf, sendChunks } from './command.ts';

/** SEARCH (RFC 9051 section 6.4.4, RFC 3501 section 6.4.4), and SORT and THREAD, which are forms of it (RFC 5256 section 3). */
export const search = searchCommand('SEARCH', false, readSearch);
export const uidSearch = searchCommand('UID SEARCH', true, readSearch);
export const sort = searchCommand('SORT', false, readSort);
export const uidSort = searchCommand('UID SORT', true, readSort);
export const thread = searchCommand('THREAD', false, readThread);
export const uidThread = searchCommand('UID THREAD', true, readThread);

type Arguments = { esearch: SearchReturn | undefined; keys: SearchKey[]; arrangement: Arrangement };

function searchCommand(name: string, uid: boolean, parse: (cursor: Cursor) => Arguments): Command {
  return defineCommand({
    name,
    states: 'selected',
    isLong: true,
    changes: uid ? 'all' : 'withoutExpunge',
    parse,
    async run(connection, { esearch, keys, arrangement }, tag) {
      if (keys.some(hasModseq)) enableFeatures(connection, { condstore: true });
      // IMAP4rev2 has no SEARCH response (RFC 9051 section 7.3.4).
      const isRev2Search = connection.features.rev2 && arrangement.kind === 'search';
      const form = esearch ?? (isRev2Search ? RETURN_ALL : undefined);
      const query = { keys, uid, tag, esearch: form, arrangement };
      return await sendChunks(connection, selectedOf(connection).search(query));
    },
  });
}

function readSearch(cursor: Cursor): Arguments {
  return { ...parseSearch(cursor), arrangement: { kind: 'search' } };
}

function readSort(cursor: Cursor): Arguments {
  const { criteria, ...others } = parseSort(cursor);
  return { ...others, arrangement: { kind: 'sort', criteria } };
}

function readThread(cursor: Cursor): Arguments {
  const { algorithm, keys } = parseThread(cursor);
  return { esearch: undefined, keys, arrangement: { kind: 'thread', algorithm } };
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

/** CANCELUPDATE (RFC 5267 section 4.3.5): ends the updates of searches. */
export const cancelUpdate = defineCommand({
  name: 'CANCELUPDATE',
  states: 'selected',
  parse(cursor) {
    const tags: string[] = [];
    do {
      cursor.space();
      tags.push(cursor.string());
    } while (!cursor.isAtEnd);
    return tags;
  },
  run: (connection, tags) => selectedOf(connection).cancelUpdates(tags),
});
