/** The data dictionary: mail that arrives. The conventions are those of tables.ts, which lists every table. */

import { RECEIVER_COLUMNS, RESPONSE_COLUMNS } from './post-columns.ts';
import {
  clusteredTable,
  flag,
  id,
  initially,
  integer,
  key,
  nullable,
  type Row,
  real,
  references,
  table,
  text,
} from './table.ts';

/** Written by routes/store.ts. Live and test keys share them. */
export const inboundRoutes = table({
  id: key(id('rt')),
  tenantId: references('tenants', id('ten')),
  /** Address as `addressKey`, or `*@domain` for all addresses of a domain without a route of their own. */
  address: text(),
  domain: text(),
  destination: text(),
  enabled: flag(),
  ...RECEIVER_COLUMNS,
  createdAt: integer(),
  updatedAt: integer(),
}).indexedBy({
  inboundRoutesByAddress: 'UNIQUE (tenantId, address)',
  inboundRoutesByTenant: '(tenantId, id)',
  inboundRoutesOfAll: '(address)',
});
export type InboundRouteRow = Row<typeof inboundRoutes>;

/** Written by tenants/stored-mail/store.ts, within each write that stores or removes received mail or reports. */
export const storedMail = clusteredTable({
  tenantId: key(references('tenants', id('ten'))),
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
  id: key(id('in')),
  /** Tenant of the recipients; null for mail of the installation itself, such as bounces. */
  tenantId: references('tenants', nullable(id('ten'))),
  /** The message as it arrived, with CRLF line ends. Null once retention has removed it. */
  blobId: references('blobs', nullable(id('blob'))),
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
  isForRoute: initially(0, flag()),
  /** Parameters of MAIL about notifications (mail/smtp/dsn-parameters.ts). Null when the client gave none. */
  dsn: nullable(text()),
  /** 1 when the client asks to be told of the delivery to a recipient (`NOTIFY=SUCCESS`). */
  reportsDelivery: initially(0, flag()),
}).indexedBy({
  // Lists of the API and of the operator (routes/messages/store.ts), the erasure of a tenant, and the foreign key.
  receivedMessagesByTenant: '(tenantId, isForRoute, id)',
  // `findReceivedOfBytes`, `freeReceivedBytes` (inbound/store.ts), and the foreign key.
  receivedMessagesByBlob: '(blobId) WHERE blobId IS NOT NULL',
  // `expireReceivedContent` (inbound/store.ts).
  receivedMessagesWithContent: '(endedAt) WHERE endedAt IS NOT NULL AND contentDeletedAt IS NULL',
  // The filter `messageId` of the lists.
  receivedMessagesByMessageId: '(tenantId, messageId, id) WHERE isForRoute = 1 AND messageId IS NOT NULL',
});
export type ReceivedMessageRow = Row<typeof receivedMessages>;

/** Written by inbound/store.ts: the recipients of a received message, in the order of the envelope. */
export const receivedRecipients = clusteredTable({
  messageId: key(references('receivedMessages', id('in'))),
  position: key(integer()),
  /** The address as the client wrote it. */
  address: text(),
  kind: text<ReceivedRecipientKind>(),
  /**
   * Route, mailbox, email, recipient of an email (mail-reports/unsubscribe.ts), sender, or id or name of a domain that the address
   * stands for.
   */
  targetId: text(),
  /** Parameters of RCPT about notifications (mail/smtp/dsn-parameters.ts). Null when the client gave none. */
  dsn: nullable(text()),
}).indexedBy({
  // The filter `address` of the lists.
  receivedRecipientsByAddress: '(lower(address), messageId)',
  // The filter `routeId` of the lists, and `listReceivedSizes` (inbound/store.ts). Nobody asks for the mail of a mailbox here.
  receivedRecipientsByTarget: "(targetId, messageId) WHERE kind <> 'mailbox'",
});
export type ReceivedRecipientRow = Row<typeof receivedRecipients>;

/** Written by inbound/tasks/store.ts: one thing that is done with a received message. */
export const receivedTasks = clusteredTable({
  id: key(id('tsk')),
  messageId: references('receivedMessages', id('in')),
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
  ...RESPONSE_COLUMNS,
  createdAt: integer(),
  endedAt: nullable(integer()),
}).indexedBy({
  // `listTasksOf`, `pendingOf` and `deleteTasksOf` (inbound/tasks), and the foreign key.
  receivedTasksByMessage: '(messageId, position)',
  // Lists the tasks that wait in a queue or have failed there (inbound/tasks/read-store.ts, mailbox-delivery/store.ts), and all that wait.
  receivedTasksOpen: "(queue, state, id) WHERE state <> 'done'",
});
export type ReceivedTaskRow = Row<typeof receivedTasks>;

