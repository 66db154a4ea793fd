/** Reads mail that came to an address for complaints: feedback reports change their recipients, and anything else is dropped. */
import type { App } from '../app.ts';
import { createReceivedKind, type RunningReceivedTask, type TaskOutcome } from '../inbound/tasks/kind.ts';
import { createLinks } from '../links/links.ts';
import { MAX_COMPLAINT_BYTES, readFeedbackReport } from '../mail/arf.ts';
import type { AuthenticationResult } from '../mail/auth/result.ts';
import { storeComplaint } from '../queue/feedback.ts';
import { type Replies, RepliesFile } from '../queue/outcome/replies/replies.ts';
import { returnAddressKeyOf } from '../queue/return-path.ts';
import type { TaskKind } from '../tasks/kind.ts';
import { labelOf, openReturnedMail, outcomeOf, type ReturnedMail } from './returned-mail.ts';

/** Maximum number of complaints that are read at the same time, each on the main thread. */
const CONCURRENCY = 4;

/** Returns the kind of task that reads complaints. */
export function createComplaintKind(app: App, replies: Replies = new RepliesFile(app)): TaskKind {
  const results = app.metrics.counter(
    'inbound_complaints_total',
    'Mail that came to an address for complaints.',
    ['result'],
  );
  const feedbackApp = { ...app, replies, returnAddressKey: returnAddressKeyOf(app), links: createLinks(app) };

  async function run(task: RunningReceivedTask): Promise<TaskOutcome> {
    const returned = await openReturnedMail(app, task, MAX_COMPLAINT_BYTES);
    if (!returned) return { kind: 'failed', error: 'The message was deleted' };
    const { message, localPart, bytes } = returned;
    const report = readFeedbackReport(bytes);
    if (!report) {
      results.inc({ result: 'other' });
      return { kind: 'done' };
    }
    const result = await storeComplaint(feedbackApp, {
      ...report,
      localPart,
      arrivedAt: message.createdAt,
      isSigned: isSigned(message),
    });
    results.inc({ result: labelOf(result) });
    return outcomeOf(result);
  }

  return createReceivedKind(app, { kind: 'complaint', concurrency: CONCURRENCY, run });
}

/** Returns true when a signature of the author's domain has passed (RFC 9477 section 3.5). A missing result is no pass. */
function isSigned({ auth }: ReturnedMail['message']): boolean {
  if (auth === null) return false;
  const { dkim } = JSON.parse(auth) as Pick<AuthenticationResult, 'dkim'>;
  return dkim.some(({ result, isAligned }) => result === 'pass' && isAligned);
}
