/** QUIT (RFC 1939 sections 4 and 6): removes what is marked as deleted, all or nothing, and ends the connection. */
import { type Command, refuseArgument } from './command.ts';

export const quit: Command = {
  state: 'any',
  async run(connection, argument) {
    const refusal = refuseArgument(argument);
    if (refusal) return refusal;
    connection.isOpen = false;
    if (!connection.session) {
      const { drop } = connection;
      const failure = await drop.maildrop.quit(drop.deleted());
      if (failure) return failure;
    }
    return { text: 'Good bye' };
  },
};
