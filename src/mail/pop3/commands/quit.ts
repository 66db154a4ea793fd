/** QUIT (RFC 1939 sections 4 and 6): removes what is marked as deleted, all or nothing, and ends the connection. */
import { type Command, refuseArgument } from './command.ts';

export const quit: Command = {
  state: 'any',
  async run(connection, argument) {
    const refusal = refuseArgument(argument);
    if (refusal) return refusal;
    const { state } = connection;
    connection.isOpen = false;
    if (state.name === 'transaction') {
      const failure = await state.drop.maildrop.quit(state.drop.deleted());
      if (failure) return failure;
    }
    return { text: 'Good bye' };
  },
};
