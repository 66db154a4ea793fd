/** Suppresses the address of a recipient who must not be sent to any more. */
import type { Tx } from '../db/operation.ts';
import type { RecipientRow } from '../db/tables.ts';
import { addSuppression } from '../suppressions/change.ts';
import { newId } from '../system/ids.ts';
import { INSTALLATION_TENANT } from '../tenants/installation.ts';
import type { SpooledMessage } from './store.ts';

type Cause = {
  recipient: Pick<RecipientRow, 'address'>;
  reason: 'bounce' | 'complaint';
  diagnostic: string;
  /** Time of the bounce or the complaint, in Unix milliseconds. */
  now: number;
};

/** Suppresses the address for the tenant of the message, as part of the write that stores the bounce or the complaint. */
export async function suppressRecipient(
  tx: Tx,
  { id, tenantId, mode }: Pick<SpooledMessage, 'id' | 'tenantId' | 'mode'>,
  { recipient, reason, diagnostic, now }: Cause,
): Promise<void> {
  // A suppression of the installation could be lifted by nobody, and the mail of its postmaster would be lost without a word.
  if (tenantId === INSTALLATION_TENANT) return;
  const suppression = {
    id: newId('sup', now),
    tenantId,
    email: recipient.address,
    reason,
    sourceEmailId: id,
    diagnostic,
    createdAt: now,
  };
  await addSuppression(tx, suppression, { mode, now });
}
