/** Commands about the maildrop: STAT, LIST, UIDL, DELE and RSET. */
import type { Connection } from '../connection-state.ts';
import type { OpenMaildrop } from '../open-maildrop.ts';
import { type Command, dropOf, findMessage, type Result, refuseArgument, sendLines } from './command.ts';

/** STAT, LIST (RFC 1939 section 5) and UIDL (section 7). */
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

/** DELE and RSET (RFC 1939 section 5). A message that is marked as deleted is removed by QUIT. */
export const dele: Command = {
  state: 'transaction',
  async run(connection, argument) {
    const drop = dropOf(connection);
    const index = findMessage(drop, argument.trim());
    if (typeof index !== 'number') return index;
    drop.delete(index);
    return { text: 'The message is marked as deleted' };
  },
};

export const rset: Command = {
  state: 'transaction',
  async run(connection, argument) {
    const refusal = refuseArgument(argument);
    if (!refusal) dropOf(connection).reset();
    return refusal;
  },
};
