/**
 * Tells senders that their mail was forwarded and could not be delivered, or is delayed (RFC 5321 section 6.1, RFC 8689 section 4.2.1).
 * Nobody is sent
 * more notifications than the limits allow; the log has the failures themselves in any case.
 */
import type { App } from '../../app.ts';
import { commitOutcome } from '../../db/commit-outcome.ts';
import type { FailureNotificationRow } from '../../db/inbound-tables.ts';
import type { RecipientRow } from '../../db/tables.ts';
import { addressKey, type Mailbox, parseMailbox } from '../../mail/address.ts';
import { composeForwardReport } from '../../mail/dsn/write.ts';
import { findNotification, NOTIFICATION_TASKS } from '../../queue/notifications-store.ts';
import { parseQueueKey } from '../../queue/queue-key.ts';
import { isEnded } from '../../queue/status.ts';
import { findMessage, listRecipients, type SpooledMessage } from '../../queue/store.ts';
import type { Clock } from '../../system/clock.ts';
import { createTokenBuckets } from '../../system/guards/token-buckets.ts';
import { newId } from '../../system/ids.ts';
import { leaseOf, type TaskKind } from '../../tasks/kind.ts';
import { completeTask, type LeasedTask, retryTask, type TaskEnd } from '../../tasks/store.ts';
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
/** Maximum rates of notifications to one address, and to one domain. */
export const ADDRESS_RATE = { burst: 20, tokensPerSecond: 1 / 300 };
const DOMAIN_RATE = { burst: 200, tokensPerSecond: 1 / 10 };
/** Maximum number of addresses and domains that are counted. When more are active at once, some may exceed their rate. */
const MAX_COUNTED = 10_000;

/** A routing loop was detected (RFC 3463 X.4.6). A notification might be the next message that goes round. */
const LOOP = /^\d\.4\.6$/;
/** Details of a failure, and of a delay, for which nobody gave other ones (RFC 3463 X.0.0 and X.4.7). */
const UNKNOWN = { failed: '.0.0', delayed: '.4.7' } as const;

type Built =
  | { result: 'queued' | 'delayed'; mail: OwnMail }
  | { result: 'waiting'; reason: string }
  /** The recipients have neither failed nor wait: there is nothing to tell now. */
  | { result: 'over' }
  | { result: 'deleted' | 'given_back' | 'limited' | 'loop' };

/** Returns the notifications of senders as a kind of task. */
export function createNotificationKind(
  app: GivingBackApp,
  { domainRate = DOMAIN_RATE }: { domainRate?: typeof DOMAIN_RATE } = {},
): TaskKind {
  const { db, clock } = app;
  const mayTell = createLimits(clock, domainRate);
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
    else if (result !== 'given_back' && result !== 'over')
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
  { messageId, address, recipient }: FailureNotificationRow,
  mayTell: (to: Mailbox) => boolean,
): Promise<Built> {
  const message = await findMessage(app.db.read, messageId);
  const recipients = await listRecipients(app.db.read, messageId);
  const failed = recipients.filter(({ state }) => state === 'bounced');
  if (address === GIVE_BACK) return message ? await giveBack(app, message, recipient) : { result: 'deleted' };
  const to = parseMailbox(address);
  if (!message || message.blobId === null || !to) return { result: 'deleted' };
  const { blobId } = message;
  if (failed.length === 0) {
    const delayed = recipients.filter(({ state }) => !isEnded(state));
    if (delayed.length === 0 || !mayTell(to)) return { result: 'over' };
    const told = { blobId, to, recipient, action: 'delayed', concerned: delayed } as const;
    return { result: 'delayed', mail: await write(app, message, told) };
  }
  if (failed.every(({ enhancedCode }) => LOOP.test(enhancedCode ?? ''))) return { result: 'loop' };
  if (!mayTell(to)) return { result: 'limited' };
  const told = { blobId, to, recipient, action: 'failed', concerned: failed } as const;
  return { result: 'queued', mail: await write(app, message, told) };
}

/** Returns a function that counts a notification, and returns false when the address or its domain has had too many. */
function createLimits(
  clock: Pick<Clock, 'elapsed'>,
  domainRate: typeof DOMAIN_RATE,
): (to: Mailbox) => boolean {
  const addresses = createTokenBuckets(clock, MAX_COUNTED);
  const domains = createTokenBuckets(clock, MAX_COUNTED);
  return ({ address, domain }) =>
    addresses.take(addressKey(address), ADDRESS_RATE).allowed && domains.take(domain, domainRate).allowed;
}

type Told = {
  blobId: NonNullable<SpooledMessage['blobId']>;
  to: Mailbox;
  recipient: string;
  action: keyof typeof UNKNOWN;
  /** The recipients that it has happened to. */
  concerned: readonly RecipientRow[];
};

/** The class of a status says what has happened, whatever the last server said (RFC 3463 section 2). */
function statusOf({ action, concerned: [first] }: Told): string {
  const [, detail = UNKNOWN[action]] = /^[245](\.\d{1,3}\.\d{1,3})$/.exec(first?.enhancedCode ?? '') ?? [];
  return `${action === 'failed' ? 5 : 4}${detail}`;
}

/** The null sender stops a bounce of the notification (RFC 5321 section 6.1). REQUIRETLS goes on to it (RFC 8689 section 5). */
async function write(
  app: App,
  { headerBytes, createdAt: arrivedAt, expiresAt, requireTls, utf8 }: SpooledMessage,
  told: Told,
): Promise<OwnMail> {
  const { blobId, to, recipient, action, concerned } = told;
  const hostname = app.config.hostname.toLowerCase();
  const content = await app.blobs.open(blobId);
  const id = newId('em', app.clock.now());
  const composed = composeForwardReport({
    messageId: `${id}@${hostname}`,
    hostname,
    to,
    recipient,
    status: statusOf(told),
    triedUntil: action === 'delayed' ? expiresAt : undefined,
    arrivedAt,
    isUtf8: utf8 === 1,
    header: (await content.head(headerBytes)).subarray(0, -'\r\n'.length),
  });
  const [first] = concerned;
  const scheduledFor = first && parseQueueKey(first.queue).tenantId;
  const envelope = { to: [to.address], scheduledFor, returnPath: '', requireTls };
  return buildOwnMail(app, { id, ...composed, ...envelope });
}
