/** Opens mail that came back to one of our addresses, for the task that reads it. */
import type { App } from '../app.ts';
import type { ReceivedMessageRow } from '../db/inbound-tables.ts';
import { findReceived, listReceivedRecipients } from '../inbound/store.ts';
import type { RunningReceivedTask, TaskOutcome } from '../inbound/tasks/kind.ts';
import type { FeedbackResult } from '../queue/feedback.ts';

export type ReturnedMail = {
  message: Pick<ReceivedMessageRow, 'id' | 'sender' | 'auth' | 'headerFrom' | 'createdAt'>;
  /** Local part of the address that the mail came to. */
  localPart: string;
  /** The beginning of the message. */
  bytes: Buffer;
};

/**
 * Returns the mail of a task with its first bytes, at most `maxBytes`. Returns undefined when its content was deleted.
 * @throws DamagedBlobError when its bytes have changed
 */
export async function openReturnedMail(
  app: Pick<App, 'db' | 'blobs'>,
  { messageId, position }: Pick<RunningReceivedTask, 'messageId' | 'position'>,
  maxBytes: number,
): Promise<ReturnedMail | undefined> {
  const message = await findReceived(app.db.read, messageId);
  const recipients = await listReceivedRecipients(app.db.read, messageId);
  const address = recipients.find((recipient) => recipient.position === position)?.address;
  if (!message || message.blobId === null || address === undefined) return undefined;
  const blob = await app.blobs.open(message.blobId);
  const localPart = address.slice(0, address.lastIndexOf('@'));
  return { message, localPart, bytes: await blob.head(maxBytes) };
}

/**
 * Returns the outcome of a task whose mail was read. Feedback about a recipient that is still in flight is stored once the
 * attempt has ended. Mail that fails a condition is done with: another attempt would find the same.
 */
export function outcomeOf({ kind }: FeedbackResult): TaskOutcome {
  return kind === 'waiting' ? { kind: 'retry', error: 'The recipient is still in flight' } : { kind: 'done' };
}

/** Returns the value of the metric that counts results: `stored`, `waiting`, or why the mail was ignored. */
export function labelOf(result: FeedbackResult): string {
  return result.kind === 'ignored' ? result.reason : result.kind;
}
