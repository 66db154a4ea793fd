/** COPY and MOVE (RFC 9051 sections 6.4.7 and 6.4.8). */
import type { Connection } from '../connection-state.ts';
import type { Cursor } from '../parser/cursor.ts';
import { parseMailbox } from '../parser/mailbox.ts';
import { parseSequenceSet } from '../parser/sequence-set.ts';
import { type CopyQuery, type CopyResult, isRefusal } from '../session.ts';
import { type Command, defineCommand, selectedOf, sendUntagged, textForm, writableOf } from './command.ts';

/** COPY (RFC 9051 section 6.4.7), with COPYUID (RFC 4315 section 3). */
export const copy = copyCommand('COPY', false);
export const uidCopy = copyCommand('UID COPY', true);

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
  const to = parseMailbox(cursor, textForm(connection));
  cursor.end();
  return { set, uid, to };
}

/** Returns the response code for messages that were copied. */
function copyUid({ uidValidity, from, to }: CopyResult): string {
  return `COPYUID ${uidValidity} ${from} ${to}`;
}

/**
 * MOVE (RFC 9051 section 6.4.8). COPYUID stands in an untagged OK, since the EXPUNGE responses, which come as changes, must
 * follow it.
 */
export const move = moveCommand('MOVE', false);
export const uidMove = moveCommand('UID MOVE', true);

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
