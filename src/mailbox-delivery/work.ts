/**
 * Delivers received mail to mailboxes. A mailbox that is damaged or busy delays its mail and loses none: the task waits until the
 * mailbox takes it, and ends without a delivery only when the mailbox is deleted.
 */

import type {
  DeliveredContent,
  DeliveryResult,
  MailboxDelivery,
  MailboxTargets,
} from '../accounts/delivery.ts';
import type { App } from '../app.ts';
import { commitOutcome } from '../db/commit-outcome.ts';
import type { ReceivedMessageRow } from '../db/inbound-tables.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import { findReceived } from '../inbound/store.ts';
import { createReceivedKind, type RunningReceivedTask, type TaskOutcome } from '../inbound/tasks/kind.ts';
import type { ScriptRunner } from '../mailboxes/scripts/runner.ts';
import { findMailboxById } from '../mailboxes/store.ts';
import { DELAY_NOTICE_AGE_MS } from '../queue/notifications-store.ts';
import { errorMessage } from '../system/errors.ts';
import { createTokenBuckets } from '../system/guards/token-buckets.ts';
import type { TaskKind } from '../tasks/kind.ts';
import type { Directory } from './directory.ts';
import { putBackDelivery } from './put-back.ts';
import { deliverByScripts, deliveryIdOf, type ScriptedTask } from './scripts/deliver.ts';
import { dropPlan, findPlan } from './scripts/plan-store.ts';
import { prefixOf } from './scripts/prefix.ts';

/** Maximum number of messages that are delivered at the same time. Deliveries of an account share a commit. */
const CONCURRENCY = 32;
/**
 * Limits of the time after which a mailbox that could not take a message is asked again, in milliseconds: a quarter of the time for
 * which the message has waited. A mailbox that was repaired gets its mail within a quarter of an hour.
 */
const MIN_WAIT_MS = 1_000;
const MAX_WAIT_MS = 15 * 60_000;
const WAIT_SHARE = 4;
/** Age of a message from which on its sender may have to be told of a delay, in milliseconds: most mailboxes are busy for less. */
const MIN_DELAYED_MS = 60_000;
/** Number of lines about one mailbox that cannot take mail: one at once, and then one in an hour. */
const LINES = { burst: 1, tokensPerSecond: 1 / 3_600 };
/** Maximum number of mailboxes whose log lines are counted, so that each has few of them. */
const MAX_LOGGED_MAILBOXES = 1_000;

type MailboxApp = App & {
  mailboxDelivery: MailboxDelivery & MailboxTargets;
  scriptRunner: Pick<ScriptRunner, 'run'>;
  directory: Pick<Directory, 'scriptsOf'>;
};

/** Returns the kind of task that delivers to mailboxes. A second run of a task stores nothing more. */
export function createMailboxKind(app: MailboxApp): TaskKind {
  const results = app.metrics.counter('inbound_mailbox_deliveries_total', 'Deliveries to mailboxes.', [
    'result',
  ]);
  const lines = createTokenBuckets(app.clock, MAX_LOGGED_MAILBOXES);

  async function run(task: RunningReceivedTask): Promise<TaskOutcome> {
    const mailbox = await findMailboxById(app.db.read, task.targetId as MailboxRow['id']);
    if (!mailbox) {
      await app.db.commit(dropPlan, { taskId: task.id });
      return ended('deleted', { kind: 'failed', error: 'The mailbox was deleted' });
    }
    const message = await findReceived(app.db.read, task.messageId);
    if (!message?.blobId) return ended('deleted', { kind: 'failed', error: 'The message was deleted' });
    const result = await deliver(app, { task, mailbox, message: { ...message, blobId: message.blobId } });
    if (result.kind === 'waiting') return ended('waiting', await putBack(task, result.reason));
    return ended(
      'delivered',
      result.kind === 'delivered' ? { kind: 'done', report: reportOf(message) } : result,
    );
  }

  function ended(result: string, outcome: TaskOutcome): TaskOutcome {
    results.inc({ result });
    return outcome;
  }

  /** Makes the task due again. Waiting does not count as an attempt, so it never uses them up. */
  async function putBack(task: RunningReceivedTask, reason: string): Promise<TaskOutcome> {
    const now = app.clock.now();
    const waitMs = Math.min(Math.max((now - task.createdAt) / WAIT_SHARE, MIN_WAIT_MS), MAX_WAIT_MS);
    const { targetId: mailboxId } = task;
    if (lines.take(mailboxId, LINES).allowed)
      app.log.warn({ mailboxId, reason }, 'a mailbox cannot take mail, which waits for it');
    const { lease } = task;
    const dueAt = now + Math.ceil(waitMs);
    const attempts = lease.attempts - 1;
    const age = now - task.createdAt;
    const isDelayed = age >= MIN_DELAYED_MS && age < DELAY_NOTICE_AGE_MS;
    const retry = { lease, dueAt, attempts };
    const notice = isDelayed ? { ...task, dueAt: task.createdAt + DELAY_NOTICE_AGE_MS } : undefined;
    return { kind: 'settled', end: await commitOutcome(app, putBackDelivery, { retry, notice }) };
  }

  return createReceivedKind(app, { kind: 'mailbox', concurrency: CONCURRENCY, reportOfEnd: 'failed', run });
}

/** Returns what the sender is told of a delivery. */
function reportOf({ reportsDelivery }: Pick<ReceivedMessageRow, 'reportsDelivery'>): 'delivered' | undefined {
  return reportsDelivery === 1 ? 'delivered' : undefined;
}

type Delivery = Pick<ScriptedTask, 'task' | 'mailbox' | 'message'>;

/** Stores the message where the scripts of the mailbox want it. A mailbox without scripts has no more to do for it than to store it. */
async function deliver(app: MailboxApp, delivery: Delivery): Promise<DeliveryResult | TaskOutcome> {
  const { task, mailbox, message } = delivery;
  try {
    const prefix = prefixOf(message, mailbox);
    const { scripts } = await app.directory.scriptsOf(mailbox.id);
    // A plan is carried out, also when the owner has deactivated the script that made it.
    if (scripts.length > 0 || (await findPlan(app.db.read, task.id)))
      return await deliverByScripts(app, { ...delivery, prefix, scripts });
    return await app.mailboxDelivery.deliver({
      mailboxId: mailbox.id,
      deliveryId: deliveryIdOf(message, task),
      content: await contentOf(app, message.blobId),
      prefix,
      isJunk: message.flagged === 1,
      receivedAt: message.createdAt,
    });
  } catch (error) {
    // Bytes that have changed on disk do not come back. The error may have crossed from a thread, without its class.
    if (error instanceof Error && error.name === 'DamagedBlobError') throw error;
    // No failure of a mailbox uses up the attempts, not even one that nobody has thought of: the mail was accepted.
    return { kind: 'waiting', reason: errorMessage(error) };
  }
}

async function contentOf({ blobs }: App, blobId: Delivery['message']['blobId']): Promise<DeliveredContent> {
  const { sizeBytes, inline, file } = await blobs.open(blobId);
  if (inline) return { sizeBytes, bytes: inline, file: undefined };
  if (file) return { sizeBytes, bytes: undefined, file };
  throw new Error(`blob ${blobId} has neither bytes nor a file`);
}
