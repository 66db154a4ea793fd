/** The data dictionary: mail that arrives. The conventions are those of tables.ts, which lists every table. */
import type { Id } from '../system/ids.ts';

/** Written by routes/store.ts. Live and test keys share them. */
export type InboundRouteRow = {
  id: Id<'rt'>;
  tenantId: Id<'ten'>;
  /** Address as `addressKey`, or `*@domain` for all addresses of a domain without a route of their own. */
  address: string;
  domain: string;
  destination: string;
  enabled: 0 | 1;
  /** `failures`: no post had succeeded for days; `gone`: the receiver answered 410. Null while the route is enabled. */
  disabledReason: 'manual' | 'failures' | 'gone' | null;
  disabledAt: number | null;
  /** Time since which every post has failed. Null when the last one succeeded or none was made yet. */
  failingSince: number | null;
  /** Time at which the operator was warned; null when not yet. */
  warnedAt: number | null;
  /** Number of failed posts since the last success. Posts that failed while the route was suspended count as one. */
  consecutiveFailures: number;
  /** Time before which nothing is posted to it. Null when its last post succeeded or none was made yet. */
  suspendedUntil: number | null;
  secretSealed: string;
  createdAt: number;
  updatedAt: number;
};

/** Written by tenants/stored-mail/store.ts, within each write that stores or removes received mail or reports. */
export type StoredMailRow = {
  tenantId: Id<'ten'>;
  /** Size of the received mail and of the reports that the tenant stores. A tenant without a row stores none. */
  bytes: number;
};

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
export type ReceivedMessageRow = {
  id: Id<'in'>;
  /** Tenant of the recipients; null for mail of the installation itself, such as bounces. */
  tenantId: Id<'ten'> | null;
  /** The message as it arrived, with CRLF line ends. Null once retention has removed it. */
  blobId: Id<'blob'> | null;
  sizeBytes: number;
  /** Envelope sender; empty for the null sender (RFC 5321 section 4.5.5). */
  sender: string;
  /** IP address of the client; empty for mail out of the queue of this installation. */
  remoteAddress: string;
  /** Name that the client gave in EHLO or HELO; null when it gave none. */
  helo: string | null;
  /** Version of TLS, such as `TLSv1.3`; null for a connection in plain text. */
  tls: string | null;
  /** 1 when the message must never leave over a connection without verified TLS (RFC 8689). */
  requireTls: 0 | 1;
  /** 1 when the client asked for SMTPUTF8 (RFC 6531). */
  utf8: 0 | 1;
  /** The header fields that were added, each with its CRLF. They stand before the bytes of the blob. */
  trace: string;
  /**
   * JSON of the results of authentication (mail/auth/result.ts). Forwarded mail keeps those of its arrival. Null for mail that was
   * written on this machine.
   */
  auth: string | null;
  /** Score of the message as spam; null when nothing judged it. */
  spamScore: number | null;
  /** JSON list of the reasons for the score (inbound/spam-signals.ts). */
  spamReasons: string;
  /** 1 when the message is marked as probable spam, or its sender's policy asks for that. */
  flagged: 0 | 1;
  /** The one address of the From field; null when it has none or several. */
  headerFrom: string | null;
  /** Decoded subject; null when the message has none. */
  subject: string | null;
  /** Message-ID of the header, without its angle brackets; null when it has none. */
  messageId: string | null;
  /** Our email that the message answers; null when it answers none. */
  emailId: Id<'em'> | null;
  createdAt: number;
  /** Time at which the last task ended; null while one is pending. */
  endedAt: number | null;
  contentDeletedAt: number | null;
  /** 1 when a recipient has a route. Mail for mailboxes alone is not shown by the API. */
  isForRoute: 0 | 1;
};

/** Written by inbound/store.ts: the recipients of a received message, in the order of the envelope. */
export type ReceivedRecipientRow = {
  messageId: Id<'in'>;
  position: number;
  /** The address as the client wrote it. */
  address: string;
  kind: ReceivedRecipientKind;
  /**
   * Route, mailbox, email, recipient of an email (mail-reports/unsubscribe-target.ts), sender, or id or name of a domain that the address
   * stands for.
   */
  targetId: string;
};

