/**
 * Limits what the scripts of a mailbox send. Strangers decide how much mail comes, and can decide where a script sends it, so it has limits
 * of its own beside those of what the owner submits: nobody can use them up for the owner, nor send spam to the world by the mailbox.
 */
import type { Tx } from '../../db/operation.ts';
import { addUse, type Counted, readUse, type Use } from '../../submission/limits/store.ts';
import type { ScriptApp, ScriptedDelivery } from './delivery.ts';
import { limitRedirects, type Outgoing, type Plan, planAfterFailure } from './plan.ts';

type SentKind = Extract<keyof Use, 'sentByScripts' | 'notified'>;

/** Maximum numbers of recipients of a mailbox within 24 hours. */
export const MAX_SENT: Readonly<Record<SentKind, number>> = { sentByScripts: 1_000, notified: 50 };

/** Returns the limit that counts something which is sent. */
export function limitOf(kind: Outgoing['kind']): SentKind {
  return kind === 'notify' ? 'notified' : 'sentByScripts';
}

/**
 * Returns what may be done of a plan. Mail that looks like spam is kept, and causes no other mail than its refusal. A mailbox that has sent
 * on too much within 24 hours, or a tenant whose mailboxes have together, keeps the message, and its owner is told as if the script had failed.
 */
export async function withinLimits(
  app: ScriptApp,
  { mailbox, message }: Pick<ScriptedDelivery, 'mailbox' | 'message'>,
  { plan, script }: { plan: Plan; script: string },
): Promise<Plan> {
  if (plan.outgoing.length === 0) return plan;
  if (message.flagged === 1) {
    const kept = limitRedirects(plan, 0);
    return { ...kept, outgoing: kept.outgoing.filter(({ kind }) => kind === 'reject') };
  }
  const problemOf = (limit: SentKind) => {
    const recipients = plan.outgoing.filter(({ kind }) => limitOf(kind) === limit).reduce(addRecipients, 0);
    const { recipientsPerDayOfTenant: maxOfTenant } = app.config.submission;
    const sending = { mailbox, limit, recipients, maxOfTenant, now: app.clock.now() };
    return recipients === 0 ? undefined : findExcess(app.db.read, sending);
  };
  const problem = await problemOf('sentByScripts');
  if (problem !== undefined) return planAfterFailure({ script, line: 0, message: problem });
  if ((await problemOf('notified')) === undefined) return plan;
  return { ...plan, outgoing: plan.outgoing.filter(({ kind }) => kind !== 'notify') };
}

function addRecipients(sum: number, action: Outgoing): number {
  return sum + (action.kind === 'notify' ? action.to.length + action.cc.length : 1);
}

type Sending = {
  mailbox: Counted;
  limit: SentKind;
  recipients: number;
  /** Maximum number of recipients of the scripts of all mailboxes of the tenant within 24 hours. */
  maxOfTenant: number;
  now: number;
};

/** Returns the limit that this number of further recipients would exceed, as a text; undefined when there is none. */
async function findExcess(
  tx: Tx,
  { mailbox: { address, tenantId }, limit, recipients, maxOfTenant, now }: Sending,
): Promise<string | undefined> {
  if ((await readUse(tx, address, now))[limit] + recipients > MAX_SENT[limit])
    return `it sends to more than ${MAX_SENT[limit]} recipients a day`;
  const ofTenant = await readUse(tx, tenantId, now);
  if (ofTenant.sentByScripts + ofTenant.notified + recipients > maxOfTenant)
    return `the mailboxes of its account send on to more than ${maxOfTenant} recipients a day together`;
  return undefined;
}

/** Counts the recipients of a message as part of the write that queues it. Returns false, and counts none, when they are too many. */
export async function countRecipients(tx: Tx, sending: Sending): Promise<boolean> {
  if ((await findExcess(tx, sending)) !== undefined) return false;
  const { mailbox, limit, recipients, now } = sending;
  await addUse(tx, mailbox, { [limit]: recipients, now });
  return true;
}
