/** EXPUNGE (RFC 9051 section 6.4.3) and UID EXPUNGE (section 6.4.9). EXPUNGE responses come as changes. */
import { parseSequenceSet } from '../parser/sequence-set.ts';
import { defineCommand, noArguments, writableOf } from './command.ts';

export const expunge = defineCommand({
  name: 'EXPUNGE',
  states: 'selected',
  isLong: true,
  parse: noArguments,
  run: async (connection) => await writableOf(connection).expunge(undefined),
});

export const uidExpunge = defineCommand({
  name: 'UID EXPUNGE',
  states: 'selected',
  isLong: true,
  parse(cursor) {
    cursor.space();
    const set = parseSequenceSet(cursor);
    cursor.end();
    return set;
  },
  run: async (connection, uids) => await writableOf(connection).expunge(uids),
});
