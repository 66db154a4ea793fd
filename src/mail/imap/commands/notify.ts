/** NOTIFY (RFC 5465): the client is told at once of what it asks for, also between its commands. */
import { parseNotify } from '../parser/notify.ts';
import { isRefusal } from '../session.ts';
import { accountOf, defineCommand, sendChunks, textForm } from './command.ts';
import { pushTo, sendChanges } from './idle.ts';

export const notify = defineCommand({
  name: 'NOTIFY',
  states: 'authenticated',
  parse: (cursor, connection) => parseNotify(cursor, textForm(connection)),
  async run(connection, { request, isSet, isDelayed }) {
    // The client is told of changes until now in the way that it wanted before (RFC 5465 section 3.1).
    if (isSet) await sendChanges(connection);
    const account = accountOf(connection);
    const result = await sendChunks(connection, account.notify(request));
    if (isRefusal(result)) return result;
    connection.pushes?.unwatch();
    connection.pushes = isSet ? pushTo(connection, isDelayed ? 'withoutExpunge' : 'all') : undefined;
    return result;
  },
});
