/** Accepts a confirmation mail, in one write with the removal of its request: a crash neither loses the mail nor sends it twice. */

import { findContact } from '../audiences/contacts/store.ts';
import { isPending } from '../audiences/opt-in/consent.ts';
import { deleteRequest, findRequest } from '../audiences/opt-in/store.ts';
import { findAudience } from '../audiences/store.ts';
import type { AudienceRow, ConfirmationRequestRow, ContactRow } from '../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { acceptOne, type EmailRows } from '../emails/accept.ts';
import type { Answer } from '../emails/idempotency/store.ts';
import { completeTask, type Lease } from '../tasks/store.ts';

type Recipient = { audience: AudienceRow; contact: ContactRow };

/** Returns the contact of a request with its audience, or undefined when it no longer waits for a mail to this address. */
export async function findRecipient(
  tx: Tx,
  { tenantId, audienceId, contactId, address }: ConfirmationRequestRow,
): Promise<Recipient | undefined> {
  const audience = await findAudience(tx, tenantId, audienceId);
  if (!audience) return undefined;
  const find = (idOrAddress: string) => findContact(tx, tenantId, { audienceId, idOrAddress });
  // A contact that was deleted and created again meanwhile has another id.
  const contact = (await find(contactId)) ?? (await find(address));
  if (!contact || !isPending(contact) || contact.address !== address) return undefined;
  return { audience, contact };
}

type Accepting = { request: ConfirmationRequestRow; lease: Lease; rows: EmailRows };

/**
 * Accepts the mail of a request. It is not accepted, and the response is false, when the request is settled already or its
 * contact no longer waits.
 * @throws AppError suppressed_recipient, quota_exceeded
 */
export const acceptConfirmation = defineWrite(
  'confirmations.accept',
  async (tx, { request, lease, rows }: Accepting): Promise<Answer<boolean>> => {
    const isWanted = (await findRequest(tx, request)) && (await findRecipient(tx, request));
    if (!isWanted || (await completeTask.run(tx, lease)) === 'stale')
      return { response: false, replayed: false };
    await acceptOne(tx, rows);
    await deleteRequest(tx, request);
    return { response: true, replayed: false };
  },
);
