/** APPEND (RFC 9051 section 6.3.12, RFC 3502). Messages are streams, which the session reads. */
import { bad, CommandError } from '../command-error.ts';
import type { Literal } from '../framing.ts';
import { Cursor } from '../parser/cursor.ts';
import { parseDateTime } from '../parser/dates.ts';
import { parseFlagList } from '../parser/flags.ts';
import { parseMailbox } from '../parser/mailbox.ts';
import { type AppendMessage, type InternalDate, isRefusal } from '../session.ts';
import { accountOf, type Connection, defineCommand, framingLimits, textForm } from './command.ts';

export const append = defineCommand({
  name: 'APPEND',
  states: 'authenticated',
  parse(cursor, connection) {
    cursor.space();
    return { mailbox: parseMailbox(cursor, textForm(connection)), cursor };
  },
  async run(connection, { mailbox, cursor }) {
    const first = connection.framing.message;
    if (!first) return bad('APPEND needs a message as a literal');
    const messages = readMessages(connection, cursor, first);
    const answer = await accountOf(connection).append(mailbox, messages);
    if (isRefusal(answer)) return answer;
    return { noticed: `APPENDUID ${answer.uidValidity} ${answer.uids}` };
  },
});

/** Yields the messages of a command, of which the first one was announced. */
export async function* readMessages(
  connection: Connection,
  firstCursor: Cursor,
  firstLiteral: Literal,
): AsyncGenerator<AppendMessage, void, undefined> {
  const { framing, context } = connection;
  let cursor = firstCursor;
  for (let literal = firstLiteral; ; ) {
    const { sizeBytes, isBinary, isSynchronizing } = literal;
    const message = { ...parseMessage(cursor), sizeBytes, isBinary, isSynchronizing };
    if (message.sizeBytes > context.limits.messageBytes)
      throw new CommandError('NO', `A message has at most ${context.limits.messageBytes} octets`, 'TOOBIG');
    // A message without octets cancels the command (RFC 3502 section 6.3.11).
    if (message.sizeBytes === 0) throw new CommandError('NO', 'A message has at least one octet', 'CANNOT');
    yield { ...message, content: framing.readMessage() };
    await readRest(framing.readMessage());
    const next = await framing.continueCommand(framingLimits(connection));
    if (next.kind === 'too large') bad('The command is too large', 'LIMIT');
    cursor = new Cursor(next.bytes);
    if (message.utf8) cursor.expect(')');
    if (next.kind !== 'message') return cursor.end();
    literal = next.literal;
  }
}

/** Reads what stands in front of a message. */
function parseMessage(cursor: Cursor): Pick<AppendMessage, 'flags' | 'internalDate' | 'utf8'> {
  cursor.space();
  let flags: string[] = [];
  if (cursor.isAtList) {
    flags = parseFlagList(cursor);
    cursor.space();
  }
  let internalDate: InternalDate | undefined;
  if (cursor.isAtQuote) {
    internalDate = parseDateTime(cursor);
    cursor.space();
  }
  const utf8 = cursor.skip('UTF8 (');
  cursor.announcement();
  return { flags, internalDate, utf8 };
}

/** Reads the part of a message that the session has left. */
async function readRest(content: AsyncIterable<Buffer>): Promise<void> {
  for await (const _ of content);
}
