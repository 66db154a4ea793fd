/** Commands that remove messages or end the selection: EXPUNGE, CLOSE and UNSELECT. */
import type { Connection } from '../connection-state.ts';
import { parseSequenceSet } from '../parser/sequence-set.ts';
import { type Command, defineCommand, noArguments, type Result, selectedOf, writableOf } from './command.ts';

/** EXPUNGE (RFC 9051 section 6.4.3) and UID EXPUNGE (section 6.4.9). EXPUNGE responses come as changes. */
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

/** CLOSE and UNSELECT (RFC 9051 sections 6.4.1 and 6.4.2): end the selection, with and without an EXPUNGE. */
export const close = closeCommand('CLOSE', true);
export const unselect = closeCommand('UNSELECT', false);

function closeCommand(name: string, expunge: boolean): Command {
  return defineCommand({
    name,
    states: 'selected',
    changes: 'none',
    parse: noArguments,
    run: (connection) => end(connection, expunge),
  });
}

async function end(connection: Connection, expunge: boolean): Promise<Result> {
  const selected = selectedOf(connection);
  const { state } = connection;
  if (state.name !== 'selected') return undefined;
  const refusal = await selected.close({ expunge: expunge && !state.readOnly });
  if (!refusal) connection.state = { name: 'authenticated', account: state.account };
  return refusal;
}
