/**
 * The data dictionary: every table and the one `store.ts` that writes it. Times are epoch milliseconds, booleans 0 or
 * 1, JSON is text. A new database gets its tables from here (db/main-schema.ts); `migrations` is that of db/migrate.ts.
 */
import * as apiTables from './api-tables.ts';
import * as approvalTables from './approval-tables.ts';
import * as broadcastTables from './broadcast-tables.ts';
import * as emailTables from './email-tables.ts';
import * as inboundTables from './inbound-tables.ts';
import * as mailboxTables from './mailbox-tables.ts';
import * as marketingTables from './marketing-tables.ts';
import * as outboundTables from './outbound-tables.ts';
import * as ownTables from './own-tables.ts';
import * as peopleTables from './people-tables.ts';
import * as queueTables from './queue-tables.ts';
import * as submissionTables from './submission-tables.ts';
import {
  belongsTo,
  bytes,
  clusteredTable,
  flag,
  id,
  initially,
  integer,
  key,
  nullable,
  type Row,
  type RowsOf,
  references,
  table,
  text,
} from './table.ts';
import * as tenantTables from './tenant-tables.ts';
import * as tlsPolicyTables from './tls-policy-tables.ts';
import * as trackingTables from './tracking-tables.ts';
import * as webhookTables from './webhook-tables.ts';

export type Mode = 'live' | 'test';

export type DomainStatus = 'pending' | 'verified' | 'failed' | 'temporary_failure';

/** Written by domains/store.ts. `records` holds the result of the last DNS check, as JSON. */
const domains = table({
  id: key(id('dom')),
  tenantId: references('tenants', id('ten')),
  name: text(),
  status: text<DomainStatus>(),
  productType: text(),
  region: text(),
  /** Host name for tracked links; null when none is set. */
  trackingSubdomain: nullable(text()),
  openTracking: flag(),
  clickTracking: flag(),
  selector: text(),
  publicKey: text(),
  privateKeySealed: text(),
  records: text(),
  createdAt: integer(),
  updatedAt: integer(),
  /** Time at which all three records were last found correct; null when they never were. */
  verifiedAt: nullable(integer()),
  /**
   * Time since which the verification has stood without a lapse; null while it does not stand. A grace period that runs out is
   * a lapse even before the next check. The longest standing verification decides which tenant receives mail for a name.
   */
  verifiedSince: nullable(integer()),
  /** Time since which a record of a verified domain is missing; null when all records are there. */
  failingSince: nullable(integer()),
  /** Start of the current series of checks: the creation of the domain, or the last request to verify. */
  checksSince: integer(),
  /** Time of the next check, or the end of the lease of a running one. Null until a check is requested. */
  nextCheckAt: nullable(integer()),
  /** Domain of the return paths while the optional RETURN_PATH record is right; null means the installation's. */
  returnPathHost: nullable(text()),
  /** Host of tracked links while the last check found it right; null means the installation's. */
  trackingHost: nullable(text()),
  /** Time of the last check that found the tracking host right; null when none did. */
  trackingCheckedAt: nullable(integer()),
  /** Time of deletion. Only the signer still sees the domain, because mail that is retried needs its key. */
  deletedAt: nullable(integer()),
}).indexedBy({
  domainsByName: 'UNIQUE (tenantId, name) WHERE deletedAt IS NULL',
  domainsByTenant: '(tenantId, id) WHERE deletedAt IS NULL',
  domainsDeleted: '(deletedAt) WHERE deletedAt IS NOT NULL',
  domainsReceiving: '(name, verifiedSince, id) WHERE verifiedSince IS NOT NULL',
});
export type DomainRow = Row<typeof domains>;

/**
 * State of a key of a domain, or of a selector that waits for one:
 *
 * - `unused`: the selector is reserved for the next key, and has none.
 * - `waiting`: the key is published, but was not seen in DNS yet, so that nothing is signed with it.
 * - `signing`: mail is signed with the key. The RSA key that signs is in `domains` instead.
 * - `retired`: nothing new is signed with the key, and it stays published for the mail that was.
 */
