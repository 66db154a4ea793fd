/**
 * Requests the confirmation mail of a pending contact, as part of the write that stores the contact: a crash neither loses
 * the mail nor sends it twice. The mail itself is made later, because a feature that comes later sends mail.
 */

import type {
  AudienceRow,
  ConfirmationRequestRow,
  ConfirmationRow,
  ContactRow,
} from '../../db/marketing-tables.ts';
import type { Tx } from '../../db/operation.ts';
import { findSuppressed } from '../../suppressions/store.ts';
import { DAY_MS } from '../../system/clock.ts';
import { invalid } from '../../system/errors.ts';
import { findAsker } from '../../tenants/approval-need.ts';
import type { Caller } from '../../tenants/authenticate.ts';
import { requireQuota } from '../../tenants/quota.ts';
import { findOptedOut } from '../choices-store.ts';
import { isPending } from './consent.ts';
import { findSentConfirmations, insertRequest } from './store.ts';

/** The request that a mail is sent for. `now` is in Unix milliseconds. */
export type Requester = Pick<ConfirmationRequestRow, 'mode' | 'keyDomainId'> & {
  /** Imports of earlier versions do not have it. */
  askedBy?: ConfirmationRequestRow['askedBy'];
  now: number;
};

/** Returns what the confirmation mail of a caller keeps of its key. */
export function requesterOf(caller: Caller): Omit<Requester, 'now'> {
  const { mode, domainId: keyDomainId } = caller;
  return { mode, keyDomainId, askedBy: findAsker(caller, 'transactional') };
}

/**
 * Checks that an audience may have pending contacts.
 * @throws AppError validation_error
 */
export function requireOptIn({ optIn }: Pick<AudienceRow, 'optIn'>, field: 'status' | 'pending'): void {
  if (optIn === null)
    throw invalid(
      field,
      `\`${field}\` asks for a confirmation mail, and the audience has no \`optIn\` settings; set its \`optIn.from\` first`,
    );
}

/**
 * Requests the mail of a pending contact, unless its address is suppressed, has left all marketing mail, or has reached the
 * limit. Returns true when it does.
 * @throws AppError quota_exceeded when `isChecked` and a live mail is due
 */
export async function requestConfirmation(
  tx: Tx,
  contact: ContactRow,
  { requester, isChecked }: { requester: Requester; isChecked: boolean },
): Promise<boolean> {
  const { id: contactId, tenantId, audienceId, address } = contact;
  const { mode, keyDomainId, askedBy = null, now } = requester;
  if (!isPending(contact) || (await isRefused(tx, contact))) return false;
  const nextAt = nextConfirmationAt(await findSentConfirmations(tx, { tenantId, mode, address }));
  if (nextAt === null || nextAt > now) return false;
  if (isChecked && mode === 'live') await requireQuota(tx, tenantId, { now, emails: 1 });
  const limits = { keyDomainId, askedBy };
  await insertRequest(tx, { tenantId, mode, audienceId, contactId, address, ...limits, requestedAt: now });
  return true;
}

/** Returns true when no confirmation mail may be sent to the address, whenever it is asked for. */
async function isRefused(tx: Tx, { tenantId, address }: ContactRow): Promise<boolean> {
  if ((await findSuppressed(tx, tenantId, [address])).size > 0) return true;
  const anyMail = { topicId: null, defaultOptIn: true, addresses: [address] };
  return (await findOptedOut(tx, tenantId, anyMail)).size > 0;
}

/** The confirmation mails of a pending contact. Times are Unix milliseconds. */
type ConfirmationState = Pick<ConfirmationRow, 'count' | 'sentAt'> & { nextAt: number | null };

/** A contact with its confirmation mails, if it is pending. */
export type WithConfirmation = ContactRow & { confirmation?: ConfirmationState };

/** Returns the contacts, the pending ones with their confirmation mails. */
export async function withConfirmations(
  tx: Tx,
  mode: ConfirmationRow['mode'],
  contacts: readonly ContactRow[],
): Promise<WithConfirmation[]> {
  const shown: WithConfirmation[] = [];
  for (const contact of contacts) {
    if (!isPending(contact)) {
      shown.push(contact);
      continue;
    }
    const { tenantId, address, createdAt } = contact;
    const sent = await findSentConfirmations(tx, { tenantId, mode, address });
    const allowedAt = nextConfirmationAt(sent);
    const isOver = allowedAt === null || (await isRefused(tx, contact));
    shown.push({
      ...contact,
      confirmation: { ...sent, nextAt: isOver ? null : Math.max(allowedAt, createdAt) },
    });
  }
  return shown;
}

/** Maximum number of confirmation mails that an address gets from a tenant in all. */
const MAX_CONFIRMATIONS = 3;
/** Minimum time between two confirmation mails to an address, in milliseconds. */
const MIN_INTERVAL_MS = DAY_MS;

type Sent = Pick<ConfirmationRow, 'count' | 'sentAt'>;

/**
 * Returns the earliest time of the next mail in Unix milliseconds: 0 when none was sent yet, and null when there will be
 * none. Everybody can type any address into a form; the limit by address keeps forms from flooding a stranger.
 */
function nextConfirmationAt({ count, sentAt }: Sent): number | null {
  if (count >= MAX_CONFIRMATIONS) return null;
  return sentAt === null ? 0 : sentAt + MIN_INTERVAL_MS;
}