/** Written by inbound/tasks/store.ts: one thing that is done with a received message. */
export type ReceivedTaskRow = {
  id: Id<'tsk'>;
  messageId: Id<'in'>;
  /** Position of the first recipient that asked for the task. */
  position: number;
  tenantId: Id<'ten'> | null;
  kind: ReceivedTaskKind;
  targetId: string;
  /** Tasks of a kind with the same queue share the workers of the queue: those of one route or mailbox, otherwise of one tenant. */
  queue: string;
  state: 'pending' | 'done' | 'failed';
  attempts: number;
  /** Time of the next attempt, or the end of the lease of a running one. Null once the task has ended. */
  dueAt: number | null;
  /** Run of the daemon, or of its thread, that leased the task; null when it is not leased. */
  runId: string | null;
  /** Status of the last response. This column and the next three describe the last attempt. */
  responseStatus: number | null;
  responseTimeMs: number | null;
  responseBody: string | null;
  error: string | null;
  createdAt: number;
  endedAt: number | null;
};

/** Written by queue/notifications-store.ts: who is told when a forwarded message fails. The row is deleted when the notification is
 * sent, so that there is one at most, or else with the message. */
export type FailureNotificationRow = {
  messageId: string;
  /** Address that is told: the sender of the message before it was forwarded. Empty when the mailbox with the id `recipient` gets the message back. */
  address: string;
  /** Recipient that the sender named. Where the message went from there concerns nobody else. */
  recipient: string;
  /** Time at which the notification is due, or at which the lease of its run ends. Null until a recipient of the message fails. */
  dueAt: number | null;
  attempts: number;
};

/** Written by receiving/sender/store.ts: what greylisting remembers of the networks of clients. */
export type GreylistEntryRow = {
  /** First three numbers of an IPv4 address, or first half of an IPv6 address. */
  network: string;
  /** Hash of the sender and the recipient of a deferred message; empty for a network that has passed. */
  attempt: string;
  firstSeenAt: number;
  expiresAt: number;
};

/** Written by mail-reports/dmarc-reports/store.ts: the report about a domain for a day, until it is sent. */
export type DmarcReportRow = {
  /** Start of the day (UTC). */
  day: number;
  /** Domain whose DMARC record asks for reports. */
  domain: string;
  /** The part of `domain` that somebody has registered (mail/registrable-domain.ts). The limits of a day count by it. */
  registrableDomain: string;
  /** Number of its observations. */
  observations: number;
  /** Number of failed attempts to look up where the report goes. */
  attempts: number;
  dueAt: number;
};

/** Written by mail-reports/dmarc-reports/store.ts: a kind of mail of a domain on a day. */
export type DmarcObservationRow = {
  day: number;
  domain: string;
  /** JSON of what was found out (mail/dmarc/aggregate-report.ts). */
  observation: string;
  messages: number;
};

/** Written by mail-reports/reports/store.ts: a report of another server about the mail of a domain. */
export type ReceivedReportRow = {
  id: Id<'rep'>;
  tenantId: Id<'ten'>;
  domainId: Id<'dom'>;
  type: 'dmarc' | 'tls';
  /** Domain that sent the report, as DMARC or DKIM proves. */
  reporter: string;
  /** The part of `reporter` that somebody has registered (mail/registrable-domain.ts). The limits of a day count by it. */
  registrableDomain: string;
  organization: string;
  /** Id that the reporter gave the report. */
  reportId: string;
  beginAt: number;
  endAt: number;
  /** Messages that passed DMARC, or connections with TLS. */
  passed: number;
  failed: number;
  /** JSON of what the report says about the domain (mail-reports/reports/select.ts). */
  details: string;
  createdAt: number;
};

/** Written by mailbox-delivery/scripts/plan-store.ts: what scripts have decided about a message that is delivered to a mailbox. */
export type DeliveryPlanRow = {
  taskId: Id<'tsk'>;
  /** JSON of `Plan` (mailbox-delivery/scripts/plan.ts). */
  plan: string;
};
