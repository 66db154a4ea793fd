/** The data dictionary, part of double opt-in. The conventions are those of tables.ts. */
import { id, integer, key, nullable, type Row, rowNumber, table, text } from './table.ts';

/** Written by audiences/opt-in/store.ts: the confirmation mails that an address was sent. A row outlives the contacts of the
 * address and has no retention, because the limit holds for all time. */
export const confirmations = table({
  tenantId: key(id('ten')),
  /** Test mail reaches nobody, so that it does not count against the limit of live mail. */
  mode: key(text<'live' | 'test'>()),
  /** Address in the form of `addressKey`. */
  address: key(text()),
  /** Number of mails, those that are still to be made included. */
  count: integer(),
  /** Time at which the latest mail was requested; null when there was none. */
  sentAt: nullable(integer()),
});
export type ConfirmationRow = Row<typeof confirmations>;

/** Written by audiences/opt-in/store.ts: a confirmation mail that is still to be made. The write that accepts the mail removes it. */
export const confirmationRequests = table({
  id: rowNumber(),
  tenantId: id('ten'),
  mode: text<'live' | 'test'>(),
  audienceId: id('aud'),
  contactId: id('ct'),
  /** Address of the contact when the mail was requested, in the form of `addressKey`. */
  address: text(),
  /** The one domain that the requesting key may send from; null when it may send from any domain of its tenant. */
  keyDomainId: nullable(id('dom')),
  requestedAt: integer(),
  /** `sentAt` of the address before this request, which is restored when no mail can be made. */
  previousSentAt: nullable(integer()),
});
export type ConfirmationRequestRow = Row<typeof confirmationRequests>;
