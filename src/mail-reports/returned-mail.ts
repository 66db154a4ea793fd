/** Opens mail that came back to one of our addresses, for the task that reads it. */
import type { App } from '../app.ts';
import type { ReceivedMessageRow } from '../db/inbound-tables.ts';
import { findReceived, listReceivedRecipients } from '../inbound/store.ts';
import { createReceivedKind, type RunningReceivedTask, type TaskOutcome } from '../inbound/tasks/kind.ts';
import { MAX_REPORT_BYTES, readReturnedMail } from '../mail/dsn/read.ts';
import { type FeedbackResult, storeBounce } from '../queue/feedback.ts';
import { type Replies, RepliesFile } from '../queue/outcome/replies/replies.ts';
import { returnAddressKeyOf } from '../queue/return-path.ts';
import type { TaskKind } from '../tasks/kind.ts';

/** Maximum number of bounces that are read at the same time. Each takes a few milliseconds of the main thread. */
const CONCURRENCY = 4;

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

/** Returns the kind of task that reads bounces. */
export function createBounceKind(app: App, replies: Replies = new RepliesFile(app)): TaskKind {
  const results = app.metrics.counter('inbound_bounces_total', 'Mail that came back to a return path.', [
    'result',
  ]);
  const feedbackApp = { ...app, replies, returnAddressKey: returnAddressKeyOf(app) };

  async function run(task: RunningReceivedTask): Promise<TaskOutcome> {
    const returned = await openReturnedMail(app, task, MAX_REPORT_BYTES);
    if (!returned) return { kind: 'failed', error: 'The message was deleted' };
    const { message, localPart, bytes } = returned;
    const read = readReturnedMail(bytes);
    if (read.kind !== 'bounce') {
      results.inc({ result: read.kind });
      return { kind: 'done' };
    }
    const { sender, createdAt: arrivedAt } = message;
    const result = await storeBounce(feedbackApp, { sender, localPart, arrivedAt, notices: read.notices });
    results.inc({ result: labelOf(result) });
    return outcomeOf(result);
  }

  return createReceivedKind(app, { kind: 'bounce', concurrency: CONCURRENCY, run });
}
