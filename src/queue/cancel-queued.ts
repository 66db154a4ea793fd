/**
 * Cancels what waits or is held in the delivery queues of a tenant that is deleted, once its own messages are gone: what its mailboxes have
 * forwarded, which is mail of the installation.
 */
import type { Tx } from '../db/operation.ts';
import type { TenantRow } from '../db/tenant-tables.ts';
import { EVERYTHING } from './control/selection.ts';
import { findNextQueue, type WalkedState } from './control/walk-store.ts';
import { getMail } from './mail-store.ts';
import { listInQueue, listQueuesInFlight } from './parked-store.ts';
import { parseQueueKey } from './queue-key.ts';
import { isWaiting } from './state/cancel.ts';
import { changeEach } from './state/change.ts';

const STATES: readonly WalkedState[] = ['waiting', 'held'];
/** Maximum number of searches for a delivery queue, of which the keys leave out those of other tenants. */
const MAX_SEARCHES = 1_000;

const DELETED = {
  cause: 'canceled',
  diagnostic: 'The account that has forwarded the mail was deleted',
} as const;

type Slice = { tenantId: TenantRow['id']; now: number; rows: number };

/** Cancels the next mail. Returns the number of recipients, and whether others are being sent to at this moment. */
export async function cancelQueued(
  tx: Tx,
  { tenantId, now, rows }: Slice,
): Promise<{ canceled: number; isSending: boolean }> {
  const walk = { selection: { ...EVERYTHING, tenantId }, isAtSite: () => true, states: STATES, from: '' };
  const { queue } = await findNextQueue(tx, { ...walk, maxSearches: MAX_SEARCHES });
  let canceled = 0;
  if (queue !== undefined)
    for (const state of STATES)
      for (const messageId of await listInQueue(tx, { queue, state, limit: rows }))
        canceled += await changeEach(tx, await getMail(tx, messageId), {
          now,
          transitionOf: (recipient) =>
            isWaiting(recipient) && recipient.queue === queue ? DELETED : undefined,
        });
  const sending = canceled > 0 ? [] : await listQueuesInFlight(tx);
  return { canceled, isSending: sending.some((one) => parseQueueKey(one).tenantId === tenantId) };
}
