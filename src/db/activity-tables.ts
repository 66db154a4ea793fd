/** The data dictionary, part of what contacts did with the copies of broadcasts. The conventions are those of tables.ts. */
import type { Id } from '../system/ids.ts';

/** Written by ledger/engagement/store.ts: one row for each copy that a person opened or clicked. Machines do not count. */
export type BroadcastEngagementRow = {
  broadcastId: Id<'brd'>;
  contactId: Id<'ct'>;
  /** Time of the first open. Null when the reader clicked, but loaded no images. */
  openedAt: number | null;
  /** Time of the first click. */
  clickedAt: number | null;
  /** JSON list of the numbers of the links that the reader clicked. */
  links: string;
};

/** Written by ledger/engagement/store.ts: the clicks on one link of a broadcast. */
export type BroadcastLinkRow = {
  broadcastId: Id<'brd'>;
  /** Position of the link among the tracked links of the content. */
  number: number;
  /** Clicks by people. */
  clicks: number;
  /** Contacts who clicked. */
  uniqueClicks: number;
  machineClicks: number;
};

/** Written by audiences/contacts/activity/store.ts: when a contact last received, opened and clicked a broadcast. */
export type ContactActivityRow = {
  audienceId: Id<'aud'>;
  contactId: Id<'ct'>;
  deliveredAt: number | null;
  /** Time of the last open or click. A reader who clicked has seen the mail, even without its images. */
  openedAt: number | null;
  clickedAt: number | null;
};
