/** The data dictionary: mail that people send. The conventions are those of tables.ts, which lists every table. */
import type { Id } from '../system/ids.ts';

/** Written by queue/submitted/store.ts: a message of a mailbox, whose owner is told what becomes of it. It ends with the message. */
export type SubmittedMessageRow = {
  messageId: string;
  tenantId: Id<'ten'>;
  /**
   * Credential with which the message was handed in (queue/submitted/credential.ts). Null for mail that a script has sent, and for mail
   * from before this was stored.
   */
  handedInWith: string | null;
  /** Size of the message. */
  sizeBytes: number;
  /** Time at which the message is looked at again, which is the end of the lease of a running look. Null while only an attempt can bring news. */
  dueAt: number | null;
  /** JSON object of what was told about each recipient, by its position (submission/reports/plan.ts). */
  told: string;
  /** JSON of the report that is being delivered; null when there is none. */
  report: string | null;
  /** Number of reports that were delivered. */
  reports: number;
};

/** Written by queue/submitted/unsent-store.ts: how much mail of people waits for its recipients. No row means none. */
export type UnsentMailRow = {
  /** The mailbox or the tenant that the messages belong to. Each message counts for both. */
  owner: Id<'mbx'> | Id<'ten'>;
  messages: number;
  bytes: number;
};

/** Written by submission/limits/store.ts: to how many recipients a mailbox, or all those of a tenant, have written in an hour. */
export type RecipientCountRow = {
  /** Address of the mailbox, which it may have been given anew, or id of the tenant. */
  owner: string;
  /** Number of the hour since the beginning of 1970. */
  hour: number;
  /** Recipients of what people have submitted. */
  recipients: number;
  /** Number of those to whom the mailbox had not written before. */
  newRecipients: number;
  /** Recipients of redirects, replies and refusals of scripts. */
  sentByScripts: number;
  /** Recipients of notifications of scripts. */
  notified: number;
};

/** Written by submission/limits/store.ts: an address that a mailbox has written to. It ends with the mailbox. */
export type CorrespondentRow = {
  mailboxId: Id<'mbx'>;
  /** Hash of the address with a key of this installation (submission/limits/correspondents.ts). */
  addressHash: string;
  /** Time of the last message to it, or of one that came up to a day before. */
  lastAt: number;
};
