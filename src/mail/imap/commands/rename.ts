/** RENAME (RFC 9051 section 6.3.6). */
import { parseMailbox } from '../parser/mailbox.ts';
import { accountOf, defineCommand, textForm } from './command.ts';

export const rename = defineCommand({
  name: 'RENAME',
  states: 'authenticated',
  parse(cursor, connection) {
    cursor.space();
    const from = parseMailbox(cursor, textForm(connection));
    cursor.space();
    const to = parseMailbox(cursor, textForm(connection));
    cursor.end();
    return { from, to };
  },
  run: async (connection, { from, to }) => await accountOf(connection).rename(from, to),
});
