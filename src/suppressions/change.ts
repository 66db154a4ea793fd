/** Adds addresses to the suppression list and removes them. The events are recorded in the same transaction. */

import type { SuppressionRow } from '../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import type { Mode } from '../db/tables.ts';
import { type EventType, recordEvent } from '../events/store.ts';
import { newId } from '../system/ids.ts';
import { forgetEvidence } from './evidence-store.ts';
import { showSuppression } from './show.ts';
import { deleteSuppression, type Suppressed, suppress } from './store.ts';

/**
 * `mode` is that of the API key or the message; the endpoints of this mode get the event. `now` is Unix milliseconds.
 */
type Cause = { mode: Mode; now: number };

/**
 * Suppresses an address, as part of a write. An address that is on the list already gets no event, even if its reason
 * changes: the bounce or the complaint that changed it has an event of its own.
 */
export async function addSuppression(tx: Tx, wanted: SuppressionRow, cause: Cause): Promise<Suppressed> {
  const added = await suppress(tx, wanted);
  const { outcome, suppression } = added;
  if (outcome === 'created') await record(tx, 'suppression.added', { suppression, ...cause });
  return added;
}

/** Suppresses all of the addresses or none. Returns one result for each, in their order. */
export const addSuppressions = defineWrite(
  'suppressions.add',
  async (tx, { wanted, cause }: { wanted: readonly SuppressionRow[]; cause: Cause }) => {
    const added: Suppressed[] = [];
    for (const one of wanted) added.push(await addSuppression(tx, one, cause));
    return added;
  },
);

type Removal = { tenantId: SuppressionRow['tenantId']; keys: readonly string[]; cause: Cause };

/**
 * Removes suppressions. `keys` are ids or addresses in lower case. Returns for each, in their order, whether it was
 * on the list.
 */
export const removeSuppressions = defineWrite(
  'suppressions.remove',
  async (tx, { tenantId, keys, cause }: Removal) => {
    const removed: boolean[] = [];
    for (const key of keys) {
      const suppression = await deleteSuppression(tx, tenantId, key);
      if (suppression) {
        // Somebody knows better than the bounces so far.
        await forgetEvidence(tx, { tenantId, address: suppression.email });
        await record(tx, 'suppression.removed', { suppression, ...cause });
      }
      removed.push(suppression !== undefined);
    }
    return removed;
  },
);

type SuppressionChange = Cause & { suppression: SuppressionRow };

function record(tx: Tx, type: EventType, { suppression, mode, now }: SuppressionChange): Promise<void> {
  return recordEvent(tx, {
    id: newId('evt', now),
    tenantId: suppression.tenantId,
    mode,
    type,
    emailId: null,
    data: showSuppression(suppression),
    createdAt: now,
  });
}
