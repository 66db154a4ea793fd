/** The data dictionary: emails of the API, and by what they are found. The conventions are those of tables.ts, which lists every table. */
import { id, integer, key, nullable, type Row, table, text } from './table.ts';

/** Written by emails/store.ts. It holds the fields of an API email that its message does not have. Lists of addresses are
 * JSON. The long columns come last, so that lists and deliveries do not read past them. */
export const emails = table({
  id: id('em'),
  tenantId: id('ten'),
  mode: text<'live' | 'test'>(),
  type: text<'transactional' | 'broadcast'>(),
  fromHeader: text(),
  fromAddress: text(),
  fromDomain: text(),
  toList: text(),
  ccList: text(),
  bccList: text(),
  replyToList: text(),
  subject: text(),
  /** JSON object of the header fields that the caller set. */
  headers: text(),
  /** JSON list of `{ filename, contentType, contentId, sizeBytes }`. The bytes are in the message. */
  attachments: text(),
  /** JSON object of tag names and values. */
  tags: text(),
  /** Requested time of sending; null means at once. */
  scheduledAt: nullable(integer()),
  templateId: nullable(id('tpl')),
  topicId: nullable(id('top')),
  /** The broadcast that this email is a copy of; null for other emails. */
  broadcastId: nullable(id('brd')),
  /** JSON list of the variables that had neither a value nor a fallback. */
  missingVariables: text(),
  rfcMessageId: text(),
  createdAt: integer(),
  /** Content as sent, of emails of versions before 0012. Later ones have it in `contents`. */
  html: nullable(text()),
  text: nullable(text()),
  /** Time at which retention removed `html`, `text` and the message's blob. Null while the content is kept. */
  contentDeletedAt: nullable(integer()),
});
export type EmailRow = Row<typeof emails>;

/** Written by emails/store.ts: finds emails by tag. */
export const emailTags = table({
  tenantId: id('ten'),
  mode: text<'live' | 'test'>(),
  key: text(),
  value: text(),
  emailId: id('em'),
});
export type EmailTagRow = Row<typeof emailTags>;

/** Written by emails/store.ts: finds emails by recipient without reading them all. */
export const emailAddresses = table({
  tenantId: id('ten'),
  mode: text<'live' | 'test'>(),
  address: text(),
  emailId: id('em'),
});
export type EmailAddressRow = Row<typeof emailAddresses>;

/** Written by emails/idempotency/store.ts. */
export const idempotency = table({
  tenantId: key(id('ten')),
  mode: key(text<'live' | 'test'>()),
  key: key(text()),
  requestHash: text(),
  response: text(),
  expiresAt: integer(),
});
export type IdempotencyRow = Row<typeof idempotency>;
