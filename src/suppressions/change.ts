/** What is put on the list and taken off it, and the events that tell of it, in one transaction. */

import type { SuppressionRow } from '../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import type { Mode } from '../db/tables.ts';
import { type EventType, recordEvent } from '../events/store.ts';
import { newId } from '../system/ids.ts';
import { showSuppression } from './show.ts';
import { deleteSuppression, type Suppressed, suppress } from './store.ts';

/** `mode`: of the key or the message it comes from, whose endpoints are told. `now`: epoch milliseconds. */
type Cause = { mode: Mode; now: number };

/**
 * Part of a write. An address that is on the list already is no news, whatever becomes of its reason: what made the
 * stronger one, a bounce or a complaint, has an event of its own.
 */
export async function addSuppression(tx: Tx, wanted: SuppressionRow, cause: Cause): Promise<Suppressed> {
  const added = await suppress(tx, wanted);
  if (added.outcome === 'created') await record(tx, 'suppression.added', added.suppression, cause);
  return added;
}

/** All or none; one answer for each, in their order. */
export const addSuppressions = defineWrite(
  'suppressions.add',
  async (tx, { wanted, cause }: { wanted: readonly SuppressionRow[]; cause: Cause }) => {
    const added: Suppressed[] = [];
    for (const one of wanted) added.push(await addSuppression(tx, one, cause));
    return added;
  },
);

type Removal = { tenantId: SuppressionRow['tenantId']; keys: readonly string[]; cause: Cause };

/** `keys`: ids or addresses in lower case. Answers of each, in their order, whether it was on the list. */
export const removeSuppressions = defineWrite(
  'suppressions.remove',
  async (tx, { tenantId, keys, cause }: Removal) => {
    const removed: boolean[] = [];
    for (const key of keys) {
      const suppression = await deleteSuppression(tx, tenantId, key);
      if (suppression) await record(tx, 'suppression.removed', suppression, cause);
      removed.push(suppression !== undefined);
    }
    return removed;
  },
);

function record(tx: Tx, type: EventType, suppression: SuppressionRow, { mode, now }: Cause): Promise<void> {
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
