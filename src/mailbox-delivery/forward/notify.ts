/**
 * Tells senders that their mail was forwarded and could not be delivered, or is delayed (RFC 5321 section 6.1, RFC 8689 section 4.2.1), and
 * those who ask for it that the next server has taken it (RFC 3461 section 5.2.2). Nobody is sent more notifications than the limits
 * allow; the log has the failures themselves in any case.
 */
import type { App } from '../../app.ts';
import { commitOutcome } from '../../db/commit-outcome.ts';
import type { FailureNotificationRow, NamedRecipient } from '../../db/inbound-tables.ts';
import type { RecipientRow } from '../../db/tables.ts';
import { type Mailbox, parseMailbox } from '../../mail/address.ts';
import { composeSenderReport } from '../../mail/dsn/sender-report.ts';
import { envelopeIdOf, originalRecipientOf, wantsNotification } from '../../mail/smtp/dsn-parameters.ts';
import { findNotification, NOTIFICATION_TASKS, namedRecipients } from '../../queue/notifications-store.ts';
import { parseQueueKey } from '../../queue/queue-key.ts';
import { readWantedMessage } from '../../queue/returned-message.ts';
import { isEnded } from '../../queue/status.ts';
import { findMessage, listRecipients, type SpooledMessage } from '../../queue/store.ts';
import { newId } from '../../system/ids.ts';
import { leaseOf, type TaskKind } from '../../tasks/kind.ts';
import { completeTask, type LeasedTask, retryTask, type TaskEnd } from '../../tasks/store.ts';
import { createSenderLimits, type MayTell, type Rate } from '../sender-limits.ts';
import { GIVE_BACK, type GivingBackApp, giveBack } from './give-back.ts';
import { buildOwnMail, type OwnMail } from './own-mail.ts';
import { settleNotification } from './settle.ts';

/** Maximum number of notifications that are made at the same time. */
const CONCURRENCY = 4;
/** Delay after a run that has failed, in milliseconds. */
const RETRY_MS = 600_000;
/** Number of runs after which a notification is given up, because each of them failed or ended the daemon. */
const MAX_ATTEMPTS = 5;
/** Time after which a mailbox that could not take its message back is asked again, in milliseconds. */
const WAIT_MS = 5 * 60_000;
/** A routing loop was detected (RFC 3463 X.4.6). A notification might be the next message that goes round. */
const LOOP = /^\d\.4\.6$/;
/** Statuses for which nobody gave details (RFC 3463 X.0.0 and X.4.7). The class says what has happened. */
const STATUSES = { failed: '5.0.0', delayed: '4.4.7', relayed: '2.0.0' } as const;
/** The wish of a sender that each notification needs. */
const WISHES = { failed: 'FAILURE', delayed: 'DELAY', relayed: 'SUCCESS' } as const;

/** Results without a notification that are as they should be. */
const SILENT: ReadonlySet<string> = new Set(['given_back', 'over', 'unwanted']);

type Built =
  | { result: 'queued' | 'delayed' | 'relayed'; mail: OwnMail }
  | { result: 'waiting'; reason: string }
  /** There is nothing to tell now, or the sender has not asked to be told of it. */
  | { result: 'over' }
  /** The sender does not want to be told of failures. */
  | { result: 'unwanted' }
  | { result: 'deleted' | 'given_back' | 'limited' | 'loop' };

/** Returns the notifications of senders as a kind of task. */
export function createNotificationKind(
  app: GivingBackApp,
  { domainRate }: { domainRate?: Rate } = {},
): TaskKind {
  const { db, clock } = app;
  const mayTell = createSenderLimits(clock, domainRate);
  const results = app.metrics.counter('inbound_notifications_total', 'Notifications about failed forwards.', [
    'result',
  ]);

  /** Waiting does not count as an attempt, so it never uses them up. */
  async function wait(task: LeasedTask, { reason }: { reason: string }): Promise<TaskEnd> {
    const { reference: emailId, attempts } = task;
    results.inc({ result: 'waiting' });
    app.log.warn({ emailId, reason }, 'a mailbox cannot take its message back, which waits');
    const dueAt = clock.now() + WAIT_MS;
    return commitOutcome(app, retryTask, { lease: leaseOf(task), dueAt, attempts: attempts - 1 });
  }

  async function settle(task: LeasedTask, result: string, mail?: OwnMail): Promise<TaskEnd> {
    const isDelay = result === 'delayed' || result === 'over';
    const end = await commitOutcome(app, settleNotification, { lease: leaseOf(task), mail, isDelay });
    if (end === 'stale') return end;
    results.inc({ result });
    if (mail) app.wakeups.notify('queue');
    else if (!SILENT.has(result))
      app.log.warn({ emailId: task.reference, result }, 'a sender was not told of a failure');
    return end;
  }

  return {
    name: NOTIFICATION_TASKS,
    leavesHost: false,
    concurrency: CONCURRENCY,
    backOff: (attempts) => (attempts < MAX_ATTEMPTS ? RETRY_MS : undefined),
    async run(task) {
      const notification = await findNotification(db.read, task.reference);
      if (!notification) return db.commit(completeTask, leaseOf(task));
      const built = await build(app, notification, mayTell);
      if (built.result === 'waiting') return wait(task, built);
      return settle(task, built.result, 'mail' in built ? built.mail : undefined);
    },
    giveUp: (task) => settle(task, 'given_up'),
  };
}

