/**
 * NOOP (RFC 5321 section 4.1.1.9): does nothing. Its argument is ignored. HELP (RFC 5321 section 4.1.1.8). EXPN (RFC
 * 5321 section 4.1.1.7): is refused, so that nobody learns who is on a list (RFC 5321 section 7.3). VRFY (RFC 5321
 * section 4.1.1.6): does not say whether an address exists (RFC 5321 section 7.3). RSET (RFC 5321 section 4.1.1.5):
 * gives up the transaction. QUIT (RFC 5321 section 4.1.1.10): ends the connection.
 */
import { BAD_ARGUMENT, type Command, endTransaction } from './command.ts';

export const noop: Command = {
  run: () => ({ code: 250, status: '2.0.0', text: 'OK' }),
  isIdle: true,
};

export const help: Command = {
  run: () => ({ code: 214, status: '2.0.0', text: 'This server speaks SMTP as in RFC 5321' }),
  isIdle: true,
};

export const expn: Command = {
  run: () => ({ code: 502, status: '5.5.1', text: 'Lists are not expanded' }),
  isIdle: true,
};

export const vrfy: Command = {
  run: (_connection, argument) =>
    argument === ''
      ? BAD_ARGUMENT
      : {
          code: 252,
          status: '2.5.0',
          text: 'The address is not verified; send the message to learn whether it is accepted',
        },
  isIdle: true,
};

export const rset: Command = {
  group: 'within',
  run(connection, argument) {
    if (argument !== '') return BAD_ARGUMENT;
    endTransaction(connection);
    return { code: 250, status: '2.0.0', text: 'OK' };
  },
  isIdle: true,
};

export const quit: Command = {
  run(connection, argument) {
    if (argument !== '') return BAD_ARGUMENT;
    connection.isOpen = false;
    return { code: 221, status: '2.0.0', text: 'Bye' };
  },
};
