/** LOGOUT (RFC 9051 section 6.1.3). */
import { defineCommand, noArguments, sendUntagged } from './command.ts';

export const logout = defineCommand({
  name: 'LOGOUT',
  states: 'any',
  changes: 'none',
  parse: noArguments,
  async run(connection) {
    sendUntagged(connection, 'BYE Logging out');
    connection.isOpen = false;
    return undefined;
  },
});
