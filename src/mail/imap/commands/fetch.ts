/** FETCH (RFC 9051 section 6.4.5). */
import { AppError } from '../../../system/errors.ts';
import { CommandError } from '../command-error.ts';
import { ClientGone, ConnectionFault } from '../fault.ts';
import type { FetchItem } from '../fetch-item.ts';
import type { Cursor } from '../parser/cursor.ts';
import { parseFetchItems } from '../parser/fetch-items.ts';
import { parseSequenceSet } from '../parser/sequence-set.ts';
import type { FetchQuery } from '../session.ts';
import {
  type Command,
  type Connection,
  defineCommand,
  enableFeatures,
  type Result,
  selectedOf,
  sendChunks,
} from './command.ts';

export const fetch = fetchCommand('FETCH', false);
export const uidFetch = fetchCommand('UID FETCH', true);

function fetchCommand(name: string, uid: boolean): Command {
  return defineCommand({
    name,
    states: 'selected',
    changes: uid ? 'all' : 'withoutExpunge',
    parse: (cursor) => parseFetch(cursor, uid),
    run: runFetch,
  });
}

function parseFetch(cursor: Cursor, uid: boolean): FetchQuery {
  cursor.space();
  const set = parseSequenceSet(cursor);
  cursor.space();
  const items = parseFetchItems(cursor);
  const changedSince = parseModifier(cursor);
  cursor.end();
  const has = (kind: FetchItem['kind']): boolean => items.some((item) => item.kind === kind);
  if (uid && !has('UID')) items.unshift({ kind: 'UID' });
  // CHANGEDSINCE asks for MODSEQ as well (RFC 7162 section 3.1.4.1).
  if (changedSince !== undefined && !has('MODSEQ')) items.push({ kind: 'MODSEQ' });
  return { set, uid, items, changedSince };
}

/** iOS sends CHANGEDSINCE 0, which RFC 7162 does not allow; every message was changed since then. */
function parseModifier(cursor: Cursor): number | undefined {
  if (cursor.isAtEnd) return undefined;
  cursor.space();
  cursor.expect('(CHANGEDSINCE ');
  const changedSince = cursor.number();
  cursor.expect(')');
  return changedSince;
}

async function runFetch(connection: Connection, query: FetchQuery): Promise<Result> {
  if (query.items.some(({ kind }) => kind === 'MODSEQ')) enableFeatures(connection, { condstore: true });
  try {
    return await sendChunks(connection, selectedOf(connection).fetch(query));
  } catch (error) {
    const isExpected = [AppError, ClientGone, CommandError, ConnectionFault].some(
      (type) => error instanceof type,
    );
    if (isExpected) throw error;
    // After NO, many clients take the messages that they did not get for messages that do not exist.
    connection.context.log.error({ err: error }, 'IMAP session failed');
    throw new ConnectionFault('session', '[SERVERBUG] The server failed to read a message');
  }
}
