/** The data dictionary, part of the counters behind `GET /v1/metrics`. The conventions are those of tables.ts. */

import type { Id } from '../system/ids.ts';
import { id, integer, type Row, table, text } from './table.ts';

/** Written by counts/store.ts: how often each event happened in an hour, and the same in a day (UTC). Both rows change in
 * the write of the event. A day has a row of its own, because a report of a year would otherwise add up its 8,760 hours.
 */
export const counts = table({
  tenantId: id('ten'),
  mode: text<'live' | 'test'>(),
  span: text<'hour' | 'day'>(),
  /** Beginning of the hour or the day. */
  start: integer(),
  kind: text<'transactional' | 'broadcast'>(),
  /** Domain of the sender; empty for the sandbox domain, and for what belongs to no email. */
  domainId: text<Id<'dom'> | ''>(),
  /** The broadcast that the mail is a copy of; empty for other mail. */
  broadcastId: text<Id<'brd'> | ''>(),
  /** Group of the recipient's domain (counts/providers.ts). */
  provider: text(),
  /** Recipients that mail was accepted for, without those that were suppressed at once. */
  accepted: integer(),
  delivered: integer(),
  bouncedPermanent: integer(),
  bouncedTransient: integer(),
  bouncedUndetermined: integer(),
  complained: integer(),
  /** Recipients whose delivery was deferred at least once. */
  delayed: integer(),
  suppressed: integer(),
  canceled: integer(),
  /** Opens by people. */
  opened: integer(),
  /** Emails that a person opened for the first time. */
  uniqueOpened: integer(),
  machineOpened: integer(),
  clicked: integer(),
  uniqueClicked: integer(),
  machineClicked: integer(),
  /** Contacts that were unsubscribed. */
  unsubscribed: integer(),
});
export type CountRow = Row<typeof counts>;
