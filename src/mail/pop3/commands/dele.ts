/** DELE and RSET (RFC 1939 section 5). A message that is marked as deleted is removed by QUIT. */
import { type Command, dropOf, findMessage, refuseArgument } from './command.ts';

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
