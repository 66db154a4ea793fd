/** REPLACE (RFC 8508): adds a message, and removes another one of the selected mailbox in the same change. */
import { bad } from '../command-error.ts';
import type { Cursor } from '../parser/cursor.ts';
import { parseMailbox } from '../parser/mailbox.ts';
import { parseSequenceSet } from '../parser/sequence-set.ts';
import type { SequenceSet } from '../sequence-set.ts';
import { type AppendMessage, isRefusal } from '../session.ts';
import { readMessages } from './append.ts';
import { accountOf, type Command, defineCommand, sendUntagged, textForm, writableOf } from './command.ts';

export const replace = replaceCommand('REPLACE', false);
export const uidReplace = replaceCommand('UID REPLACE', true);

function replaceCommand(name: string, uid: boolean): Command {
  return defineCommand({
    name,
    states: 'selected',
    parse(cursor, connection) {
      cursor.space();
      const set = parseNumber(cursor);
      cursor.space();
      return { set, mailbox: parseMailbox(cursor, textForm(connection)), cursor };
    },
    async run(connection, { set, mailbox, cursor }) {
      writableOf(connection);
      const messages = onlyOne(readMessages(connection, cursor));
      const answer = await accountOf(connection).append(mailbox, messages, { set, uid });
      if (isRefusal(answer)) return answer;
      // The client learns of the new message before it is told that the old one is gone (RFC 8508 section 4.3).
      sendUntagged(connection, `OK [APPENDUID ${answer.uidValidity} ${answer.uids}] Replaced`);
      const isNoticed = connection.features.qresync && answer.modseq !== undefined;
      return isNoticed ? { noticed: `HIGHESTMODSEQ ${answer.modseq}` } : undefined;
    },
  });
}

/** Reads the number of one message. */
function parseNumber(cursor: Cursor): SequenceSet {
  const set = parseSequenceSet(cursor);
  const isOne = set !== '$' && set.length === 1 && set.every(([from, to]) => from === to);
  return isOne ? set : bad('REPLACE needs the number of one message');
}

/** Refuses a second message, as APPEND takes it (RFC 8508 section 4.7). */
async function* onlyOne(
  messages: AsyncIterable<AppendMessage>,
): AsyncGenerator<AppendMessage, void, undefined> {
  let count = 0;
  for await (const message of messages) {
    if (++count > 1) bad('REPLACE takes one message');
    yield message;
  }
}