type DomainKeyState = 'unused' | 'waiting' | 'signing' | 'retired';

/** Written by domains/keys/store.ts: DKIM keys and selectors of a domain beside the RSA key that signs. */
const domainKeys = clusteredTable({
  domainId: key(belongsTo('domains', id('dom'))),
  selector: key(text()),
  algorithm: text<'rsa' | 'ed25519'>(),
  state: text<DomainKeyState>(),
  /** In the form of the DNS record. Empty while the selector is unused. */
  publicKey: text(),
  /** Null unless the key signs or is going to. */
  privateKeySealed: nullable(text()),
  /** Time since which the key has its state. 0 for a selector that has never had a key. */
  since: integer(),
});
export type DomainKeyRow = Row<typeof domainKeys>;

/** Written by blobs/store.ts. Either `data` or a file named by `sha256`. */
const blobs = table({
  id: key(id('blob')),
  sha256: text(),
  sizeBytes: integer(),
  /** 1 when the bytes contain octets outside ASCII (RFC 6152). */
  eightBit: flag(),
  data: nullable(bytes()),
  createdAt: integer(),
}).indexedBy({
  blobsBySha256: '(sha256) WHERE data IS NULL',
});
export type BlobRow = Row<typeof blobs>;

export type EmailStatus = 'queued' | 'sent' | 'delivered' | 'bounced' | 'complained' | 'canceled';

/** Written by queue/store.ts: one message in the spool. An API email and its message share one id. */
const messages = table({
  id: key(text()),
  tenantId: references('tenants', id('ten')),
  mode: text<Mode>(),
  kind: text<'transactional' | 'broadcast'>(),
  /** Topic of marketing mail, whose readers may opt out of it until it is sent. Null for transactional mail. */
  topicId: nullable(id('top')),
  status: text<EmailStatus>(),
  /** Sender address without a display name. Webhooks show it. */
  sender: text(),
  domainId: nullable(id('dom')),
  /**
   * The bytes that are stored as they are sent: of a `stored` message all fields and the body, without the fields in
   * `signature`; of a `rendered` one its files, in their final encoding. Null when it has none.
   */
  blobId: references('blobs', nullable(id('blob'))),
  /** Number of octets before the body of a `stored` message, including the empty line. Otherwise 0. */
  headerBytes: integer(),
  /**
   * Base64 of the SHA-256 hash of the body in DKIM's relaxed form (RFC 6376 section 3.7). Empty for a message without
   * stored bytes, whose body is hashed when it is composed.
   */
  bodyHash: text(),
  /** Time in the `Date` field and in the signature: the acceptance, or the time that the message is scheduled for. */
  datedAt: integer(),
  /** The DKIM and Date fields of the first attempt, kept so that a resend is byte-identical. */
  signature: nullable(text()),
  createdAt: integer(),
  expiresAt: integer(),
  lastEventAt: integer(),
  /** The texts. Null for messages of versions before 0012, and once retention has removed the content. */
  contentId: references('contents', nullable(integer())),
  /** Version of the composer when a `rendered` message was accepted (mail/message/compose.ts). Null otherwise. */
  composer: nullable(integer()),
  /** Header fields of a `rendered` message up to `MIME-Version`; null for a `stored` one. */
  fields: nullable(text()),
  /** JSON object of the values of this message for the placeholders of a shared content. Null when it is not shared. */
  mergeValues: nullable(text()),
  /** The broadcast that this message is a copy of, and the contact that it is for; null for other mail. */
  broadcastId: nullable(id('brd')),
  contactId: nullable(id('ct')),
  /**
   * Domain of the address for complaints (RFC 9477): the return path of the sender's domain that was verified when the message
   * was accepted. Null when there was none.
   */
  complaintHost: nullable(text()),
  /** The envelope sender; empty for the null sender. Null for one that each attempt makes (queue/return-path.ts). */
  returnPath: nullable(text()),
  /**
   * 1 when the message must never leave over a connection without verified TLS (REQUIRETLS, RFC 8689), 2 when policies about TLS must not
   * hold it up (`TLS-Required: No`), 0 otherwise.
   */
  requireTls: initially(0, integer<0 | 1 | 2>()),
  /**
   * Header fields of a forwarded message that stand above its stored bytes, one character for each octet. Null for other mail, which
   * is dated and signed when it is sent.
   */
  traceFields: nullable(text()),
  /** The mailbox that has written the message; null for mail of the API and of the installation. Mail of people is no email of the API. */
  mailboxId: nullable(id('mbx')),
  /** Parameters of MAIL about notifications, which are passed on (mail/smtp/dsn-parameters.ts). Null when the sender gave none. */
  dsn: nullable(text()),
  /** 1 when header fields or addresses are UTF-8, so that only servers with SMTPUTF8 take the message (RFC 6531). */
  utf8: initially(0, flag()),
}).indexedBy({
  // Lists of emails by status (emails/list/store.ts).
  messagesByStatus: '(tenantId, mode, status, id)',
  // `countScheduled` (domains/spool-store.ts).
  messagesScheduled: '(domainId, datedAt) WHERE datedAt > createdAt',
  // `deleteUnusedContent` (queue/contents/store.ts), and the deletion of a content.
  messagesByContent: '(contentId) WHERE contentId IS NOT NULL',
  // The deletion of a blob.
  messagesByBlob: '(blobId) WHERE blobId IS NOT NULL',
  // `cancelMailOf` (queue/state/cancel-submitted.ts).
  messagesOfMailboxes: '(mailboxId) WHERE mailboxId IS NOT NULL',
});
export type MessageRow = Row<typeof messages>;

