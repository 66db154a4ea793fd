/** RSET (RFC 5321 section 4.1.1.5): gives up the transaction. */
import { BAD_ARGUMENT, type Command, endTransaction } from './command.ts';

export const rset: Command = {
  group: 'within',
  run(connection, argument) {
    if (argument !== '') return BAD_ARGUMENT;
    endTransaction(connection);
    return { code: 250, status: '2.0.0', text: 'OK' };
  },
  isIdle: true,
};
