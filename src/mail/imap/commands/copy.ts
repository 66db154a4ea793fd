/** COPY (RFC 9051 section 6.4.7), with COPYUID (RFC 4315 section 3). */

import type { Cursor } from '../parser/cursor.ts';
import { parseMailbox } from '../parser/mailbox.ts';
import { parseSequenceSet } from '../parser/sequence-set.ts';
import { type CopyQuery, type CopyResult, isRefusal } from '../session.ts';
import { type Command, type Connection, defineCommand, selectedOf, textForm } from './command.ts';

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
export function parseCopy(cursor: Cursor, connection: Connection, uid: boolean): CopyQuery {
  cursor.space();
  const set = parseSequenceSet(cursor);
  cursor.space();
  const to = parseMailbox(cursor, textForm(connection));
  cursor.end();
  return { set, uid, to };
}

/** Returns the response code for messages that were copied. */
export function copyUid({ uidValidity, from, to }: CopyResult): string {
  return `COPYUID ${uidValidity} ${from} ${to}`;
}
