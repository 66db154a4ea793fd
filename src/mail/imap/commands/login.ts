/** LOGIN (RFC 9051 section 6.2.3). */
import { defineCommand } from './command.ts';
import { logIn, refusePlaintext } from './log-in.ts';

export const login = defineCommand({
  name: 'LOGIN',
  states: 'not authenticated',
  parse(cursor) {
    cursor.space();
    const username = cursor.astring();
    cursor.space();
    const password = cursor.astring();
    cursor.end();
    return { username, password };
  },
  run: async (connection, credentials) =>
    refusePlaintext(connection) ?? (await logIn(connection, credentials)),
});
