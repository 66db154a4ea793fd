/** Reads mail that came back to a return path: bounces change their recipients, and automatic replies are counted and dropped. */
import type { App } from '../app.ts';
import { createReceivedKind, type RunningReceivedTask, type TaskOutcome } from '../inbound/tasks/kind.ts';
import { MAX_REPORT_BYTES, readReturnedMail } from '../mail/dsn/read.ts';
import { storeBounce } from '../queue/feedback.ts';
import { type Replies, RepliesFile } from '../queue/outcome/replies/replies.ts';
import { returnAddressKeyOf } from '../queue/return-path.ts';
import type { TaskKind } from '../tasks/kind.ts';
import { labelOf, openReturnedMail, outcomeOf } from './returned-mail.ts';

/** Maximum number of bounces that are read at the same time. Each takes a few milliseconds of the main thread. */
const CONCURRENCY = 4;

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
