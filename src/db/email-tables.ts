/** The data dictionary: emails of the API, and by what they are found. The conventions are those of tables.ts, which lists every table. */
import type { Id } from '../system/ids.ts';

/** Written by emails/store.ts. It holds the fields of an API email that its message does not have. Lists of addresses are
 * JSON. The long columns come last, so that lists and deliveries do not read past them. */
export type EmailRow = {
  id: Id<'em'>;
  tenantId: Id<'ten'>;
  mode: 'live' | 'test';
  type: 'transactional' | 'broadcast';
  fromHeader: string;
  fromAddress: string;
  fromDomain: string;
  toList: string;
  ccList: string;
  bccList: string;
  replyToList: string;
  subject: string;
  /** JSON object of the header fields that the caller set. */
  headers: string;
  /** JSON list of `{ filename, contentType, contentId, sizeBytes }`. The bytes are in the message. */
  attachments: string;
  /** JSON object of tag names and values. */
  tags: string;
  /** Requested time of sending; null means at once. */
  scheduledAt: number | null;
  templateId: Id<'tpl'> | null;
  topicId: Id<'top'> | null;
  /** The broadcast that this email is a copy of; null for other emails. */
  broadcastId: Id<'brd'> | null;
  /** JSON list of the variables that had neither a value nor a fallback. */
  missingVariables: string;
  rfcMessageId: string;
  createdAt: number;
  /** Content as sent, of emails of versions before 0012. Later ones have it in `contents`. */
  html: string | null;
  text: string | null;
  /** Time at which retention removed `html`, `text` and the message's blob. Null while the content is kept. */
  contentDeletedAt: number | null;
};

/** Written by emails/store.ts: finds emails by tag. */
export type EmailTagRow = {
  tenantId: Id<'ten'>;
  mode: 'live' | 'test';
  key: string;
  value: string;
  emailId: Id<'em'>;
};

/** Written by emails/store.ts: finds emails by recipient without reading them all. */
export type EmailAddressRow = {
  tenantId: Id<'ten'>;
  mode: 'live' | 'test';
  address: string;
  emailId: Id<'em'>;
};

/** Written by emails/idempotency/store.ts. */
export type IdempotencyRow = {
  tenantId: Id<'ten'>;
  mode: 'live' | 'test';
  key: string;
  requestHash: string;
  response: string;
  expiresAt: number;
};
