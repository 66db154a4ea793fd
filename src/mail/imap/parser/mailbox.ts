/** Reads names of mailboxes (RFC 9051 section 9, `mailbox`). */
import { CommandError } from '../command-error.ts';
import { decodeMailboxName } from '../encode/mailbox-name.ts';
import type { TextForm } from '../encode/strings.ts';
import type { Cursor } from './cursor.ts';

/** Returns the name as text. A name that nobody could have is refused with NO, as one that does not exist. */
export function parseMailbox(cursor: Cursor, form: TextForm): string {
  return readName(cursor.astring(), form);
}

/** Returns the name as text; an empty one stands for the server (RFC 5464 section 4.1). */
export function parseMailboxOrServer(cursor: Cursor, form: TextForm): string {
  const name = cursor.astring();
  return name === '' ? '' : readName(name, form);
}

function readName(text: string, form: TextForm): string {
  const name = decodeMailboxName(text, form);
  if (name === undefined) throw new CommandError('NO', 'The name of the mailbox is malformed', 'CANNOT');
  if (name === '') throw new CommandError('NO', 'A mailbox needs a name', 'CANNOT');
  return name;
}
