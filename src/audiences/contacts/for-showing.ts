/** Prepares contacts to be shown by the API and in events: it reads what stands outside of their rows. */
import type { ContactRow } from '../../db/marketing-tables.ts';
import type { Tx } from '../../db/operation.ts';
import type { Mode } from '../../db/tables.ts';
import { type WithConfirmation, withConfirmations } from '../opt-in/request.ts';
import { withLiveTopics } from './store.ts';

type Viewer = { tenantId: ContactRow['tenantId']; mode: Mode };

/** Returns the contacts without their choices of deleted topics, and the pending ones with their confirmation mails. */
export async function forShowing(
  tx: Tx,
  { tenantId, mode }: Viewer,
  contacts: readonly ContactRow[],
): Promise<WithConfirmation[]> {
  return withConfirmations(tx, mode, await withLiveTopics(tx, tenantId, contacts));
}