async function build(
  app: GivingBackApp,
  notification: FailureNotificationRow,
  mayTell: MayTell,
): Promise<Built> {
  const { messageId, address, recipient } = notification;
  const message = await findMessage(app.db.read, messageId);
  const recipients = await listRecipients(app.db.read, messageId);
  if (address === GIVE_BACK) return message ? await giveBack(app, message, recipient) : { result: 'deleted' };
  const to = parseMailbox(address);
  if (!message || message.blobId === null || !to) return { result: 'deleted' };
  const fate = fateOf(recipients);
  const named = fate
    ? namedRecipients(notification).filter(({ dsn }) => wantsNotification(dsn, WISHES[fate.action]))
    : [];
  if (!fate) return { result: 'over' };
  const { action, concerned } = fate;
  const isFailed = action === 'failed';
  if (named.length === 0) return { result: isFailed ? 'unwanted' : 'over' };
  if (isFailed && concerned.every(({ enhancedCode }) => LOOP.test(enhancedCode ?? '')))
    return { result: 'loop' };
  if (!mayTell(to)) return { result: isFailed ? 'limited' : 'over' };
  const mail = await write(app, { ...message, blobId: message.blobId }, { to, named, action, concerned });
  return { result: action === 'failed' ? 'queued' : action, mail };
}

type Fate = {
  action: keyof typeof STATUSES;
  /** The recipients that it has happened to. */
  concerned: readonly RecipientRow[];
};

/** Returns what the sender may be told; undefined when that is nothing. A failure matters most, and a message that is taken least. */
function fateOf(recipients: readonly RecipientRow[]): Fate | undefined {
  const fates: Fate[] = [
    { action: 'failed', concerned: recipients.filter(({ state }) => state === 'bounced') },
    { action: 'delayed', concerned: recipients.filter(({ state }) => !isEnded(state)) },
    { action: 'relayed', concerned: recipients.filter(({ state }) => state === 'delivered') },
  ];
  return fates.find(({ concerned }) => concerned.length > 0);
}

type Told = Fate & { to: Mailbox; named: readonly NamedRecipient[] };

/** The class of a status says what has happened, whatever the last server said (RFC 3463 section 2). */
function statusOf({ action, concerned: [first] }: Fate): string {
  const status = STATUSES[action];
  const [, detail] = /^[245](\.\d{1,3}\.\d{1,3})$/.exec(first?.enhancedCode ?? '') ?? [];
  return detail === undefined || action === 'relayed' ? status : `${status[0]}${detail}`;
}

type Forwarded = SpooledMessage & { blobId: NonNullable<SpooledMessage['blobId']> };

/** The null sender stops a bounce of the notification (RFC 5321 section 6.1). REQUIRETLS goes on to it (RFC 8689 section 5). */
async function write(app: App, message: Forwarded, told: Told): Promise<OwnMail> {
  const { headerBytes, createdAt: arrivedAt, expiresAt, requireTls, utf8 } = message;
  const { to, named, action, concerned } = told;
  const hostname = app.config.hostname.toLowerCase();
  const content = await app.blobs.open(message.blobId);
  const id = newId('em', app.clock.now());
  const composed = composeSenderReport({
    messageId: `${id}@${hostname}`,
    hostname,
    to,
    action,
    recipients: named.map(({ address, dsn }) => ({ address, original: originalRecipientOf(dsn) })),
    status: statusOf(told),
    triedUntil: action === 'delayed' ? expiresAt : undefined,
    envelopeId: envelopeIdOf(message.dsn),
    arrivedAt,
    isUtf8: utf8 === 1,
    header: (await content.head(headerBytes)).subarray(0, -'\r\n'.length),
    message: action === 'failed' ? await readWantedMessage(app, message) : undefined,
  });
  const [first] = concerned;
  const scheduledFor = first && parseQueueKey(first.queue).tenantId;
  const envelope = { to: [to.address], scheduledFor, returnPath: '', requireTls };
  return buildOwnMail(app, { id, ...composed, ...envelope });
}
