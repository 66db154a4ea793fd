/** STATUS (RFC 9051 section 6.3.11, RFC 7889 section 3.1). */
import { writeStatus } from '../encode/mailboxes.ts';
import { parseStatusItems } from '../parser/list.ts';
import { parseMailbox } from '../parser/mailbox.ts';
import { isRefusal } from '../session.ts';
import { accountOf, defineCommand, enableFeatures, textForm } from './command.ts';

export const status = defineCommand({
  name: 'STATUS',
  states: 'authenticated',
  parse(cursor, connection) {
    cursor.space();
    const mailbox = parseMailbox(cursor, textForm(connection));
    const items = parseStatusItems(cursor);
    cursor.end();
    return { mailbox, items };
  },
  async run(connection, { mailbox, items }) {
    if (items.includes('HIGHESTMODSEQ')) enableFeatures(connection, { condstore: true });
    const answer = await accountOf(connection).status(mailbox, items);
    if (isRefusal(answer)) return answer;
    const values = { ...answer, APPENDLIMIT: connection.context.limits.messageBytes };
    connection.wire.send(writeStatus({ mailbox, items, values }, textForm(connection)));
    return undefined;
  },
});
