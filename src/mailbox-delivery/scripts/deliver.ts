/**
 * Delivers a message to a mailbox with scripts: the scripts decide, the message is stored in the folders, and the task is settled
 * together with what the scripts send. What they have decided is kept, so that a crash between two of these steps changes nothing.
 */

import type { DeliveryResult } from '../../accounts/delivery.ts';
import { discardAll, discardOnRefusal } from '../../blobs/discard-on-refusal.ts';
import type { ReceivedMessageRow } from '../../db/inbound-tables.ts';
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import { reportedRecipients, type SenderReportAction } from '../../inbound/sender-reports.ts';
import { listReceivedRecipients } from '../../inbound/store.ts';
import type { RunningReceivedTask, TaskOutcome } from '../../inbound/tasks/kind.ts';
import { settlementOfDone } from '../../inbound/tasks/store.ts';
import { wantsNotification } from '../../mail/smtp/dsn-parameters.ts';
import { memoryKey } from '../../mailboxes/scripts/memory-key.ts';
import { claim } from '../../mailboxes/scripts/memory-store.ts';
import type { NamedScript } from '../../mailboxes/scripts/named-script.ts';
import type { TaskEnd } from '../../tasks/store.ts';
import { readWaitingBytes } from '../store.ts';
import { type BuiltMail, blobsOf } from './built-mail.ts';
import { type Decision, decide } from './decide.ts';
import {
  type DecidingApp,
  readHeader,
  type ScriptApp,
  type ScriptedDelivery,
  type ScriptedMessage,
} from './delivery.ts';
import { noteFailure } from './failure-note.ts';
import { fileMessage } from './file.ts';
import { withinLimits } from './limit.ts';
import { buildOutgoing } from './outgoing.ts';
import { type Filing, hasSeveralSteps, keptUnless, type Plan } from './plan.ts';
import { findPlan, storePlan } from './plan-store.ts';
import { settleDelivery } from './settle.ts';

export type ScriptedTask = {
  task: RunningReceivedTask;
  mailbox: MailboxRow;
  message: ScriptedDelivery['message'];
  prefix: string;
  scripts: readonly NamedScript[];
};

/** Delivers the message. `waiting` means that it is to be tried again later. */
export async function deliverByScripts(
  app: ScriptApp,
  { scripts, ...task }: ScriptedTask,
): Promise<TaskOutcome | Extract<DeliveryResult, { kind: 'waiting' }>> {
  const delivery = await openDelivery(app, task);
  const decision = await findOrDecide(app, delivery, scripts);
  if (decision.kind === 'busy') return { kind: 'waiting', reason: decision.reason };
  const script = scripts.at(-1)?.name ?? '';
  const { isStored } = decision;
  const plan = await withinLimits(app, delivery, { plan: decision.plan, script });
  const filed = await fileMessage(app, delivery, plan.filings);
  if (filed.kind !== 'delivered') return filed;
  if (plan.failure) {
    const noted = await noteFailure(app, delivery, plan.failure);
    if (noted.kind !== 'delivered') return noted;
  }
  // Nothing else is stored with the end of the task.
  if (!isStored && plan.outgoing.length === 0 && plan.remembered.length === 0)
    return { kind: 'done', report: reportOf(delivery, { plan, built: [] }) };
  const built = await buildOutgoing(app, delivery, plan);
  const prepared = built.flatMap(blobsOf);
  return await discardOnRefusal(app.blobs, prepared, async () => {
    const copied = await fileRest(app, delivery, { plan, built });
    const result =
      copied.kind === 'delivered'
        ? ({ kind: 'settled', end: await settle(app, delivery, { plan, built }) } as const)
        : copied;
    if (result.kind === 'waiting' || result.end === 'stale') await discardAll(app.blobs, prepared);
    return result;
  });
}

async function openDelivery(app: ScriptApp, task: Omit<ScriptedTask, 'scripts'>): Promise<ScriptedDelivery> {
  const { message, mailbox } = task;
  const content = await app.blobs.open(message.blobId);
  const { position } = task.task;
  const recipients = await listReceivedRecipients(app.db.read, message.id);
  const recipient = recipients.find((one) => one.position === position);
  return {
    ...task,
    header: await readHeader(content),
    content,
    recipient: recipient?.address ?? mailbox.address,
    named: reportedRecipients(recipients, position).map(({ address, dsn }) => ({ address, dsn })),
    deliveryId: deliveryIdOf(message, task.task),
  };
}

/** Returns the id of a delivery, which is the same for each run of its task. */
export function deliveryIdOf(
  { id }: Pick<ReceivedMessageRow, 'id'>,
  { position }: Pick<RunningReceivedTask, 'position'>,
): string {
  return `${id}/${position}`;
}

type Kept = Exclude<Decision, { kind: 'decided' }> | { kind: 'decided'; plan: Plan; isStored: boolean };

/** Returns the plan of an earlier run, or what the scripts decide now. It is stored before the first of several steps. */
async function findOrDecide(
  app: ScriptApp,
  delivery: ScriptedDelivery,
  scripts: readonly NamedScript[],
): Promise<Kept> {
  const taskId = delivery.task.id;
  const kept = await findPlan(app.db.read, taskId);
  if (kept) return { kind: 'decided', plan: kept, isStored: true };
  const decision = await decide(app, delivery, scripts);
  if (decision.kind === 'busy') return decision;
  const plan = await withinQuota(app, delivery, decision.plan);
  if (!hasSeveralSteps(plan)) return { kind: 'decided', plan, isStored: false };
  return { kind: 'decided', plan: await storePlan(app, taskId, plan), isStored: true };
}

