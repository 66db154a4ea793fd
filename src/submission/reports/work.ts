/**
 * Tells the writers of messages what becomes of them, with messages in their INBOX. A report is planned on disk before it is delivered, and
 * delivered under an id, so that it arrives once after any crash. A message about which everything was reported is deleted.
 */

import type { MailboxDelivery } from '../../accounts/delivery.ts';
import type { App } from '../../app.ts';
import { DamagedBlobError } from '../../blobs/damaged.ts';
import { commitOutcome } from '../../db/commit-outcome.ts';
import type { SubmittedMessageRow } from '../../db/submission-tables.ts';
import type { RecipientRow } from '../../db/tables.ts';
import { findMailboxById } from '../../mailboxes/store.ts';
import { readWantedMessage } from '../../queue/returned-message.ts';
import { findMessage, listRecipients, type SpooledMessage } from '../../queue/store.ts';
import { endSubmitted, findSubmitted, REPORT_TASKS, settleSubmitted } from '../../queue/submitted/store.ts';
import { errorMessage } from '../../system/errors.ts';
import { leaseOf, type TaskKind } from '../../tasks/kind.ts';
import { completeTask, type Lease, type TaskEnd } from '../../tasks/store.ts';
import { composeSubmissionReport } from './compose.ts';
import { type PlannedReport, planReport, type Reported, reportedAfter } from './plan.ts';

type Found = { row: SubmittedMessageRow; message: SpooledMessage; recipients: RecipientRow[] };

/** Maximum number of messages that are checked at the same time. A tenant alone gets three quarters of them. */
const CONCURRENCY = 8;
const HELD_PER_FREE = 3;
/** Delay after a check that has failed, in milliseconds. */
const RETRY_MS = 600_000;
/**
 * Maximum size of what a report returns of the header. Headers can have 256 KiB, and reports come to full mailboxes too; the fields that
 * people know a message by are at the beginning.
 */
const MAX_RETURNED_BYTES = 16 * 1024;
/** Time after which a mailbox that could not take a report is asked again, in milliseconds. */
const WAIT_MS = 60_000;

const CRLF = '\r\n';

/** Returns the checks of messages, whose writers get reports, as a kind of task. */
export function createReportKind(app: App & { mailboxDelivery: MailboxDelivery }): TaskKind {
  const { db, clock } = app;
  const reports = app.metrics.counter('submission_reports_total', 'Reports to the writers of messages.', [
    'action',
  ]);

  async function check(lease: Lease, found: Found): Promise<TaskEnd> {
    const { row, message, recipients } = found;
    const reported = JSON.parse(row.told) as Reported;
    const now = clock.now();
    const settle = (change: Partial<SubmittedMessageRow> & { dueAt: number | null }) =>
      commitOutcome(app, settleSubmitted, { ...row, ...change, lease });
    if (row.report !== null) {
      const pending = JSON.parse(row.report) as PlannedReport;
      if (!(await deliver(app, found, pending))) return settle({ dueAt: now + WAIT_MS });
      reports.inc({ action: pending.action });
      const told = JSON.stringify(reportedAfter(pending, { message, reported, now }));
      return settle({ told, report: null, reports: row.reports + 1, dueAt: now });
    }
    const plan = planReport({ message, recipients, reported, now });
    if (plan.kind === 'report') return settle({ report: JSON.stringify(plan.report), dueAt: now });
    if (plan.kind === 'wait') return settle({ dueAt: plan.dueAt });
    const { end, file } = await commitOutcome(app, endSubmitted, { lease, message });
    if (file) await app.blobs.discard(file);
    return end;
  }

  return {
    name: REPORT_TASKS,
    leavesHost: false,
    concurrency: CONCURRENCY,
    perFree: HELD_PER_FREE,
    backOff: () => RETRY_MS,
    async run(task) {
      const found = await read(app, task.reference);
      return found ? check(leaseOf(task), found) : db.commit(completeTask, leaseOf(task));
    },
  };
}

async function read({ db }: Pick<App, 'db'>, messageId: string): Promise<Found | undefined> {
  const row = await findSubmitted(db.read, messageId);
  const message = await findMessage(db.read, messageId);
  return row && message && { row, message, recipients: await listRecipients(db.read, messageId) };
}

/**
 * Delivers a report. Returns false when the mailbox cannot take it at the moment. A mailbox that was deleted gets no report, and a full one
 * only of failures.
 */
async function deliver(
  app: App & { mailboxDelivery: MailboxDelivery },
  { row, message, recipients }: Found,
  { action, positions }: PlannedReport,
): Promise<boolean> {
  const mailbox =
    message.mailboxId === null ? undefined : await findMailboxById(app.db.read, message.mailboxId);
  if (!mailbox) return true;
  const isFull = mailbox.usedBytes >= mailbox.quotaBytes;
  if (action !== 'failed' && isFull) return true;
  const hostname = app.config.hostname.toLowerCase();
  const now = app.clock.now();
  const bytes = composeSubmissionReport({
    hostname,
    messageId: `${message.id}.${row.reports + 1}@${hostname}`,
    message,
    action,
    recipients: recipients.filter(({ position }) => positions.includes(position)),
    returned: {
      header: await readHeader(app, message),
      message: action === 'failed' && !isFull ? await readWantedMessage(app, message) : undefined,
    },
    now,
  });
  const result = await app.mailboxDelivery
    .deliver({
      mailboxId: mailbox.id,
      deliveryId: `${message.id}/report-${row.reports + 1}`,
      content: { sizeBytes: bytes.length, bytes, file: undefined },
      prefix: `Return-Path: <>\r\nDelivered-To: ${mailbox.address}\r\n`,
      isJunk: false,
      receivedAt: now,
    })
    // A mailbox whose files cannot be opened, for instance on a full disk, is asked again soon, and not when the lease ends.
    .catch((error: unknown) => ({ kind: 'waiting', reason: errorMessage(error) }) as const);
  if (result.kind === 'waiting')
    app.log.warn(
      { mailboxId: mailbox.id, reason: result.reason },
      'a mailbox cannot take a report, which waits for it',
    );
  return result.kind === 'delivered';
}

/** Returns the header of the message, or the lines at its beginning. A report about a message whose bytes are damaged has none. */
async function readHeader(app: Pick<App, 'blobs'>, { blobId, headerBytes }: SpooledMessage): Promise<Buffer> {
  if (blobId === null) return Buffer.alloc(0);
  try {
    const content = await app.blobs.open(blobId);
    const head = await content.head(Math.min(headerBytes, MAX_RETURNED_BYTES));
    const isWhole = head.length === headerBytes;
    return isWhole ? head.subarray(0, -CRLF.length) : head.subarray(0, head.lastIndexOf(CRLF) + CRLF.length);
  } catch (error) {
    if (!(error instanceof DamagedBlobError)) throw error;
    return Buffer.alloc(0);
  }
}
