/** CREATE (RFC 9051 section 6.3.4), with a special use (RFC 6154 section 3). */
import { CommandError } from '../command-error.ts';
import type { Cursor } from '../parser/cursor.ts';
import { parseMailbox } from '../parser/mailbox.ts';
import { accountOf, defineCommand, textForm } from './command.ts';

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
