/**
 * MOVE (RFC 9051 section 6.4.8). COPYUID stands in an untagged OK, since the EXPUNGE responses, which come as changes, must
 * follow it.
 */
import { isRefusal } from '../session.ts';
import { type Command, defineCommand, sendUntagged, writableOf } from './command.ts';
import { copyUid, parseCopy } from './copy.ts';

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
