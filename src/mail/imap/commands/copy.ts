/** Commands that copy, move and remove messages: COPY, MOVE, EXPUNGE and CLOSE. */

import type { Connection } from '../connection-state.ts';
import type { Cursor } from '../parser/cursor.ts';
import { parseMailbox } from '../parser/list.ts';
import { parseSequenceSet } from '../parser/sequence-set.ts';
import { type CopyQuery, type CopyResult, isRefusal } from '../session.ts';
import {
  type Command,
  defineCommand,
  noArguments,
  type Result,
  selectedOf,
  sendUntagged,
  textForm,
  writableOf,
} from './command.ts';

/** COPY (RFC 9051 section 6.4.7), with COPYUID (RFC 4315 section 3). */

function copyCommand(name: string, uid: boolean): Command {
  return defineCommand({
    name,
    states: 'selected',
    isLong: true,
    parse: (cursor, connection) => parseCopy(cursor, connection, uid),
    async run(connection, query) {
      const answer = await selectedOf(connection).copy(query);
      if (isRefusal(answer)) return answer;
      return answer ? { noticed: copyUid(answer) } : { text: 'No message was found' };
    },
  });
}

/** Returns the arguments of COPY and MOVE. */
function parseCopy(cursor: Cursor, connection: Connection, uid: boolean): CopyQuery {
  cursor.space();
  const set = parseSequenceSet(cursor);
  cursor.space();
  return { set, uid, to: parseMailbox(cursor, textForm(connection)) };
}

/** Returns the response code for messages that were copied. */
function copyUid({ uidValidity, from, to }: CopyResult): string {
  return `COPYUID ${uidValidity} ${from} ${to}`;
}

/**
 * MOVE (RFC 9051 section 6.4.8). COPYUID stands in an untagged OK, since the EXPUNGE responses, which come as changes, must
 * follow it.
 */

function moveCommand(name: string, uid: boolean): Command {
  return defineCommand({
    name,
    states: 'selected',
    isLong: true,
    parse: (cursor, connection) => parseCopy(cursor, connection, uid),
    async run(connection, query) {
      const answer = await writableOf(connection).move(query);
      if (isRefusal(answer)) return answer;
      if (answer) sendUntagged(connection, `OK [${copyUid(answer)}] Moved`);
      if (!answer) return { text: 'No message was found' };
      const { modseq, rest } = answer;
      if (rest) return rest;
      return connection.features.qresync && modseq !== undefined
        ? { noticed: `HIGHESTMODSEQ ${modseq}` }
        : undefined;
    },
  });
}

/** Commands that remove messages or end the selection: EXPUNGE, CLOSE and UNSELECT. */

/** EXPUNGE (RFC 9051 section 6.4.3) and UID EXPUNGE (section 6.4.9). EXPUNGE responses come as changes. */
const expunge = defineCommand({
  name: 'EXPUNGE',
  states: 'selected',
  isLong: true,
  parse: noArguments,
  run: async (connection) => await writableOf(connection).expunge(undefined),
});

const uidExpunge = defineCommand({
  name: 'UID EXPUNGE',
  states: 'selected',
  isLong: true,
  parse(cursor) {
    cursor.space();
    return parseSequenceSet(cursor);
  },
  run: async (connection, uids) => await writableOf(connection).expunge(uids),
});

/** CLOSE and UNSELECT (RFC 9051 sections 6.4.1 and 6.4.2): end the selection, with and without an EXPUNGE. */

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

/** Commands that copy, move and remove messages, and those that end the selection. */
export const COPY_COMMANDS: readonly Command[] = [
  copyCommand('COPY', false),
  copyCommand('UID COPY', true),
  moveCommand('MOVE', false),
  moveCommand('UID MOVE', true),
  expunge,
  uidExpunge,
  closeCommand('CLOSE', true),
  closeCommand('UNSELECT', false),
];
