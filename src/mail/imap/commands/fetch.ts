/** Commands that read messages and change their flags: FETCH (RFC 9051 section 6.4.5) and STORE. */

import { AppError } from '../../../system/errors.ts';
import { ConnectionFault } from '../../access/fault.ts';
import { ClientGone } from '../../connection/client-gone.ts';
import { bad, CommandError } from '../command-error.ts';
import type { Connection } from '../connection-state.ts';
import type { FetchItem } from '../fetch-item.ts';
import type { Cursor } from '../parser/cursor.ts';
import { parseFetchItems } from '../parser/fetch-items.ts';
import { parseStoreFlags } from '../parser/flags.ts';
import { parsePageRange, parseSequenceSet } from '../parser/sequence-set.ts';
import type { FetchQuery, StoreQuery } from '../session.ts';
import {
  type Command,
  defineCommand,
  enableFeatures,
  type Result,
  selectedOf,
  sendChunks,
  writableOf,
} from './command.ts';

function fetchCommand(name: string, uid: boolean): Command {
  return defineCommand({
    name,
    states: 'selected',
    changes: uid ? 'all' : 'withoutExpunge',
    parse: (cursor, connection) => parseFetch(cursor, connection, uid),
    run: runFetch,
  });
}

function parseFetch(cursor: Cursor, { features }: Connection, uid: boolean): FetchQuery {
  cursor.space();
  const set = parseSequenceSet(cursor);
  cursor.space();
  const items = parseFetchItems(cursor);
  const { changedSince, vanished, partial } = parseModifiers(cursor);
  cursor.end();
  if (vanished && !(uid && features.qresync && changedSince !== undefined))
    bad('VANISHED needs UID FETCH, CHANGEDSINCE, and QRESYNC to be enabled');
  if (partial && !uid) bad('PARTIAL needs UID FETCH');
  const has = (kind: FetchItem['kind']): boolean => items.some((item) => item.kind === kind);
  if (uid && !has('UID')) items.unshift({ kind: 'UID' });
  // CHANGEDSINCE asks for MODSEQ as well (RFC 7162 section 3.1.4.1).
  if (changedSince !== undefined && !has('MODSEQ')) items.push({ kind: 'MODSEQ' });
  return { set, uid, items, changedSince, vanished, partial };
}

type Modifiers = Pick<FetchQuery, 'changedSince' | 'vanished' | 'partial'>;

/** iOS sends CHANGEDSINCE 0, which RFC 7162 does not allow; every message was changed since then. */
function parseModifiers(cursor: Cursor): Modifiers {
  const modifiers: Modifiers = { changedSince: undefined, vanished: false, partial: undefined };
  if (cursor.isAtEnd) return modifiers;
  cursor.space();
  cursor.list(() => {
    const name = cursor.word();
    if (name === 'VANISHED') modifiers.vanished = true;
    else if (name === 'PARTIAL' && !modifiers.partial) modifiers.partial = parsePageRange(cursor);
    else if (name === 'CHANGEDSINCE') {
      cursor.space();
      modifiers.changedSince = cursor.number();
    } else bad('FETCH has a modifier that is unknown');
  });
  return modifiers;
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

/** STORE (RFC 9051 section 6.4.6), with UNCHANGEDSINCE (RFC 7162 section 3.1.3). */

const ACTIONS: ReadonlyMap<string, StoreQuery['action']> = new Map([
  ['+', 'add'],
  ['-', 'remove'],
  ['', 'replace'],
]);

function storeCommand(name: string, uid: boolean): Command {
  return defineCommand({
    name,
    states: 'selected',
    changes: uid ? 'all' : 'withoutExpunge',
    parse: (cursor) => parseStore(cursor, uid),
    async run(connection, query) {
      if (query.unchangedSince !== undefined) enableFeatures(connection, { condstore: true });
      return await sendChunks(connection, writableOf(connection).store(query));
    },
  });
}

function parseStore(cursor: Cursor, uid: boolean): StoreQuery {
  cursor.space();
  const set = parseSequenceSet(cursor);
  cursor.space();
  const unchangedSince = parseModifier(cursor);
  const sign = cursor.skip('+') ? '+' : cursor.skip('-') ? '-' : '';
  const item = cursor.word();
  if (item !== 'FLAGS' && item !== 'FLAGS.SILENT') bad('STORE has an item that is unknown');
  cursor.space();
  const flags = parseStoreFlags(cursor);
  const action = ACTIONS.get(sign) ?? 'replace';
  return { set, uid, action, flags, silent: item === 'FLAGS.SILENT', unchangedSince };
}

function parseModifier(cursor: Cursor): number | undefined {
  if (!cursor.isAtList) return undefined;
  cursor.expect('(');
  cursor.expect('UNCHANGEDSINCE ');
  const unchangedSince = cursor.number();
  cursor.expect(')');
  cursor.space();
  return unchangedSince;
}

/** Commands that read messages and change their flags. */
export const FETCH_COMMANDS: readonly Command[] = [
  fetchCommand('FETCH', false),
  fetchCommand('UID FETCH', true),
  storeCommand('STORE', false),
  storeCommand('UID STORE', true),
];
