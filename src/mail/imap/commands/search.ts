/** SEARCH (RFC 9051 section 6.4.4, RFC 3501 section 6.4.4), and SORT and THREAD, which are forms of it (RFC 5256 section 3). */

import type { Cursor } from '../parser/cursor.ts';
import { parseSearch, parseSort, parseThread, RETURN_ALL } from '../parser/search.ts';
import { leavesOf, type SearchKey } from '../search-key.ts';
import type { Arrangement, SearchReturn } from '../session.ts';
import { type Command, defineCommand, enableFeatures, selectedOf, sendChunks } from './command.ts';

/** SEARCH (RFC 9051 section 6.4.4, RFC 3501 section 6.4.4), and SORT and THREAD, which are forms of it (RFC 5256 section 3). */

type Arguments = { esearch: SearchReturn | undefined; keys: SearchKey[]; arrangement: Arrangement };

function searchCommand(name: string, uid: boolean, parse: (cursor: Cursor) => Arguments): Command {
  return defineCommand({
    name,
    states: 'selected',
    isLong: true,
    changes: uid ? 'all' : 'withoutExpunge',
    parse,
    async run(connection, { esearch, keys, arrangement }, tag) {
      if (keys.flatMap(leavesOf).some(({ kind }) => kind === 'modseq'))
        enableFeatures(connection, { condstore: true });
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

/** CANCELUPDATE (RFC 5267 section 4.3.5): ends the updates of searches. */
const cancelUpdate = defineCommand({
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

/** Commands that search. */
export const SEARCH_COMMANDS: readonly Command[] = [
  searchCommand('SEARCH', false, readSearch),
  searchCommand('UID SEARCH', true, readSearch),
  searchCommand('SORT', false, readSort),
  searchCommand('UID SORT', true, readSort),
  searchCommand('THREAD', false, readThread),
  searchCommand('UID THREAD', true, readThread),
  cancelUpdate,
];
