/**
 * The data dictionary: what waits, or has waited, for the approval of a person. The conventions are those of tables.ts, which lists
 * every table.
 */
import { id, integer, key, nullable, type Row, references, table, text } from './table.ts';

/**
 * - `pending`: somebody has to decide.
 * - `approved`, `declined`: somebody has decided.
 * - `expired`: nobody has decided in time.
 * - `withdrawn`: what it was about was approved and has changed since, or was canceled. Such a change asks again, with another row; a change
 *   of what is still pending changes the row.
 */
export type ApprovalState = 'pending' | 'approved' | 'declined' | 'expired' | 'withdrawn';

/**
 * Written by approvals/store.ts: one row each time that an email or a broadcast asks for approval and does not wait for one already. The
 * newest row of an email or a broadcast is the one that counts.
 */
export const approvals = table({
  id: key(id('apr')),
  tenantId: references('tenants', id('ten')),
  mode: text<'live' | 'test'>(),
  /** The domain that the mail is sent from. */
  domainId: nullable(id('dom')),
  kind: text<'email' | 'broadcast'>(),
  /** Id of the email or the broadcast. */
  reference: text(),
  /** SHA-256 hash, in hex, of the content, the audience and the time that are approved. */
  hash: text(),
  state: text<ApprovalState>(),
  /** The key whose mail waits. */
  keyId: id('key'),
  fromHeader: text(),
  subject: text(),
  /** Time at which the mail is to be sent; null means as soon as it is approved. */
  sendAt: nullable(integer()),
  /** Time at which approval was asked for first. */
  createdAt: integer(),
  expiresAt: integer(),
  /** Time of the decision, or of the end without one. Null while the row is pending. */
  decidedAt: nullable(integer()),
  /** Id of the key or of the person that has decided. */
  decidedBy: nullable(text()),
  /** Words of the one who has declined. */
  reason: nullable(text()),
}).indexedBy({
  approvalsByReference: '(reference, id)',
  approvalsByTenant: '(tenantId, mode, id)',
  approvalsByState: '(tenantId, mode, state, id)',
  approvalsByDomain: '(tenantId, mode, domainId, id)',
  approvalsByDomainAndState: '(tenantId, mode, domainId, state, id)',
});
export type ApprovalRow = Row<typeof approvals>;
