/** The data dictionary: mail that arrives. The conventions are those of tables.ts, which lists every table. */
import { flag, id, integer, key, nullable, type Row, real, table, text } from './table.ts';

/** Written by routes/store.ts. Live and test keys share them. */
export const inboundRoutes = table({
  id: id('rt'),
  tenantId: id('ten'),
  /** Address as `addressKey`, or `*@domain` for all addresses of a domain without a route of their own. */
  address: text(),
  domain: text(),
  destination: text(),
  enabled: flag(),
  /** `failures`: no post had succeeded for days; `gone`: the receiver answered 410. Null while the route is enabled. */
  disabledReason: nullable(text<'manual' | 'failures' | 'gone'>()),
  disabledAt: nullable(integer()),
  /** Time since which every post has failed. Null when the last one succeeded or none was made yet. */
  failingSince: nullable(integer()),
  /** Time at which the operator was warned; null when not yet. */
  warnedAt: nullable(integer()),
  /** Number of failed posts since the last success. Posts that failed while the route was suspended count as one. */
  consecutiveFailures: integer(),
  /** Time before which nothing is posted to it. Null when its last post succeeded or none was made yet. */
  suspendedUntil: nullable(integer()),
  secretSealed: text(),
  createdAt: integer(),
  updatedAt: integer(),
});
export type InboundRouteRow = Row<typeof inboundRoutes>;

/** Written by tenants/stored-mail/store.ts, within each write that stores or removes received mail or reports. */
export const storedMail = table({
  tenantId: key(id('ten')),
  /** Size of the received mail and of the reports that the tenant stores. A tenant without a row stores none. */
  bytes: integer(),
});
export type StoredMailRow = Row<typeof storedMail>;

/**
 * Kinds of tasks: `post` to a route, deliver to a `mailbox`, read a `bounce`, a `complaint` or a `report`, `unsubscribe` the reader of
 * an email, or `forward`.
 */
export type ReceivedTaskKind =
  | ('post' | 'mailbox')
  | ('bounce' | 'complaint' | 'report' | 'unsubscribe')
  | 'forward';

/**
 * Kinds of recipients: those with a task of the same name, the `postmaster` of the installation, and `srs`, the rewritten sender of
 * mail that was forwarded.
 */
export type ReceivedRecipientKind = Exclude<ReceivedTaskKind, 'forward'> | 'postmaster' | 'srs';

/** Written by inbound/store.ts: a message that was received. A message to recipients of several tenants has one row for
 * each of them, which all name the same blob. */
export const receivedMessages = table({
  id: id('in'),
  /** Tenant of the recipients; null for mail of the installation itself, such as bounces. */
  tenantId: nullable(id('ten')),
  /** The message as it arrived, with CRLF line ends. Null once retention has removed it. */
  blobId: nullable(id('blob')),
  sizeBytes: integer(),
  /** Envelope sender; empty for the null sender (RFC 5321 section 4.5.5). */
  sender: text(),
  /** IP address of the client; empty for mail out of the queue of this installation. */
  remoteAddress: text(),
  /** Name that the client gave in EHLO or HELO; null when it gave none. */
  helo: nullable(text()),
  /** Version of TLS, such as `TLSv1.3`; null for a connection in plain text. */
  tls: nullable(text()),
  /** 1 when the message must never leave over a connection without verified TLS (RFC 8689). */
  requireTls: flag(),
  /** 1 when the client asked for SMTPUTF8 (RFC 6531). */
  utf8: flag(),
  /** The header fields that were added, each with its CRLF. They stand before the bytes of the blob. */
  trace: text(),
  /**
   * JSON of the results of authentication (mail/auth/result.ts). Forwarded mail keeps those of its arrival. Null for mail that was
   * written on this machine.
   */
  auth: nullable(text()),
  /** Score of the message as spam; null when nothing judged it. */
  spamScore: nullable(real()),
  /** JSON list of the reasons for the score (inbound/spam-signals.ts). */
  spamReasons: text(),
  /** 1 when the message is marked as probable spam, or its sender's policy asks for that. */
  flagged: flag(),
  /** The one address of the From field; null when it has none or several. */
  headerFrom: nullable(text()),
  /** Decoded subject; null when the message has none. */
  subject: nullable(text()),
  /** Message-ID of the header, without its angle brackets; null when it has none. */
  messageId: nullable(text()),
  /** Our email that the message answers; null when it answers none. */
  emailId: nullable(id('em')),
  createdAt: integer(),
  /** Time at which the last task ended; null while one is pending. */
  endedAt: nullable(integer()),
  contentDeletedAt: nullable(integer()),
  /** 1 when a recipient has a route. Mail for mailboxes alone is not shown by the API. */
  isForRoute: flag(),
});
export type ReceivedMessageRow = Row<typeof receivedMessages>;

