/** The data dictionary: mail that people send. The conventions are those of tables.ts, which lists every table. */

import type { Id } from '../system/ids.ts';
import {
  belongsTo,
  clusteredTable,
  count,
  id,
  initially,
  integer,
  key,
  nullable,
  type Row,
  text,
} from './table.ts';

/** Written by queue/submitted/store.ts: a message of a mailbox, whose owner is told what becomes of it. It ends with the message. */
export const submittedMessages = clusteredTable({
  messageId: key(text()),
  tenantId: initially('', id('ten')),
  /**
   * Credential with which the message was handed in (queue/submitted/credential.ts). Null for mail that a script has sent, and for mail
   * from before this was stored.
   */
  handedInWith: nullable(text()),
  /** Size of the message. */
  sizeBytes: count(),
  /** JSON object of what was told about each recipient, by its position (submission/reports/plan.ts). */
  told: text(),
  /** JSON of the report that is being delivered; null when there is none. */
  report: nullable(text()),
  /** Number of reports that were delivered. */
  reports: integer(),
});
export type SubmittedMessageRow = Row<typeof submittedMessages>;

/** Written by queue/submitted/store.ts: how much mail of people waits for its recipients. No row means none. */
export const unsentMail = clusteredTable({
  /** The mailbox or the tenant that the messages belong to. Each message counts for both. */
  owner: key(text<Id<'mbx'> | Id<'ten'>>()),
  messages: integer(),
  bytes: integer(),
});
export type UnsentMailRow = Row<typeof unsentMail>;

/** Written by submission/limits/store.ts: to how many recipients a mailbox, or all those of a tenant, have written in an hour. */
export const recipientCounts = clusteredTable({
  /** Address of the mailbox, which it may have been given anew, or id of the tenant. */
  owner: key(text()),
  /** Number of the hour since the beginning of 1970. */
  hour: key(integer()),
  /** Recipients of what people have submitted. */
  recipients: integer(),
  /** Number of those to whom the mailbox had not written before. */
  newRecipients: integer(),
  /** Recipients of redirects, replies and refusals of scripts. */
  sentByScripts: integer(),
  /** Recipients of notifications of scripts. */
  notified: integer(),
}).indexedBy({
  recipientCountsByHour: '(hour)',
});
export type RecipientCountRow = Row<typeof recipientCounts>;

/** Written by submission/limits/store.ts: an address that a mailbox has written to. It ends with the mailbox. */
export const correspondents = clusteredTable({
  mailboxId: key(belongsTo('mailboxes', id('mbx'))),
  /** Hash of the address with a key of this installation (submission/limits/limits.ts). */
  addressHash: key(text()),
  /** Time of the last message to it, or of one that came up to a day before. */
  lastAt: integer(),
}).indexedBy({
  correspondentsByAge: '(lastAt)',
});
export type CorrespondentRow = Row<typeof correspondents>;
