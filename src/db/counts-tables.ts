/** The data dictionary, part of the counters behind `GET /v1/metrics`. The conventions are those of tables.ts. */
import type { Id } from '../system/ids.ts';

/** Written by counts/store.ts: how often each event happened in an hour, and the same in a day (UTC). Both rows change in
 * the write of the event. A day has a row of its own, because a report of a year would otherwise add up its 8,760 hours.
 */
export type CountRow = {
  tenantId: Id<'ten'>;
  mode: 'live' | 'test';
  span: 'hour' | 'day';
  /** Beginning of the hour or the day. */
  start: number;
  kind: 'transactional' | 'broadcast';
  /** Domain of the sender; empty for the sandbox domain, and for what belongs to no email. */
  domainId: Id<'dom'> | '';
  /** The broadcast that the mail is a copy of; empty for other mail. */
  broadcastId: Id<'brd'> | '';
  /** Group of the recipient's domain (counts/providers.ts). */
  provider: string;
  /** Recipients that mail was accepted for, without those that were suppressed at once. */
  accepted: number;
  delivered: number;
  bouncedPermanent: number;
  bouncedTransient: number;
  bouncedUndetermined: number;
  complained: number;
  /** Recipients whose delivery was deferred at least once. */
  delayed: number;
  suppressed: number;
  canceled: number;
  /** Opens by people. */
  opened: number;
  /** Emails that a person opened for the first time. */
  uniqueOpened: number;
  machineOpened: number;
  clicked: number;
  uniqueClicked: number;
  machineClicked: number;
  /** Contacts that were unsubscribed. */
  unsubscribed: number;
};
