/** QUIT (RFC 5321 section 4.1.1.10): ends the connection. */
import { BAD_ARGUMENT, type Command } from './command.ts';

export const quit: Command = {
  run(connection, argument) {
    if (argument !== '') return BAD_ARGUMENT;
    connection.isOpen = false;
    return { code: 221, status: '2.0.0', text: 'Bye' };
  },
};
