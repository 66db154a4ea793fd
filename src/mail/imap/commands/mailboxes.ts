/** Commands that manage mailboxes: CREATE, DELETE, RENAME, SUBSCRIBE, UNSUBSCRIBE, NAMESPACE and STATUS. */
import { CommandError } from '../command-error.ts';
import type { Connection } from '../connection-state.ts';
import { writeStatus } from '../encode/mailboxes.ts';
import { SEPARATOR } from '../list-pattern.ts';
import type { Cursor } from '../parser/cursor.ts';
import { parseStatusItems } from '../parser/list.ts';
import { parseMailbox } from '../parser/mailbox.ts';
import { isRefusal } from '../session.ts';
import { accountOf, defineCommand, enableFeatures, noArguments, sendUntagged, textForm } from './command.ts';

/** Returns the name of the mailbox, which is the only argument. */
function parseOneMailbox(cursor: Cursor, connection: Connection): string {
  cursor.space();
  const mailbox = parseMailbox(cursor, textForm(connection));
  cursor.end();
  return mailbox;
}

/** Uses that a mailbox can have. `\All` and `\Flagged` are of mailboxes that show the messages of others. */
const SPECIAL_USES = ['\\Archive', '\\Drafts', '\\Junk', '\\Sent', '\\Trash'];

export const create = defineCommand({
  name: 'CREATE',
  states: 'authenticated',
  parse(cursor, connection) {
    cursor.space();
    const mailbox = parseMailbox(cursor, textForm(connection));
    const specialUse = parseUse(cursor);
    cursor.end();
    return { mailbox, specialUse };
  },
  run: async (connection, creation) => await accountOf(connection).create(creation),
});

/** Reads `(USE (\Sent))` where it stands. @throws CommandError, also for a use that no mailbox can have */
function parseUse(cursor: Cursor): string | undefined {
  if (cursor.isAtEnd) return undefined;
  cursor.space();
  cursor.expect('(');
  cursor.expect('USE ');
  const names = cursor.list(() => {
    cursor.expect('\\');
    return `\\${cursor.atom()}`.toLowerCase();
  });
  cursor.expect(')');
  const uses = SPECIAL_USES.filter((use) => names.includes(use.toLowerCase()));
  if (uses.length < names.length || uses.length > 1)
    throw new CommandError('NO', 'A mailbox cannot have this special use', 'USEATTR');
  return uses[0];
}

/** DELETE (RFC 9051 section 6.3.5). */
export const deleteMailbox = defineCommand({
  name: 'DELETE',
  states: 'authenticated',
  parse: parseOneMailbox,
  run: async (connection, mailbox) => await accountOf(connection).delete(mailbox),
});

/** RENAME (RFC 9051 section 6.3.6). */
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

/** SUBSCRIBE (RFC 9051 section 6.3.7). */
export const subscribe = defineCommand({
  name: 'SUBSCRIBE',
  states: 'authenticated',
  parse: parseOneMailbox,
  run: async (connection, mailbox) => await accountOf(connection).subscribe(mailbox),
});

/** UNSUBSCRIBE (RFC 9051 section 6.3.8). */
export const unsubscribe = defineCommand({
  name: 'UNSUBSCRIBE',
  states: 'authenticated',
  parse: parseOneMailbox,
  run: async (connection, mailbox) => await accountOf(connection).unsubscribe(mailbox),
});

/** NAMESPACE (RFC 9051 section 6.3.10, RFC 2342): everything is the user's own. */
export const namespace = defineCommand({
  name: 'NAMESPACE',
  states: 'authenticated',
  parse: noArguments,
  async run(connection) {
    sendUntagged(connection, `NAMESPACE (("" "${SEPARATOR}")) NIL NIL`);
    return undefined;
  },
});

/** STATUS (RFC 9051 section 6.3.11, RFC 7889 section 3.1). */
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
