/** LOGIN (RFC 9051 section 6.2.3). */
import { defineCommand, earlyOf } from './command.ts';
import { admit, refusePlaintext } from './log-in.ts';

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
  async run(connection, credentials) {
    const early = earlyOf(connection);
    const { session, client } = early;
    return refusePlaintext(early) ?? admit(early, await session.login({ ...credentials, client }));
  },
});
