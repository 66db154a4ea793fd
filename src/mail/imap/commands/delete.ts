/** DELETE (RFC 9051 section 6.3.5). */
import { accountOf, defineCommand } from './command.ts';
import { parseOneMailbox } from './mailbox-argument.ts';

export const deleteMailbox = defineCommand({
  name: 'DELETE',
  states: 'authenticated',
  parse: parseOneMailbox,
  run: async (connection, mailbox) => await accountOf(connection).delete(mailbox),
});
