/**
 * Unsubscribes the reader whose address in `List-Unsubscribe` got mail (RFC 2369 section 3.2). The content of the mail and its
 * sender do not matter: the address is as hard to forge as the link beside it, and does the same.
 */
import type { App } from '../app.ts';
import { choicesOfLeaving, decide } from '../audiences/contacts/decide.ts';
import type { EmailRow } from '../db/email-tables.ts';
import type { RecipientRow } from '../db/tables.ts';
import { createReceivedKind, type RunningReceivedTask, type TaskOutcome } from '../inbound/tasks/kind.ts';
import { findMessage, listRecipients } from '../queue/store.ts';
import { isId } from '../system/ids.ts';
import type { TaskKind } from '../tasks/kind.ts';

type UnsubscribingReader = { emailId: EmailRow['id']; position: RecipientRow['position'] };

const SEPARATOR = '/';

/** Maximum number of readers who are unsubscribed at the same time. Each takes a few writes. */
const CONCURRENCY = 4;

/** Returns the kind of task that unsubscribes readers. A second run changes nothing. */
export function createUnsubscribeKind(app: App): TaskKind {
  const results = app.metrics.counter('inbound_unsubscribes_total', 'Mail to addresses that unsubscribe.', [
    'result',
  ]);

  async function run({ targetId }: RunningReceivedTask): Promise<TaskOutcome> {
    const { emailId, position } = readUnsubscribeTarget(targetId);
    const message = await findMessage(app.db.read, emailId);
    const recipients = await listRecipients(app.db.read, emailId);
    const recipient = recipients.find((one) => one.position === position);
    if (!message || !recipient) {
      results.inc({ result: 'deleted' });
      return { kind: 'failed', error: 'The email was deleted, and with it the reader and the list' };
    }
    const { tenantId, topicId } = message;
    const choices = choicesOfLeaving(topicId ?? undefined);
    await decide(app, { tenantId, address: recipient.address, choices });
    results.inc({ result: 'unsubscribed' });
    return { kind: 'done' };
  }

  return createReceivedKind(app, { kind: 'unsubscribe', concurrency: CONCURRENCY, run });
}

/**
 * Returns the target of the task that unsubscribes a reader. A message to the addresses of several recipients of one
 * email has a task for each of them, because tasks with the same target are one.
 */
export function unsubscribeTarget({ emailId, position }: UnsubscribingReader): string {
  return `${emailId}${SEPARATOR}${position}`;
}

/**
 * Returns the reader that a target names.
 * @throws Error for a text that is no target
 */
function readUnsubscribeTarget(targetId: string): UnsubscribingReader {
  const [emailId = '', position] = targetId.split(SEPARATOR);
  if (!isId('em', emailId) || position === undefined) throw new Error(`${targetId} names no recipient`);
  return { emailId, position: Number(position) };
}
