/** STAT, LIST (RFC 1939 section 5) and UIDL (section 7). */
import type { OpenMaildrop } from '../open-maildrop.ts';
import {
  type Command,
  type Connection,
  dropOf,
  findMessage,
  type Result,
  refuseArgument,
  sendLines,
} from './command.ts';

export const stat: Command = {
  state: 'transaction',
  async run(connection, argument) {
    const { count, sizeBytes } = dropOf(connection);
    return refuseArgument(argument) ?? { text: `${count} ${sizeBytes}` };
  },
};

export const list: Command = {
  state: 'transaction',
  run: (connection, argument) =>
    answer(connection, argument, (drop, index) => `${index + 1} ${drop.sizeOf(index)}`),
};

export const uidl: Command = {
  state: 'transaction',
  run: (connection, argument) =>
    answer(connection, argument, (drop, index) => `${index + 1} ${drop.uniqueIdOf(index)}`),
};

type Describe = (drop: OpenMaildrop, index: number) => string;

/** Answers for one message, or for all that are not marked as deleted. */
async function answer(connection: Connection, argument: string, describe: Describe): Promise<Result> {
  const drop = dropOf(connection);
  const number = argument.trim();
  if (number === '')
    return await sendLines(connection, `+OK ${drop.count} messages`, describeAll(drop, describe));
  const index = findMessage(drop, number);
  return typeof index === 'number' ? { text: describe(drop, index) } : index;
}

function* describeAll(drop: OpenMaildrop, describe: Describe): Generator<string> {
  for (let index = 0; index < drop.length; index++) if (drop.has(index)) yield describe(drop, index);
}
