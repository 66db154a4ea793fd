/** APPEND (RFC 9051 section 6.3.12, RFC 3502, RFC 4469) and REPLACE. Messages are streams, which the session reads. */

import { bad, CommandError } from '../command-error.ts';
import type { Connection } from '../connection-state.ts';
import type { Literal } from '../framing.ts';
import { MAX_URL_OCTETS } from '../message-url.ts';
import { Cursor } from '../parser/cursor.ts';
import { parseDateTime } from '../parser/dates.ts';
import { parseFlagList } from '../parser/flags.ts';
import { parseMailbox } from '../parser/list.ts';
import { parseSequenceSet } from '../parser/sequence-set.ts';
import type { SequenceSet } from '../sequence-set.ts';
import { type AppendMessage, type InternalDate, isRefusal, type MessagePart } from '../session.ts';
import {
  accountOf,
  type Command,
  defineCommand,
  framingLimits,
  sendUntagged,
  textForm,
  writableOf,
} from './command.ts';

const append = defineCommand({
  name: 'APPEND',
  states: 'authenticated',
  hasMessages: true,
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
function readMessages(connection: Connection, cursor: Cursor): Messages {
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

/** Reads the parts of a message that APPEND or REPLACE puts together (RFC 4469 section 5, RFC 6855 section 4). */
class Catenation {
  /** Stands behind the parts that were read. */
  cursor: Cursor;
  isComplete = false;
  readonly #connection: Connection;
  #textBytes = 0;

  /** Begins at a cursor that stands before the first part. */
  constructor(connection: Connection, cursor: Cursor) {
    this.#connection = connection;
    this.cursor = cursor;
  }

  /**
   * Yields the parts. A text is announced before the client is asked for its octets, which follow.
   * @throws CommandError when the parts are malformed, or their texts too large
   */
  async *read(): AsyncGenerator<Buffer | MessagePart, void, undefined> {
    for (;;) {
      const isUtf8 = this.cursor.skip('UTF8 ');
      if (isUtf8) this.cursor.expect('(');
      if (isUtf8 || this.cursor.skip('TEXT ')) {
        yield* this.#readText();
        if (isUtf8) this.cursor.expect(')');
      } else {
        this.cursor.expect('URL ');
        yield { kind: 'url', url: await this.#readUrl() };
      }
      if (this.cursor.skip(')')) break;
      this.cursor.space();
    }
    this.isComplete = true;
  }

  async *#readText(): AsyncGenerator<Buffer | MessagePart, void, undefined> {
    const { framing, context } = this.#connection;
    const { sizeBytes, isBinary } = this.#literal();
    const { messageBytes } = context.limits;
    this.#textBytes += sizeBytes;
    if (this.#textBytes > messageBytes)
      throw new CommandError('NO', `A message has at most ${messageBytes} octets`, 'TOOBIG');
    yield { kind: 'text', sizeBytes, isBinary };
    yield* framing.readMessage();
    this.cursor = await continueAt(this.#connection);
  }

  /** A URL may be a literal, too, which the framing takes for a message. */
  async #readUrl(): Promise<string> {
    if (!this.cursor.isAtAnnouncement) return this.cursor.astring();
    if (this.#literal().sizeBytes > MAX_URL_OCTETS)
      bad(`A URL has at most ${MAX_URL_OCTETS} octets`, 'LIMIT');
    const pieces: Buffer[] = [];
    for await (const piece of this.#connection.framing.readMessage()) pieces.push(piece);
    this.cursor = await continueAt(this.#connection);
    return Buffer.concat(pieces).toString();
  }

  #literal(): Literal {
    this.cursor.announcement();
    return this.#connection.framing.message ?? bad('A text is a literal');
  }
}

/** Returns a cursor on what follows a literal in its command, up to the next one. */
async function continueAt(connection: Connection): Promise<Cursor> {
  const next = await connection.framing.continueCommand(framingLimits(connection));
  if (next.kind === 'too large') bad('The command is too large', 'LIMIT');
  return new Cursor(next.bytes);
}

/** REPLACE (RFC 8508): adds a message, and removes another one of the selected mailbox in the same change. */

function replaceCommand(name: string, uid: boolean): Command {
  return defineCommand({
    name,
    states: 'selected',
    hasMessages: true,
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

/** Commands that add messages. */
export const APPEND_COMMANDS: readonly Command[] = [
  append,
  replaceCommand('REPLACE', false),
  replaceCommand('UID REPLACE', true),
];
