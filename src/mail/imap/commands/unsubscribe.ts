/** UNSUBSCRIBE (RFC 9051 section 6.3.8). */
import { accountOf, defineCommand } from './command.ts';
import { parseOneMailbox } from './mailbox-argument.ts';

export const unsubscribe = defineCommand({
  name: 'UNSUBSCRIBE',
  states: 'authenticated',
  parse: parseOneMailbox,
  run: async (connection, mailbox) => await accountOf(connection).unsubscribe(mailbox),
});