/** Written by inbound/store.ts: the recipients of a received message, in the order of the envelope. */
export const receivedRecipients = table({
  messageId: id('in'),
  position: integer(),
  /** The address as the client wrote it. */
  address: text(),
  kind: text<ReceivedRecipientKind>(),
  /**
   * Route, mailbox, email, recipient of an email (mail-reports/unsubscribe-target.ts), sender, or id or name of a domain that the address
   * stands for.
   */
  targetId: text(),
});
export type ReceivedRecipientRow = Row<typeof receivedRecipients>;

/** Written by inbound/tasks/store.ts: one thing that is done with a received message. */
export const receivedTasks = table({
  id: id('tsk'),
  messageId: id('in'),
  /** Position of the first recipient that asked for the task. */
  position: integer(),
  tenantId: nullable(id('ten')),
  kind: text<ReceivedTaskKind>(),
  targetId: text(),
  /** Tasks of a kind with the same queue share the workers of the queue: those of one route or mailbox, otherwise of one tenant. */
  queue: text(),
  state: text<'pending' | 'done' | 'failed'>(),
  attempts: integer(),
  /** Null: the task of the engine with this reference has the time of the next attempt, and the run that has leased it. */
  dueAt: nullable(integer()),
  runId: nullable(text()),
  /** Status of the last response. This column and the next three describe the last attempt. */
  responseStatus: nullable(integer()),
  responseTimeMs: nullable(integer()),
  responseBody: nullable(text()),
  error: nullable(text()),
  createdAt: integer(),
  endedAt: nullable(integer()),
});
export type ReceivedTaskRow = Row<typeof receivedTasks>;

/** Written by queue/notifications-store.ts: who is told when a forwarded message fails. The row is deleted when the notification is
 * sent, so that there is one at most, or else with the message. */
export const failureNotifications = table({
  messageId: text(),
  /** Address that is told: the sender of the message before it was forwarded. Empty when the mailbox with the id `recipient` gets the message back. */
  address: text(),
  /** Recipient that the sender named. Where the message went from there concerns nobody else. */
  recipient: text(),
});
export type FailureNotificationRow = Row<typeof failureNotifications>;

/** Written by receiving/sender/store.ts: what greylisting remembers of the networks of clients. */
export const greylistEntries = table({
  /** First three numbers of an IPv4 address, or first half of an IPv6 address. */
  network: key(text()),
  /** Hash of the sender and the recipient of a deferred message; empty for a network that has passed. */
  attempt: key(text()),
  firstSeenAt: integer(),
  expiresAt: integer(),
});
export type GreylistEntryRow = Row<typeof greylistEntries>;

/** Written by mail-reports/dmarc-reports/store.ts: the report about a domain for a day, until it is sent. */
export const dmarcReports = table({
  /** Start of the day (UTC). */
  day: integer(),
  /** Domain whose DMARC record asks for reports. */
  domain: text(),
  /** The part of `domain` that somebody has registered (mail/domain-names.ts). The limits of a day count by it. */
  registrableDomain: text(),
  /** Number of its observations. */
  observations: integer(),
  /** Number of failed attempts to look up where the report goes. */
  attempts: integer(),
  dueAt: integer(),
});
export type DmarcReportRow = Row<typeof dmarcReports>;

/** Written by mail-reports/dmarc-reports/store.ts: a kind of mail of a domain on a day. */
export const dmarcObservations = table({
  day: integer(),
  domain: text(),
  /** JSON of what was found out (mail/dmarc/aggregate-report.ts). */
  observation: text(),
  messages: integer(),
});
export type DmarcObservationRow = Row<typeof dmarcObservations>;

/** Written by mail-reports/reports/store.ts: a report of another server about the mail of a domain. */
export const receivedReports = table({
  id: id('rep'),
  tenantId: id('ten'),
  domainId: id('dom'),
  type: text<'dmarc' | 'tls'>(),
  /** Domain that sent the report, as DMARC or DKIM proves. */
  reporter: text(),
  /** The part of `reporter` that somebody has registered (mail/domain-names.ts). The limits of a day count by it. */
  registrableDomain: text(),
  organization: text(),
  /** Id that the reporter gave the report. */
  reportId: text(),
  beginAt: integer(),
  endAt: integer(),
  /** Messages that passed DMARC, or connections with TLS. */
  passed: integer(),
  failed: integer(),
  /** JSON of what the report says about the domain (mail-reports/reports/select.ts). */
  details: text(),
  createdAt: integer(),
});
export type ReceivedReportRow = Row<typeof receivedReports>;

/** Written by mailbox-delivery/scripts/plan-store.ts: what scripts have decided about a message that is delivered to a mailbox. */
export const deliveryPlans = table({
  taskId: id('tsk'),
  /** JSON of `Plan` (mailbox-delivery/scripts/plan.ts). */
  plan: text(),
});
export type DeliveryPlanRow = Row<typeof deliveryPlans>;