/**
 * Written by queue/notifications-store.ts: who is told when a forwarded message fails or is delayed. The row is deleted when the failure was
 * told, so that there is one notification of it at most, or else with the message.
 */
export const failureNotifications = clusteredTable({
  messageId: key(text()),
  /** Address that is told: the sender of the message before it was forwarded. Empty when the mailbox with the id `recipient` gets the message back. */
  address: text(),
  /** Recipient that the sender named. Where the message went from there concerns nobody else. */
  recipient: text(),
  /** 1 once the delay of the message was told. */
  delayReported: initially(0, flag()),
  /**
   * JSON of the recipients that the sender named, each with its parameters about notifications (`NamedRecipient`). Null for a row of an earlier
   * version, of which `recipient` is the only one.
   */
  named: nullable(text()),
});
export type FailureNotificationRow = Row<typeof failureNotifications>;
export type NewFailureNotification = Omit<FailureNotificationRow, 'delayReported' | 'named'> & {
  named: readonly NamedRecipient[];
};

/** A recipient that the sender of a message named, with the parameters that say what the sender wants to be told about it (RFC 3461). */
export type NamedRecipient = Pick<ReceivedRecipientRow, 'address' | 'dsn'>;

/** Written by receiving/sender/store.ts: what greylisting remembers of the networks of clients. */
export const greylistEntries = clusteredTable({
  /** First three numbers of an IPv4 address, or first half of an IPv6 address. */
  network: key(text()),
  /** Hash of the sender and the recipient of a deferred message; empty for a network that has passed. */
  attempt: key(text()),
  firstSeenAt: integer(),
  expiresAt: integer(),
}).indexedBy({
  greylistEntriesByExpiry: '(expiresAt)',
});
export type GreylistEntryRow = Row<typeof greylistEntries>;

/** Written by mail-reports/dmarc-reports/store.ts: the report about a domain for a day, until it is sent. */
export const dmarcReports = clusteredTable({
  /** Start of the day (UTC). */
  day: key(integer()),
  /** Domain whose DMARC record asks for reports. */
  domain: key(text()),
  /** The part of `domain` that somebody has registered (mail/domain-names.ts). The limits of a day count by it. */
  registrableDomain: initially('', text()),
  /** Number of its observations. */
  observations: integer(),
  /** Number of failed attempts to look up where the report goes. */
  attempts: integer(),
  dueAt: integer(),
}).indexedBy({
  dmarcReportsDue: '(dueAt)',
});
export type DmarcReportRow = Row<typeof dmarcReports>;

/** Written by mail-reports/dmarc-reports/store.ts: a kind of mail of a domain on a day. */
export const dmarcObservations = clusteredTable({
  day: key(integer()),
  domain: key(text()),
  /** JSON of what was found out (mail/dmarc/aggregate-report.ts). */
  observation: key(text()),
  messages: integer(),
});
export type DmarcObservationRow = Row<typeof dmarcObservations>;

/** Written by mail-reports/reports/store.ts: a report of another server about the mail of a domain. */
export const receivedReports = table({
  id: key(id('rep')),
  tenantId: references('tenants', id('ten')),
  domainId: id('dom'),
  type: text<'dmarc' | 'tls'>(),
  /** Domain that sent the report, as DMARC or DKIM proves. */
  reporter: text(),
  /** The part of `reporter` that somebody has registered (mail/domain-names.ts). The limits of a day count by it. */
  registrableDomain: initially('', text()),
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
}).indexedBy({
  receivedReportsOnce: 'UNIQUE (domainId, type, reporter, reportId, beginAt)',
  receivedReportsByDomain: '(domainId, id, type, beginAt, passed, failed)',
  receivedReportsByTenant: '(tenantId)',
  receivedReportsByRegistrable: '(domainId, registrableDomain, id)',
});
export type ReceivedReportRow = Row<typeof receivedReports>;

/** Written by mailbox-delivery/scripts/plan-store.ts: what scripts have decided about a message that is delivered to a mailbox. */
export const deliveryPlans = clusteredTable({
  taskId: key(id('tsk')),
  /** JSON of `Plan` (mailbox-delivery/scripts/plan.ts). */
  plan: text(),
});
export type DeliveryPlanRow = Row<typeof deliveryPlans>;
