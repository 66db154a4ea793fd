/** The last step of accepting: the transaction, and what follows from how it ended. */
import type { App } from '../app.ts';
import { discardAll, discardOnRefusal } from '../blobs/discard-on-refusal.ts';
import type { Write } from '../db/operation.ts';
import type { BlobRow } from '../db/tables.ts';
import { logAccepted } from '../events/mail-log.ts';
import { queueKeyOf } from '../queue/delivery-queue.ts';
import { isoTime } from '../system/clock.ts';
import type { RequireValidKey } from '../tenants/authenticate.ts';
import type { EmailRows } from './accept.ts';
import type { Answer } from './idempotency/store.ts';

export type CommitApp = Pick<App, 'db' | 'blobs' | 'wakeups' | 'crashPoint' | 'log' | 'config'>;

/**
 * Commits prepared emails. Bytes that no email needs, because the transaction refused them or an earlier answer is
 * repeated, are discarded at once.
 *
 * @param prepared.takenBy returns the `acceptances` that became emails by this answer
 * @param prepared.requireValidKey is called right before the transaction: downloads may have taken a minute
 */
export async function commitStored<Input, Response>(
  app: CommitApp,
  write: Write<Input, Answer<Response>>,
  input: Input,
  prepared: {
    acceptances: readonly EmailRows[];
    takenBy: (response: Response) => readonly EmailRows[];
    requireValidKey: RequireValidKey;
  },
): Promise<Answer<Response>> {
  const { acceptances, takenBy, requireValidKey } = prepared;
  const answer = await discardOnRefusal(app.blobs, blobsOf(acceptances), async () => {
    await requireValidKey();
    return app.db.commit(write, input);
  });
  const taken = new Set(answer.replayed ? [] : takenBy(answer.response));
  const unused = acceptances.filter((acceptance) => !taken.has(acceptance));
  await discardAll(app.blobs, blobsOf(unused));
  if (answer.replayed) return answer;
  app.crashPoint('accept-after-commit');
  for (const acceptance of taken) logAcceptance(app, acceptance);
  app.wakeups.notify('queue', queuesOf(taken));
  app.wakeups.notify('events');
  return answer;
}

/** Returns the queues of emails that are all due; undefined when one is scheduled, which the queue has to wait for. */
function queuesOf(acceptances: ReadonlySet<EmailRows>): string[] | undefined {
  const queues = new Set<string>();
  for (const { message, recipients, email } of acceptances) {
    if (email.scheduledAt !== null) return undefined;
    for (const { domain } of recipients) queues.add(queueKeyOf(message, domain));
  }
  return [...queues];
}

export function blobsOf(acceptances: readonly EmailRows[]): BlobRow[] {
  return acceptances.map(({ blob }) => blob);
}

function logAcceptance(app: CommitApp, { message, recipients, blob, email }: EmailRows): void {
  const { id: emailId, tenantId, mode, sender: from } = message;
  const scheduledAt = email.scheduledAt === null ? null : isoTime(email.scheduledAt);
  const size = { recipients: recipients.length, sizeBytes: blob.sizeBytes };
  logAccepted(app, { emailId, tenantId, mode, from, ...size, scheduledAt });
}