export type RecipientState =
  | 'ready'
  | 'in_flight'
  | 'deferred'
  | 'held'
  | 'delivered'
  | 'bounced'
  | 'complained'
  | 'suppressed'
  | 'canceled';

/**
 * Why a recipient is held:
 *
 * - `interrupted`: the daemon ended during several attempts.
 * - `damaged`: the stored message is missing or was changed.
 * - `operator`: the operator holds the mail.
 * - `approval`: a person has to approve the mail. No release of an operator ends it.
 */
export type HoldReason = 'interrupted' | 'damaged' | 'operator' | 'approval';

/** Written by queue/store.ts: one row for each recipient of a message. */
const recipients = table({
  id: key(id('rcp')),
  messageId: references('messages', text()),
  tenantId: id('ten'),
  mode: text<Mode>(),
  field: text<'to' | 'cc' | 'bcc'>(),
  position: integer(),
  address: text(),
  domain: text(),
  /** Key of the delivery queue that the recipient waits in (queue/queue-key.ts). */
  queue: text(),
  state: text<RecipientState>(),
  /**
   * Time of the next attempt. In flight it is the time at which the lease ends, on the monotonic clock of the start
   * that claimed it. Null once the recipient is final or held, and while a suspect waits for its probe
   * (queue/held/probe.ts).
   */
  dueAt: nullable(integer()),
  attempts: integer(),
  /** Number of crashes that interrupted its delivery since the last settled attempt. */
  interruptedAttempts: integer(),
  /** Run of the daemon that leased the recipient; null when it is not leased. */
  runId: nullable(text()),
  delayNoticeAt: nullable(integer()),
  smtpCode: nullable(integer()),
  enhancedCode: nullable(text()),
  diagnostic: nullable(text()),
  mx: nullable(text()),
  tls: nullable(text()),
  lastEventAt: integer(),
  /**
   * Parameters of RCPT about notifications, which are passed on (mail/smtp/dsn-parameters.ts). Null when the sender gave none, and once
   * another server is responsible for them.
   */
  dsn: nullable(text()),
  /** Class of the last reply or fact, and what the sender can do (queue/outcome/replies). Null without one. */
  class: nullable(text()),
  advice: nullable(text()),
  /** Why the recipient is held. Null for any other, and for one that a version before the column has held. */
  holdReason: nullable(text<HoldReason>()),
}).indexedBy({
  // Each claim and each settlement (queue/mail-store.ts).
  recipientsByMessage: '(messageId, position)',
  // The queues that have due mail, and the time of the next (queue/due-store.ts).
  recipientsDue: "(dueAt, queue) WHERE state IN ('ready', 'deferred')",
  // The due mail of one queue (queue/due-store.ts), `queue list` (queue/control/walk-store.ts) and queue/parked-store.ts.
  recipientsDueByLane: "(queue, dueAt, state) WHERE state IN ('ready', 'deferred')",
  // The due retries of one queue (queue/due-store.ts). New mail is never in it.
  recipientsTried: "(queue, dueAt) WHERE attempts > 0 AND state IN ('ready', 'deferred')",
  // Lists of emails with the recipient status `queued` (emails/list/store.ts), and domains/spool-store.ts.
  recipientsUntried: "(tenantId, mode, messageId) WHERE state = 'ready' AND attempts = 0",
  // Lists of emails with the recipient status `deferred` (emails/list/store.ts), and domains/spool-store.ts.
  recipientsPutBack: "(tenantId, mode, messageId) WHERE state = 'ready' AND attempts > 0",
  // Lists of emails with the other recipient statuses (emails/list/store.ts).
  recipientsByState:
    "(tenantId, mode, state, messageId) WHERE state NOT IN ('ready', 'in_flight', 'delivered')",
  // `listAbandoned` and `listInFlight` (queue/store.ts), and queue/parked-store.ts.
  recipientsInFlight: "(runId, dueAt) WHERE state = 'in_flight'",
  // Held mail of one queue (queue/control/walk-store.ts).
  recipientsHeld: "(queue, messageId) WHERE state = 'held'",
  // `countHeld` (queue/held/store.ts).
  recipientsHeldByReason: "(holdReason) WHERE state = 'held'",
  // Mail that waits for its probe (queue/held/store.ts).
  recipientsSuspect:
    "(dueAt, interruptedAttempts, id) WHERE interruptedAttempts >= 2 AND state IN ('ready', 'in_flight')",
});
export type RecipientRow = Row<typeof recipients>;

