/**
 * The data dictionary: emails of the API with what finds them, the contents of messages, and attempts of deliveries. The conventions
 * are those of tables.ts, which lists every table.
 */
import {
  belongsTo,
  bytes,
  clusteredTable,
  id,
  integer,
  key,
  nullable,
  type Row,
  references,
  rowNumber,
  table,
  text,
} from './table.ts';

/** Written by emails/store.ts. It holds the fields of an API email that its message does not have. Lists of addresses are
 * JSON. The long columns come last, so that lists and deliveries do not read past them. */
export const emails = table({
  id: key(references('messages', id('em'))),
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
  /** The API key that has sent the email. Null for mail of people and of broadcasts, and of versions before 0115. */
  apiKeyId: nullable(id('key')),
}).indexedBy({
  // A key has one tenant and one mode.
  emailsByApiKey: '(apiKeyId, id) WHERE apiKeyId IS NOT NULL',
  emailsByTenant: '(tenantId, mode, id)',
  emailsByFrom: '(tenantId, mode, fromAddress, id)',
  emailsByFromDomain: '(tenantId, mode, fromDomain, id)',
  // Message-IDs that Postrider makes begin with the id of the email, which has an index.
  emailsByMessageId: "(tenantId, mode, rfcMessageId, id) WHERE substr(rfcMessageId, 1, 3) <> 'em_'",
  emailsWithContent: '(id) WHERE contentDeletedAt IS NULL',
});
export type EmailRow = Row<typeof emails>;

/** Written by emails/store.ts: finds emails by tag. */
export const emailTags = clusteredTable({
  tenantId: key(id('ten')),
  mode: key(text<'live' | 'test'>()),
  key: key(text()),
  value: key(text()),
  emailId: key(id('em')),
});
export type EmailTagRow = Row<typeof emailTags>;

/** Written by emails/store.ts: finds emails by recipient without reading them all. */
export const emailAddresses = clusteredTable({
  tenantId: key(id('ten')),
  mode: key(text<'live' | 'test'>()),
  address: key(text()),
  emailId: key(id('em')),
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
}).indexedBy({
  idempotencyByExpiry: '(expiresAt)',
});
export type IdempotencyRow = Row<typeof idempotency>;

/** Written by queue/attempts-store.ts: one row for each delivery attempt, with its outcome and the reply. */
export const attempts = table({
  id: key(id('att')),
  recipientId: id('rcp'),
  messageId: text(),
  tenantId: id('ten'),
  at: integer(),
  durationMs: integer(),
  outcome: text<'delivered' | 'deferred' | 'bounced' | 'held' | 'recovered'>(),
  phase: text(),
  mx: nullable(text()),
  address: nullable(text()),
  tls: nullable(text()),
  smtpCode: nullable(integer()),
  enhancedCode: nullable(text()),
  reply: nullable(text()),
}).indexedBy({
  // The attempts of a message, by its recipients (queue/attempts-store.ts).
  attemptsByRecipient: '(recipientId)',
});
export type AttemptRow = Row<typeof attempts>;

/**
 * Written by queue/conversation/store.ts: what was said in the SMTP sessions of an attempt that did not deliver. Retention deletes the rows
 * after a week.
 */
export const conversations = table({
  id: key(id('cnv')),
  messageId: belongsTo('messages', text()),
  tenantId: id('ten'),
  /** The time of the rows in `attempts` that the conversation explains, one for each recipient. */
  at: integer(),
  site: text(),
  /** The lines, as queue/conversation/lines.ts encodes them. */
  lines: text(),
}).indexedBy({
  conversationsByMessage: '(messageId, id)',
});
export type ConversationRow = Row<typeof conversations>;

/** Written by queue/contents/store.ts: the texts of a message. Messages that share them have `mergeValues` of their own. */
export const contents = table({
  id: rowNumber(),
  tenantId: id('ten'),
  /** Size of the unpacked source in bytes. */
  sizeBytes: integer(),
  /** SHA-256 hash of `source` as it is stored. */
  sha256: bytes(),
  /** The packed source (queue/contents/source.ts). */
  source: bytes(),
});
export type ContentRow = Row<typeof contents>;
