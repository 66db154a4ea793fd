/**
 * An audience goes at once for everybody who asks, with its segments; a million contacts take longer, and are removed a
 * slice at a time by the worker, which holds up no other write.
 */

import type { AudienceRow } from '../db/marketing-tables.ts';
import { defineWrite } from '../db/operation.ts';
import { deleteContactsOf } from './contacts/store.ts';
import { deleteSegmentsOf } from './segments/store.ts';
import { findDeletedAudience, getAudience, hideAudience, removeAudience } from './store.ts';

type ToDelete = Pick<AudienceRow, 'tenantId'> & { id: string; now: number };

/** @throws AppError not_found */
export const deleteAudience = defineWrite(
  'audiences.delete',
  async (tx, { tenantId, id, now }: ToDelete): Promise<void> => {
    const audience = await getAudience(tx, tenantId, id);
    await hideAudience(tx, audience.id, now);
    await deleteSegmentsOf(tx, audience.id);
  },
);

/** A slice of the contacts of a deleted audience, or its row when it has none. False: no audience is to be cleared. `limit`: rows. */
export const clearDeleted = defineWrite(
  'audiences.clearDeleted',
  async (tx, { limit }: { limit: number }): Promise<boolean> => {
    const audience = await findDeletedAudience(tx);
    if (!audience) return false;
    const removed = await deleteContactsOf(tx, audience.id, limit);
    if (removed < limit) await removeAudience(tx, audience.id);
    return true;
  },
);
