/** Reads the argument of commands on one mailbox. */
import type { Cursor } from '../parser/cursor.ts';
import { parseMailbox } from '../parser/mailbox.ts';
import { type Connection, textForm } from './command.ts';

/** Returns the name of the mailbox, which is the only argument. */
export function parseOneMailbox(cursor: Cursor, connection: Connection): string {
  cursor.space();
  const mailbox = parseMailbox(cursor, textForm(connection));
  cursor.end();
  return mailbox;
}
