/**
 * Writes reports to the senders of received mail about what became of it here (RFC 3461 section 5.2). The extension is offered to everybody on port 25,
 * but a report goes only to a sender that was proven when the message came: anybody else could have this installation write to strangers
 * (RFC 3461 section 8 leaves that to the server). Mail that is forwarded is reported by forward/notify.ts.
 */
import type { App } from '../../app.ts';
import { DamagedBlobError } from '../../blobs/damaged.ts';
import { commitOutcome } from '../../db/commit-outcome.ts';
import type { ReceivedMessageRow, ReceivedRecipientRow } from '../../db/inbound-tables.ts';
import {
  readSenderReport,
  reportedRecipients,
  SENDER_REPORT_TASKS,
  type SenderReport,
  type SenderReportAction,
} from '../../inbound/sender-reports.ts';
import { findReceived, listReceivedRecipients } from '../../inbound/store.ts';
import { isTaskPending } from '../../inbound/tasks/read-store.ts';
import { type Mailbox, parseMailbox } from '../../mail/address.ts';
import { splitFields } from '../../mail/dkim/verify/header-fields.ts';
import { composeSenderReport } from '../../mail/dsn/sender-report.ts';
import { MAX_HEADER_BYTES } from '../../mail/header-limits.ts';
import {
  asksForNotifications,
  envelopeIdOf,
  type Notification,
  originalRecipientOf,
  wantsNotification,
} from '../../mail/smtp/dsn-parameters.ts';
import { readWantedMessage } from '../../queue/returned-message.ts';
import { newId } from '../../system/ids.ts';
import { leaseOf, type TaskKind } from '../../tasks/kind.ts';
import type { LeasedTask, TaskEnd } from '../../tasks/store.ts';
import { buildOwnMail, type OwnMail } from '../forward/own-mail.ts';
import { provenSenderOf } from '../forward/proven-sender.ts';
import { createSenderLimits, type MayTell } from '../sender-limits.ts';
import { settleSenderReport } from './settle.ts';

/** Maximum number of reports that are made at the same time. */
const CONCURRENCY = 4;
/** Delay after a run that has failed, in milliseconds. */
const RETRY_MS = 600_000;
/** Number of runs after which a report is given up, because each of them failed or ended the daemon. */
const MAX_ATTEMPTS = 5;

/** The wish of a sender that each report needs. */
const WISHES: Readonly<Record<SenderReportAction, Notification>> = {
  delivered: 'SUCCESS',
  relayed: 'SUCCESS',
  expanded: 'SUCCESS',
  delayed: 'DELAY',
  failed: 'FAILURE',
};

/** Statuses (RFC 3463): X.2.0 is a mailbox that takes no mail for another reason than those that have a code. */
const STATUSES: Readonly<Record<SenderReportAction, string>> = {
  delivered: '2.0.0',
  relayed: '2.0.0',
  expanded: '2.0.0',
  delayed: '4.2.0',
  failed: '5.2.0',
};

type Built =
  | { result: 'queued'; mail: OwnMail }
  /** `unwanted`: there is nothing to report, or the sender has not asked for it. `unproven`: somebody else may have written the message. */
  | { result: 'unwanted' | 'unproven' | 'limited'; mail?: undefined };

/** Returns the reports to senders as a kind of task. */
export function createSenderReportKind(app: App): TaskKind {
  const mayTell = createSenderLimits(app.clock);
  const results = app.metrics.counter(
    'inbound_sender_reports_total',
    'Reports to the senders of received mail.',
    ['result'],
  );

  async function settle(task: LeasedTask, result: string, mail?: OwnMail): Promise<TaskEnd> {
    const end = await commitOutcome(app, settleSenderReport, { lease: leaseOf(task), mail });
    if (end === 'stale') return end;
    results.inc({ result });
    if (mail) app.wakeups.notify('queue');
    return end;
  }

  return {
    name: SENDER_REPORT_TASKS,
    leavesHost: false,
    concurrency: CONCURRENCY,
    backOff: (attempts) => (attempts < MAX_ATTEMPTS ? RETRY_MS : undefined),
    async run(task) {
      const report = readSenderReport(task.reference);
      const { result, mail } = report ? await build(app, report, mayTell) : UNWANTED;
      return settle(task, result, mail);
    },
    giveUp: (task) => settle(task, 'given_up'),
  };
}

const UNWANTED: Built = { result: 'unwanted' };

async function build(app: App, report: SenderReport, mayTell: MayTell): Promise<Built> {
  const { messageId, position, action } = report;
  const message = await findReceived(app.db.read, messageId);
  const recipients = reportedRecipients(await listReceivedRecipients(app.db.read, messageId), position);
  const told = recipients.filter(({ dsn }) => wantsNotification(dsn, WISHES[action]));
  if (!message || told.length === 0) return UNWANTED;
  // A mailbox may have taken the message in the meantime.
  if (action === 'delayed' && !(await isTaskPending(app.db.read, report))) return UNWANTED;
  const header = await readHeader(app, message);
  const address = await provenSenderOf(app, message, {
    fields: splitFields(header.toString('latin1')),
    hasAsked: told.some(({ dsn }) => asksForNotifications(dsn)),
  });
  const to = address === undefined ? undefined : parseMailbox(address);
  if (!to) return { result: 'unproven' };
  if (!mayTell(to)) return { result: 'limited' };
  return { result: 'queued', mail: await write(app, message, { action, told, to, header }) };
}

const HEADER_END = '\r\n\r\n';

/** Returns the header of the message without the empty line; nothing when its bytes were deleted or are damaged. */
async function readHeader({ blobs }: Pick<App, 'blobs'>, { blobId }: ReceivedMessageRow): Promise<Buffer> {
  if (blobId === null) return Buffer.alloc(0);
  try {
    const content = await blobs.open(blobId);
    const head = await content.head(MAX_HEADER_BYTES + HEADER_END.length);
    const end = head.indexOf(HEADER_END);
    return end < 0 ? head : head.subarray(0, end + HEADER_END.length / 2);
  } catch (error) {
    if (!(error instanceof DamagedBlobError)) throw error;
    return Buffer.alloc(0);
  }
}

type Told = {
  action: SenderReportAction;
  told: readonly ReceivedRecipientRow[];
  to: Mailbox;
  header: Buffer;
};

/** The null sender stops a bounce of the report (RFC 3461 section 6.1). REQUIRETLS goes on to it (RFC 8689 section 5). */
async function write(
  app: App,
  message: ReceivedMessageRow,
  { action, told, to, header }: Told,
): Promise<OwnMail> {
  const { createdAt: arrivedAt, dsn, requireTls, tenantId, utf8 } = message;
  const hostname = app.config.hostname.toLowerCase();
  const id = newId('em', app.clock.now());
  const composed = composeSenderReport({
    messageId: `${id}@${hostname}`,
    hostname,
    to,
    action,
    status: STATUSES[action],
    recipients: told.map(({ address, dsn: parameters }) => ({
      address,
      original: originalRecipientOf(parameters),
    })),
    envelopeId: envelopeIdOf(dsn),
    arrivedAt,
    isUtf8: utf8 === 1,
    header,
    message: action === 'failed' ? await readWantedMessage(app, message) : undefined,
  });
  const scheduledFor = tenantId ?? undefined;
  return buildOwnMail(app, { id, ...composed, to: [to.address], scheduledFor, returnPath: '', requireTls });
}
