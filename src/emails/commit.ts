/** Commits prepared emails, and handles the result of the transaction. */
import type { App } from '../app.ts';
import { discardAll, discardOnRefusal } from '../blobs/discard-on-refusal.ts';
import type { Write } from '../db/operation.ts';
import type { BlobRow } from '../db/tables.ts';
import { logAccepted } from '../events/mail-log.ts';
import type { HandOver } from '../queue/contents/handed.ts';
import { queueKeyOf } from '../queue/queue-key.ts';
import { isoTime } from '../system/clock.ts';
import type { RequireValidKey } from '../tenants/authenticate.ts';
import type { EmailRows } from './accept.ts';
import type { Answer } from './idempotency/store.ts';

/**
 * Commits prepared emails. Content that no email needs is discarded at once: the transaction refused the email, or
 * the answer of an earlier request is repeated. Those who deliver are handed the texts of what is due now, where the app can do so.
 *
 * @param prepared.acceptedRows returns the elements of `rows` that became emails
 * @param prepared.requireValidKey runs right before the transaction, because downloads may have taken a minute
 */
export async function commitStored<Input, Response>(
  app: App & { handOver?: HandOver },
  { write, input }: { write: Write<Input, Answer<Response>>; input: Input },
  prepared: {
    rows: readonly EmailRows[];
    acceptedRows: (response: Response) => readonly EmailRows[];
    requireValidKey: RequireValidKey;
  },
): Promise<Answer<Response>> {
  const { rows, acceptedRows, requireValidKey } = prepared;
  const answer = await discardOnRefusal(app.blobs, blobsOf(rows), async () => {
    await requireValidKey();
    return app.db.commit(write, input);
  });
  const taken = new Set(answer.replayed ? [] : acceptedRows(answer.response));
  const unused = rows.filter((email) => !taken.has(email));
  await discardAll(app.blobs, blobsOf(unused));
  if (answer.replayed) return answer;
  for (const email of taken) logAcceptedEmail(app, email);
  if (app.handOver) handOverDue(app.handOver, taken);
  app.wakeups.notify('queue', queuesOf(taken));
  return answer;
}

/**
 * Returns the queues of emails that are due now. Returns undefined when an email is scheduled, because then the
 * dispatcher has to scan for its due time.
 */
function queuesOf(rows: ReadonlySet<EmailRows>): string[] | undefined {
  const queues = new Set<string>();
  for (const { message, recipients, email } of rows) {
    if (email.scheduledAt !== null) return undefined;
    for (const { domain } of recipients) queues.add(queueKeyOf(message, domain));
  }
  return [...queues];
}

/** Hands over the texts of emails that are due now. Test mail is not sent, and marketing mail is composed for each reader. */
function handOverDue(handOver: HandOver, rows: ReadonlySet<EmailRows>): void {
  for (const { message, email, source, textBytes } of rows)
    if (email.scheduledAt === null && message.kind === 'transactional' && message.mode === 'live')
      handOver({ id: message.id, source, sizeBytes: textBytes });
}

/** Returns the blobs of the emails that have one. */
export function blobsOf(rows: readonly EmailRows[]): BlobRow[] {
  return rows.flatMap(({ blob }) => blob ?? []);
}

function logAcceptedEmail(app: App, { message, recipients, blob, textBytes, email }: EmailRows): void {
  const { id: emailId, tenantId, mode, sender: from } = message;
  const scheduledAt = email.scheduledAt === null ? null : isoTime(email.scheduledAt);
  const sizeBytes = textBytes + (blob?.sizeBytes ?? 0);
  const size = { recipients: recipients.length, sizeBytes };
  logAccepted(app, { emailId, tenantId, mode, from, ...size, scheduledAt });
}
