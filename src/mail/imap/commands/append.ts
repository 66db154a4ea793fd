/** APPEND (RFC 9051 section 6.3.12, RFC 3502, RFC 4469). Messages are streams, which the session reads. */
import { bad, CommandError } from '../command-error.ts';
import type { Connection } from '../connection-state.ts';
import type { Cursor } from '../parser/cursor.ts';
import { parseDateTime } from '../parser/dates.ts';
import { parseFlagList } from '../parser/flags.ts';
import { parseMailbox } from '../parser/mailbox.ts';
import { type AppendMessage, type InternalDate, isRefusal } from '../session.ts';
import { Catenation, continueAt } from './catenate.ts';
import { accountOf, defineCommand, textForm } from './command.ts';

export const append = defineCommand({
  name: 'APPEND',
  states: 'authenticated',
  parse(cursor, connection) {
    cursor.space();
    return { mailbox: parseMailbox(cursor, textForm(connection)), cursor };
  },
  async run(connection, { mailbox, cursor }) {
    const answer = await accountOf(connection).append(mailbox, readMessages(connection, cursor));
    if (isRefusal(answer)) return answer;
    return { noticed: `APPENDUID ${answer.uidValidity} ${answer.uids}` };
  },
});

type Head = Pick<AppendMessage, 'flags' | 'internalDate'> & { form: 'literal' | 'utf8' | 'catenated' };
type Messages = AsyncGenerator<AppendMessage, void, undefined>;

/** Returns the messages of a command. @throws CommandError when what stands in front of the first one is malformed */
export function readMessages(connection: Connection, cursor: Cursor): Messages {
  return readFrom(connection, cursor, parseHead(cursor));
}

async function* readFrom(connection: Connection, firstCursor: Cursor, firstHead: Head): Messages {
  let [cursor, head] = [firstCursor, firstHead];
  for (;;) {
    if (head.form === 'catenated') cursor = yield* readCatenated(connection, cursor, head);
    else cursor = yield* readLiteral(connection, head);
    if (cursor.isAtEnd) return;
    head = parseHead(cursor);
  }
}

/** Reads what stands in front of a message. */
function parseHead(cursor: Cursor): Head {
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
  if (cursor.skip('CATENATE ')) {
    cursor.expect('(');
    return { flags, internalDate, form: 'catenated' };
  }
  const utf8 = cursor.skip('UTF8 ');
  if (utf8) cursor.expect('(');
  cursor.announcement();
  return { flags, internalDate, form: utf8 ? 'utf8' : 'literal' };
}

/** Yields a message that is one literal, and returns the cursor behind it. */
async function* readLiteral(
  connection: Connection,
  { form, ...head }: Head,
): AsyncGenerator<AppendMessage, Cursor, undefined> {
  const { framing, context } = connection;
  const { messageBytes } = context.limits;
  const { sizeBytes, isBinary, isSynchronizing } = framing.message ?? bad('A message is a literal');
  if (sizeBytes > messageBytes)
    throw new CommandError('NO', `A message has at most ${messageBytes} octets`, 'TOOBIG');
  // A message without octets cancels the command (RFC 3502 section 6.3.11).
  if (sizeBytes === 0) throw new CommandError('NO', 'A message has at least one octet', 'CANNOT');
  const utf8 = form === 'utf8';
  yield { ...head, utf8, sizeBytes, isBinary, isSynchronizing, content: framing.readMessage() };
  await readRest(framing.readMessage());
  const cursor = await continueAt(connection);
  if (utf8) cursor.expect(')');
  return cursor;
}

/** Yields a message that is put together, and returns the cursor behind it. */
async function* readCatenated(
  connection: Connection,
  cursor: Cursor,
  { form: _, ...head }: Head,
): AsyncGenerator<AppendMessage, Cursor, undefined> {
  const sizeBytes = connection.context.limits.messageBytes;
  const catenation = new Catenation(connection, cursor);
  const content = catenation.read();
  const facts = { utf8: false, sizeBytes, isBinary: false, isSynchronizing: true };
  yield { ...head, ...facts, isCatenated: true, content };
  if (!catenation.isComplete) throw new Error('the session has not read the message to its end');
  return catenation.cursor;
}

/** Reads the part of a message that the session has left. */
async function readRest(content: AsyncIterable<Buffer>): Promise<void> {
  for await (const _ of content);
}