/** Written by events/store.ts. `data` is JSON: what a webhook carries under `data`, without the fields of the email. */
const events = table({
  id: key(id('evt')),
  tenantId: id('ten'),
  mode: text<Mode>(),
  type: text(),
  emailId: nullable(text()),
  data: text(),
  createdAt: integer(),
  /** 0 until the webhook fan-out has processed the event. */
  fannedOut: flag(),
}).indexedBy({
  // `listEventsOfEmail` (events/store.ts), and the recount of tags (statistics/recount/store.ts).
  eventsByEmail: '(emailId) WHERE emailId IS NOT NULL',
  // `listEventsToFanOut` (events/store.ts).
  eventsToFanOut: '(id) WHERE fannedOut = 0',
});
export type EventRow = Row<typeof events>;

/** Every table of the main database. */
export const TABLES = {
  domains,
  domainKeys,
  blobs,
  messages,
  recipients,
  events,
  ...approvalTables,
  ...broadcastTables,
  ...emailTables,
  ...inboundTables,
  ...mailboxTables,
  ...marketingTables,
  ...outboundTables,
  ...ownTables,
  ...peopleTables,
  ...apiTables,
  ...queueTables,
  ...submissionTables,
  ...tenantTables,
  ...tlsPolicyTables,
  ...trackingTables,
  ...webhookTables,
};

export type Tables = RowsOf<typeof TABLES>;
