/** STORE (RFC 9051 section 6.4.6), with UNCHANGEDSINCE (RFC 7162 section 3.1.3). */
import { bad } from '../command-error.ts';
import type { Cursor } from '../parser/cursor.ts';
import { parseStoreFlags } from '../parser/flags.ts';
import { parseSequenceSet } from '../parser/sequence-set.ts';
import type { StoreQuery } from '../session.ts';
import { type Command, defineCommand, enableFeatures, sendChunks, writableOf } from './command.ts';

export const store = storeCommand('STORE', false);
export const uidStore = storeCommand('UID STORE', true);

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
  cursor.end();
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