/** Stores what the scripts have not filed: a message that is not sent after all, and copies of what is. */
async function fileRest(
  app: ScriptApp,
  delivery: ScriptedDelivery,
  settled: Settled,
): Promise<DeliveryResult> {
  const kept = await keepUnsent(app, delivery, settled);
  return kept.kind === 'delivered' ? await fileCopies(app, delivery, settled.built) : kept;
}

/** Stores copies of what is sent (RFC 8580). A reply is sent for certain once its key is claimed, so its copy is stored then. */
async function fileCopies(
  app: ScriptApp,
  delivery: ScriptedDelivery,
  built: readonly BuiltMail[],
): Promise<DeliveryResult> {
  const { mailbox, deliveryId } = delivery;
  const now = app.clock.now();
  for (const mail of built) {
    if (mail.kind === 'redirect' || !mail.copy) continue;
    const memory = { mailboxId: mailbox.id, claimedBy: deliveryId, now };
    if (mail.claim && !(await app.db.commit(claim, { ...memory, ...mail.claim }))) continue;
    const { target, bytes } = mail.copy;
    const result = await app.mailboxDelivery.deliver({
      mailboxId: mailbox.id,
      deliveryId: `${deliveryId}/copy/${mail.kind}/${mail.position}`,
      content: { sizeBytes: bytes.length, bytes, file: undefined },
      prefix: '',
      isJunk: false,
      receivedAt: now,
      target,
    });
    if (result.kind !== 'delivered') return result;
  }
  return { kind: 'delivered' };
}

type Settled = { plan: Plan; built: readonly BuiltMail[] };

/** Keeps a message that was to be sent on and cannot be, when the plan stores it nowhere. */
async function keepUnsent(
  app: ScriptApp,
  delivery: ScriptedDelivery,
  { plan, built }: Settled,
): Promise<DeliveryResult> {
  const filings = filingsOf({ plan, built });
  return filings === plan.filings ? { kind: 'delivered' } : await fileMessage(app, delivery, filings);
}

/** Returns where the message is stored once it is known what is sent. */
function filingsOf({ plan, built }: Settled): readonly Filing[] {
  const isAllSent = countRedirects(built) === countRedirects(plan.outgoing);
  return keptUnless(isAllSent, plan).filings;
}

/**
 * Returns what the sender is told once the delivery is settled; undefined when that is nothing. A message that is refused, or sent on to one
 * address alone, has a report of its own. One that the scripts discard counts as delivered: nobody learns of it (RFC 5228 section 4.4).
 */
function reportOf({ message, named }: ScriptedDelivery, settled: Settled): SenderReportAction | undefined {
  const { plan, built } = settled;
  // A refusal has no report when its sender wants to hear of deliveries alone.
  if (message.reportsDelivery === 0 || plan.outgoing.some(({ kind }) => kind === 'reject')) return undefined;
  const redirects = countRedirects(built);
  if (redirects === 0 || filingsOf(settled).length > 0) return 'delivered';
  if (redirects > 1) return 'expanded';
  // The mailbox gets a message back about whose failure nobody wants to be told, so no notification follows it.
  return named.some(({ dsn }) => wantsNotification(dsn, 'FAILURE')) ? undefined : 'relayed';
}

function countRedirects(mail: readonly { kind: string }[]): number {
  return mail.filter(({ kind }) => kind === 'redirect').length;
}

/** Ends the task together with what the scripts send. */
async function settle(
  app: ScriptApp,
  delivery: ScriptedDelivery,
  { plan, built }: Settled,
): Promise<TaskEnd> {
  const { task, mailbox, deliveryId } = delivery;
  const now = app.clock.now();
  const { address, tenantId } = mailbox;
  const end = await app.db.commit(settleDelivery, {
    settlement: settlementOfDone(task.lease, now),
    claimant: { mailboxId: mailbox.id, claimedBy: deliveryId },
    sender: { mailbox: { address, tenantId }, maxOfTenant: app.config.submission.recipientsPerDayOfTenant },
    built: built.map(withoutCopy),
    report: reportTask(task, reportOf(delivery, { plan, built })),
    remembered: plan.remembered.map(({ key, seconds }) => ({
      key: memoryKey('duplicate', key),
      expiresAt: now + seconds * 1_000,
    })),
  });
  if (end !== 'stale' && built.length > 0) app.wakeups.notify('queue');
  return end;
}

function reportTask({ lease: _, ...task }: RunningReceivedTask, action: SenderReportAction | undefined) {
  return action && { ...task, action };
}

function withoutCopy(built: BuiltMail): BuiltMail {
  return built.kind === 'redirect' ? built : { ...built, copy: undefined };
}

/**
 * Returns the plan with the copies that fit into the quota. The message itself was compared with the quota before it was accepted, so
 * its first copy is always stored, with its own header where the edited one is too large.
 */
async function withinQuota(
  { db }: Pick<DecidingApp, 'db'>,
  { mailbox, header, content }: Pick<ScriptedMessage, 'mailbox' | 'header' | 'content'>,
  plan: Plan,
): Promise<Plan> {
  const [first, ...others] = plan.filings;
  if (!first || (others.length === 0 && first.header === null)) return plan;
  // The message itself is among those that wait.
  let freeBytes = mailbox.quotaBytes - mailbox.usedBytes - (await readWaitingBytes(db.read, mailbox.id));
  const growthOf = (filing: Filing) =>
    filing.header === null ? 0 : Buffer.byteLength(filing.header, 'base64') - header.length;
  const fits = (bytes: number) => {
    if (bytes > Math.max(freeBytes, 0)) return false;
    freeBytes -= bytes;
    return true;
  };
  const kept = fits(growthOf(first)) ? first : { ...first, header: null };
  const copies = others.filter((filing) => fits(content.sizeBytes + growthOf(filing)));
  return { ...plan, filings: [kept, ...copies] };
}
