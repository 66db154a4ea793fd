/** The data dictionary, part of double opt-in. The conventions are those of tables.ts. */
import type { Id } from '../system/ids.ts';

/** Written by audiences/opt-in/store.ts: the confirmation mails that an address was sent. A row outlives the contacts of the
 * address and has no retention, because the limit holds for all time. */
export type ConfirmationRow = {
  tenantId: Id<'ten'>;
  /** Test mail reaches nobody, so that it does not count against the limit of live mail. */
  mode: 'live' | 'test';
  /** Address in the form of `addressKey`. */
  address: string;
  /** Number of mails, those that are still to be made included. */
  count: number;
  /** Time at which the latest mail was requested; null when there was none. */
  sentAt: number | null;
};

/** Written by audiences/opt-in/store.ts: a confirmation mail that is still to be made. The write that accepts the mail removes it. */
export type ConfirmationRequestRow = {
  id: number;
  tenantId: Id<'ten'>;
  mode: 'live' | 'test';
  audienceId: Id<'aud'>;
  contactId: Id<'ct'>;
  /** Address of the contact when the mail was requested, in the form of `addressKey`. */
  address: string;
  /** The one domain that the requesting key may send from; null when it may send from any domain of its tenant. */
  keyDomainId: Id<'dom'> | null;
  requestedAt: number;
  /** `sentAt` of the address before this request, which is restored when no mail can be made. */
  previousSentAt: number | null;
  dueAt: number;
};
