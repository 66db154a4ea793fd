/**
 * Reports to the senders of received mail about what became of it here (RFC 3461 section 5.2). A report is a task of the engine that nothing else
 * belongs to: its reference names the message, a recipient, and what has happened. mailbox-delivery/sender-reports writes the report.
 */
import type { ReceivedMessageRow, ReceivedRecipientRow } from '../db/inbound-tables.ts';
import type { Tx } from '../db/operation.ts';
import { isId } from '../system/ids.ts';
import { scheduleTask } from '../tasks/store.ts';
import { INSTALLATION_TENANT } from '../tenants/installation.ts';

/** Kind of the tasks that write reports. */
export const SENDER_REPORT_TASKS = 'sender-reports';

const ACTIONS = ['delivered', 'relayed', 'expanded', 'delayed', 'failed'] as const;
/**
 * The fate of a recipient (RFC 3464 section 2.3.3). `relayed`: its mailbox sends the message on to one address, and nobody says what becomes
 * of it there; `expanded`: to several.
 */
export type SenderReportAction = (typeof ACTIONS)[number];

export type SenderReport = {
  messageId: ReceivedMessageRow['id'];
  /** Position of a recipient. The report is about each recipient with the same target. */
  position: number;
  action: SenderReportAction;
};

type NewSenderReport = SenderReport & { tenantId: ReceivedMessageRow['tenantId']; dueAt: number };

/** Makes a report due, as part of the write that changes the fate of the recipient. A report that waits already is not made twice. */
export async function scheduleSenderReport(
  tx: Tx,
  { tenantId, dueAt, messageId, position, action }: NewSenderReport,
): Promise<void> {
  await scheduleTask(tx, {
    kind: SENDER_REPORT_TASKS,
    reference: `${messageId}/${position}/${action}`,
    queueKey: tenantId ?? INSTALLATION_TENANT,
    tenantId,
    dueAt,
  });
}

/** Returns the report that the reference of a task names; undefined for one that names none. */
export function readSenderReport(reference: string): SenderReport | undefined {
  const [messageId = '', position = '', name = ''] = reference.split('/');
  const action = ACTIONS.find((one) => one === name);
  return isId('in', messageId) && action ? { messageId, position: Number(position), action } : undefined;
}

/**
 * Returns the positions of the recipients whose delivery is reported as soon as the message is accepted. A program reads it from then on: one of
 * this installation, or one of the tenant, by a route and the API. The task of a mailbox, or of mail that is forwarded, knows later.
 */
export function deliveredWhenAccepted(
  recipients: readonly Pick<ReceivedRecipientRow, 'address' | 'kind' | 'targetId' | 'position'>[],
  isForwarded: boolean,
): number[] {
  const later = (kind: ReceivedRecipientRow['kind']) =>
    kind === 'mailbox' || kind === 'srs' || (kind === 'postmaster' && isForwarded);
  const positions = new Map<string, number>();
  for (const { kind, targetId, position } of recipients)
    if (!later(kind) && !positions.has(`${kind} ${targetId}`)) positions.set(`${kind} ${targetId}`, position);
  return [...positions.values()];
}

/**
 * Returns the recipients that a report is about: all with the target of the one at the position, each address once. An address with a mailbox
 * and a route is reported with the mailbox.
 */
export function reportedRecipients(
  recipients: readonly ReceivedRecipientRow[],
  position: number,
): ReceivedRecipientRow[] {
  const named = recipients.find((one) => one.position === position);
  const withMailbox = new Set(
    recipients.filter(({ kind }) => kind === 'mailbox').map(({ address }) => address),
  );
  const byAddress = new Map<string, ReceivedRecipientRow>();
  for (const one of recipients) {
    if (one.kind !== named?.kind || (one.targetId !== named.targetId && one.kind !== 'postmaster')) continue;
    if (one.kind === 'post' && withMailbox.has(one.address)) continue;
    if (!byAddress.has(one.address)) byAddress.set(one.address, one);
  }
  return [...byAddress.values()];
}
