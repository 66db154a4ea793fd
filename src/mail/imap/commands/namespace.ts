/** NAMESPACE (RFC 9051 section 6.3.10, RFC 2342): everything is the user's own. */
import { SEPARATOR } from '../mailbox-name.ts';
import { defineCommand, noArguments, sendUntagged } from './command.ts';

export const namespace = defineCommand({
  name: 'NAMESPACE',
  states: 'authenticated',
  parse: noArguments,
  async run(connection) {
    sendUntagged(connection, `NAMESPACE (("" "${SEPARATOR}")) NIL NIL`);
    return undefined;
  },
});
