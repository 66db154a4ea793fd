/** The data dictionary, part of what contacts did with the copies of broadcasts. The conventions are those of tables.ts. */
import { id, integer, key, nullable, type Row, table, text } from './table.ts';

/** Written by ledger/engagement/store.ts: one row for each copy that a person opened or clicked. Machines do not count. */
export const broadcastEngagements = table({
  broadcastId: key(id('brd')),
  contactId: key(id('ct')),
  /** Time of the first open. Null when the reader clicked, but loaded no images. */
  openedAt: nullable(integer()),
  /** Time of the first click. */
  clickedAt: nullable(integer()),
  /** JSON list of the numbers of the links that the reader clicked. */
  links: text(),
});
export type BroadcastEngagementRow = Row<typeof broadcastEngagements>;

/** Written by ledger/engagement/store.ts: the clicks on one link of a broadcast. */
export const broadcastLinks = table({
  broadcastId: key(id('brd')),
  /** Position of the link among the tracked links of the content. */
  number: key(integer()),
  /** Clicks by people. */
  clicks: integer(),
  /** Contacts who clicked. */
  uniqueClicks: integer(),
  machineClicks: integer(),
});
export type BroadcastLinkRow = Row<typeof broadcastLinks>;

/** Written by audiences/contacts/activity-store.ts: when a contact last received, opened and clicked a broadcast. */
export const contactActivity = table({
  audienceId: id('aud'),
  contactId: id('ct'),
  deliveredAt: nullable(integer()),
  /** Time of the last open or click. A reader who clicked has seen the mail, even without its images. */
  openedAt: nullable(integer()),
  clickedAt: nullable(integer()),
});
export type ContactActivityRow = Row<typeof contactActivity>;
