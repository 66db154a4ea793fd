/** RETR (RFC 1939 section 5) and TOP (section 7). */
import { ConnectionFault } from '../../access/fault.ts';
import type { Connection, UserConnection } from '../connection-state.ts';
import { MessageEncoder } from '../encode-message.ts';
import type { Chunks } from '../session.ts';
import { surrogateMessage, withSurrogateHeader } from '../surrogate-header.ts';
import { type Command, dropOf, findMessage, type Result, refuse, userOf } from './command.ts';

export const retr: Command = {
  state: 'transaction',
  async run(connection, argument) {
    const user = userOf(connection);
    const index = findMessage(user.drop, argument.trim());
    if (typeof index !== 'number') return index;
    const result = await retrieve(user, index);
    if (result === 'answered')
      user.ahead.end(index, user.wire.hasInput ? undefined : user.wire.receivedBytes);
    return result;
  },
};

async function retrieve(user: UserConnection, index: number): Promise<Result> {
  const answer = user.ahead.begin(index);
  if (answer === undefined) return await sendMessage(user, index, new MessageEncoder());
  if (answer !== 'left') user.wire.send(answer);
  return 'answered';
}

/** Returns the whole answer to the retrieval of the message at an index; undefined when the message is not in memory. */
export function buildAnswer(
  { drop, isUtf8 }: Pick<UserConnection, 'drop' | 'isUtf8'>,
  index: number,
): Buffer | undefined {
  const message = drop.maildrop.retrieve(index);
  return Buffer.isBuffer(message) ? Buffer.concat(encodeWhole(message, { isUtf8 })) : undefined;
}

/** Number of lines, which can be higher than that of any message. */
const LINES = /^\d{1,15}$/;

export const top: Command = {
  state: 'transaction',
  async run(connection, argument) {
    const drop = dropOf(connection);
    const [number = '', lines = '', ...rest] = argument.trim().split(/ +/);
    const index = findMessage(drop, number);
    if (typeof index !== 'number') return index;
    if (!LINES.test(lines) || rest.length > 0) return refuse('The command needs a number of lines');
    return await sendMessage(connection, index, new MessageEncoder(Number(lines)));
  },
};

/** Sends the message at an index. @throws ConnectionFault; ClientGone */
async function sendMessage(connection: Connection, index: number, encoder: MessageEncoder): Promise<Result> {
  const message = dropOf(connection).maildrop.retrieve(index);
  if (Buffer.isBuffer(message)) return sendWhole(connection, message, encoder);
  const chunks = connection.isUtf8 ? message : withSurrogateHeader(message);
  return await sendChunks(connection, chunks, encoder);
}

const STATUS = Buffer.from('+OK\r\n');

/** Sends a message that is in memory, without a copy: of a maildrop, thousands are sent one after the other. */
function sendWhole({ wire, isUtf8 }: Connection, message: Buffer, encoder: MessageEncoder): Result {
  for (const octets of encodeWhole(message, { isUtf8, encoder })) wire.send(octets);
  return 'answered';
}

function encodeWhole(
  message: Buffer,
  { isUtf8, encoder = new MessageEncoder() }: { isUtf8: boolean; encoder?: MessageEncoder },
): Buffer[] {
  return [STATUS, encoder.next(isUtf8 ? message : surrogateMessage(message)), encoder.end()];
}

/**
 * Sends a message while the client reads it. The last octets and the dot leave in one write, because some clients look for both in one
 * packet. A message that cannot be read to its end ends the connection, because the client waits for the rest.
 * @throws ConnectionFault; ClientGone
 */
async function sendChunks(
  { wire, context }: Connection,
  chunks: Chunks,
  encoder: MessageEncoder,
): Promise<Result> {
  let held: Buffer[] = [STATUS];
  let hasBegun = false;
  try {
    while (!encoder.isComplete) {
      const next = await chunks.next();
      if (next.done && next.value === undefined) break;
      if (next.done) return hasBegun ? breakOff() : next.value;
      const bytes = encoder.next(next.value);
      if (held.length > 1) {
        hasBegun = true;
        for (const piece of held) wire.send(piece);
        await wire.drain({ timeoutMs: context.limits.readMs, reason: 'slow_reader' });
        held = [];
      }
      held.push(bytes);
    }
  } finally {
    await chunks.return(undefined);
  }
  wire.send(Buffer.concat([...held, encoder.end()]));
  return 'answered';
}

function breakOff(): never {
  throw new ConnectionFault('session', undefined);
}
