/** CREATE (RFC 9051 section 6.3.4). */
import { accountOf, defineCommand } from './command.ts';
import { parseOneMailbox } from './mailbox-argument.ts';

export const create = defineCommand({
  name: 'CREATE',
  states: 'authenticated',
  parse: parseOneMailbox,
  run: async (connection, mailbox) => await accountOf(connection).create(mailbox),
});
