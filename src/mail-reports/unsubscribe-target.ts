/**
 * Names the reader who unsubscribes by mail: the recipient of an email. A message to the addresses of several recipients of
 * one email has a task for each of them, because tasks with the same target are one.
 */
import type { EmailRow } from '../db/email-tables.ts';
import type { RecipientRow } from '../db/tables.ts';
import { isId } from '../system/ids.ts';

type UnsubscribingReader = { emailId: EmailRow['id']; position: RecipientRow['position'] };

const SEPARATOR = '/';

/** Returns the target of the task that unsubscribes a reader. */
export function unsubscribeTarget({ emailId, position }: UnsubscribingReader): string {
  return `${emailId}${SEPARATOR}${position}`;
}

/**
 * Returns the reader that a target names.
 * @throws Error for a text that is no target
 */
export function readUnsubscribeTarget(targetId: string): UnsubscribingReader {
  const [emailId = '', position] = targetId.split(SEPARATOR);
  if (!isId('em', emailId) || position === undefined) throw new Error(`${targetId} names no recipient`);
  return { emailId, position: Number(position) };
}
