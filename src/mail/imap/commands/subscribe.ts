/** SUBSCRIBE (RFC 9051 section 6.3.7). */
import { accountOf, defineCommand } from './command.ts';
import { parseOneMailbox } from './mailbox-argument.ts';

export const subscribe = defineCommand({
  name: 'SUBSCRIBE',
  states: 'authenticated',
  parse: parseOneMailbox,
  run: async (connection, mailbox) => await accountOf(connection).subscribe(mailbox),
});
