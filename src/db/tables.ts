/**
 * The data dictionary: every table and the one `store.ts` that writes it. Times are epoch milliseconds, booleans 0 or
 * 1, JSON is text. The tables themselves are made by `migrations/`.
 */
import type { Id } from '../system/ids.ts';
import type { BroadcastEngagementRow, BroadcastLinkRow, ContactActivityRow } from './activity-tables.ts';
import type { AttemptRow } from './attempt-tables.ts';
import type { BroadcastCountsRow, BroadcastRecipientRow, BroadcastRunRow } from './broadcast-tables.ts';
import type { ConfirmationRequestRow, ConfirmationRow } from './confirmation-tables.ts';
import type { ContentRow } from './content-tables.ts';
import type { CountRow } from './counts-tables.ts';
import type { EmailAddressRow, EmailRow, EmailTagRow, IdempotencyRow } from './email-tables.ts';
import type {
  DeliveryPlanRow,
  DmarcObservationRow,
  DmarcReportRow,
  FailureNotificationRow,
  GreylistEntryRow,
  InboundRouteRow,
  ReceivedMessageRow,
  ReceivedRecipientRow,
  ReceivedReportRow,
  ReceivedTaskRow,
  StoredMailRow,
} from './inbound-tables.ts';
import type { MailboxTables } from './mailbox-tables.ts';
import type {
  AudienceRow,
  BounceEvidenceRow,
  BroadcastRow,
  ContactChoiceRow,
  ContactRow,
  JobErrorRow,
  JobRow,
  SegmentRow,
  SuppressionRow,
  TemplateRow,
  TopicRow,
} from './marketing-tables.ts';
import type { InstallationKeyRow, InstallationRow, MigrationRow, StartRow } from './own-tables.ts';
import type {
  CorrespondentRow,
  RecipientCountRow,
  SubmittedMessageRow,
  UnsentMailRow,
} from './submission-tables.ts';
import type { TaskRow } from './task-tables.ts';
import type { ApiKeyRow, PlanRow, TenantRow, UsageRow } from './tenant-tables.ts';
import type {
  EngagementRow,
  FirstEngagementRow,
  TrackedLinkRow,
  TrackingHostRow,
} from './tracking-tables.ts';
import type { WebhookDeliveryRow, WebhookEndpointRow, WebhookReplayRow } from './webhook-tables.ts';

export type Mode = 'live' | 'test';

export type DomainStatus = 'pending' | 'verified' | 'failed' | 'temporary_failure';

/** Written by domains/store.ts. `records` holds the result of the last DNS check, as JSON. */
export type DomainRow = {
  id: Id<'dom'>;
  tenantId: Id<'ten'>;
  name: string;
  status: DomainStatus;
  productType: string;
  region: string;
  /** Host name for tracked links; null when none is set. */
  trackingSubdomain: string | null;
  openTracking: 0 | 1;
  clickTracking: 0 | 1;
  selector: string;
  publicKey: string;
  privateKeySealed: string;
  records: string;
  createdAt: number;
  updatedAt: number;
  /** Time at which all three records were last found correct; null when they never were. */
  verifiedAt: number | null;
  /**
   * Time since which the verification has stood without a lapse; null while it does not stand. A grace period that runs out is
   * a lapse even before the next check. The longest standing verification decides which tenant receives mail for a name.
   */
  verifiedSince: number | null;
  /** Time since which a record of a verified domain is missing; null when all records are there. */
  failingSince: number | null;
  /** Start of the current series of checks: the creation of the domain, or the last request to verify. */
  checksSince: number;
  /** Time of the next check, or the end of the lease of a running one. Null until a check is requested. */
  nextCheckAt: number | null;
  /** Domain of the return paths while the optional RETURN_PATH record is right; null means the installation's. */
  returnPathHost: string | null;
  /** Host of tracked links while the last check found it right; null means the installation's. */
  trackingHost: string | null;
  /** Time of the last check that found the tracking host right; null when none did. */
  trackingCheckedAt: number | null;
  /** Time of deletion. Only the signer still sees the domain, because mail that is retried needs its key. */
  deletedAt: number | null;
};

/** Written by blobs/store.ts. Either `data` or a file named by `sha256`. */
export type BlobRow = {
  id: Id<'blob'>;
  sha256: string;
  sizeBytes: number;
  /** 1 when the bytes contain octets outside ASCII (RFC 6152). */
  eightBit: 0 | 1;
  data: Uint8Array | null;
  createdAt: number;
};

export type EmailStatus = 'queued' | 'sent' | 'delivered' | 'bounced' | 'complained' | 'canceled';

/** Written by queue/store.ts: one message in the spool. An API email and its message share one id. */
export type MessageRow = {
  id: string;
  tenantId: Id<'ten'>;
  mode: Mode;
  kind: 'transactional' | 'broadcast';
  /** Topic of marketing mail, whose readers may opt out of it until it is sent. Null for transactional mail. */
  topicId: Id<'top'> | null;
  status: EmailStatus;
  /** Sender address without a display name. Webhooks show it. */
  sender: string;
  domainId: Id<'dom'> | null;
  /**
   * The bytes that are stored as they are sent: of a `stored` message all fields and the body, without the fields in
   * `signature`; of a `rendered` one its files, in their final encoding. Null when it has none.
   */
  blobId: Id<'blob'> | null;
  /** Number of octets before the body of a `stored` message, including the empty line. Otherwise 0. */
  headerBytes: number;
  /**
   * Base64 of the SHA-256 hash of the body in DKIM's relaxed form (RFC 6376 section 3.7). Empty for a message without
   * stored bytes, whose body is hashed when it is composed.
   */
  bodyHash: string;
  /** Time in the `Date` field and in the signature: the acceptance, or the time that the message is scheduled for. */
  datedAt: number;
  /** The DKIM and Date fields of the first attempt, kept so that a resend is byte-identical. */
  signature: string | null;
  createdAt: number;
  expiresAt: number;
  lastEventAt: number;
  /** The texts. Null for messages of versions before 0012, and once retention has removed the content. */
  contentId: number | null;
  /** Version of the composer when a `rendered` message was accepted (mail/message/compose.ts). Null otherwise. */
  composer: number | null;
  /** Header fields of a `rendered` message up to `MIME-Version`; null for a `stored` one. */
  fields: string | null;
  /** JSON object of the values of this message for the placeholders of a shared content. Null when it is not shared. */
  mergeValues: string | null;
  /** The broadcast that this message is a copy of, and the contact that it is for; null for other mail. */
  broadcastId: Id<'brd'> | null;
  contactId: Id<'ct'> | null;
  /**
   * Domain of the address for complaints (RFC 9477): the return path of the sender's domain that was verified when the message
   * was accepted. Null when there was none.
   */
  complaintHost: string | null;
  /** The envelope sender; empty for the null sender. Null for one that each attempt makes (queue/return-path.ts). */
  returnPath: string | null;
  /** 1 when the message must never leave over a connection without verified TLS (RFC 8689). */
  requireTls: 0 | 1;
  /**
   * Header fields of a forwarded message that stand above its stored bytes, one character for each octet. Null for other mail, which
   * is dated and signed when it is sent.
   */
  traceFields: string | null;
  /** The mailbox that has written the message; null for mail of the API and of the installation. Mail of people is no email of the API. */
  mailboxId: Id<'mbx'> | null;
  /** Parameters of MAIL about notifications, which are passed on (mail/smtp/dsn-parameters.ts). Null when the sender gave none. */
  dsn: string | null;
  /** 1 when header fields or addresses are UTF-8, so that only servers with SMTPUTF8 take the message (RFC 6531). */
  utf8: 0 | 1;
};

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

/** Written by queue/store.ts: one row for each recipient of a message. */
export type RecipientRow = {
  id: Id<'rcp'>;
  messageId: string;
  tenantId: Id<'ten'>;
  mode: Mode;
  field: 'to' | 'cc' | 'bcc';
  position: number;
  address: string;
  domain: string;
  /** Key of the delivery queue that the recipient waits in (queue/site/delivery-queue.ts). */
  queue: string;
  state: RecipientState;
  /**
   * Time of the next attempt. In flight it is the time at which the lease ends, on the monotonic clock of the start
   * that claimed it. Null once the recipient is final or held, and while a suspect waits for its trial
   * (queue/held/trial.ts).
   */
  dueAt: number | null;
  attempts: number;
  /** Number of crashes that interrupted its delivery since the last settled attempt. */
  interruptedAttempts: number;
  /** Run of the daemon that leased the recipient; null when it is not leased. */
  runId: string | null;
  delayNoticeAt: number | null;
  smtpCode: number | null;
  enhancedCode: string | null;
  diagnostic: string | null;
  mx: string | null;
  tls: string | null;
  lastEventAt: number;
  /**
   * Parameters of RCPT about notifications, which are passed on (mail/smtp/dsn-parameters.ts). Null when the sender gave none, and once
   * another server is responsible for them.
   */
  dsn: string | null;
  /** Class of the last reply or fact, and what the sender can do (queue/outcome/replies). Null without one. */
  class: string | null;
  advice: string | null;
};

/** Written by events/store.ts. `data` is JSON: what a webhook carries under `data`, without the fields of the email. */
export type EventRow = {
  id: Id<'evt'>;
  tenantId: Id<'ten'>;
  mode: Mode;
  type: string;
  emailId: string | null;
  data: string;
  createdAt: number;
  /** 0 until the webhook fan-out has processed the event. */
  fannedOut: 0 | 1;
};

export type Tables = MailboxTables & {
  tasks: TaskRow;
  plans: PlanRow;
  tenants: TenantRow;
  usage: UsageRow;
  apiKeys: ApiKeyRow;
  domains: DomainRow;
  installationKeys: InstallationKeyRow;
  suppressions: SuppressionRow;
  bounceEvidence: BounceEvidenceRow;
  jobs: JobRow;
  jobErrors: JobErrorRow;
  topics: TopicRow;
  templates: TemplateRow;
  audiences: AudienceRow;
  contacts: ContactRow;
  contactChoices: ContactChoiceRow;
  confirmations: ConfirmationRow;
  confirmationRequests: ConfirmationRequestRow;
  segments: SegmentRow;
  blobs: BlobRow;
  messages: MessageRow;
  contents: ContentRow;
  recipients: RecipientRow;
  attempts: AttemptRow;
  emails: EmailRow;
  emailAddresses: EmailAddressRow;
  emailTags: EmailTagRow;
  idempotency: IdempotencyRow;
  broadcasts: BroadcastRow;
  engagements: EngagementRow;
  firstEngagements: FirstEngagementRow;
  trackedLinks: TrackedLinkRow;
  trackingHosts: TrackingHostRow;
  broadcastRuns: BroadcastRunRow;
  broadcastRecipients: BroadcastRecipientRow;
  broadcastCounts: BroadcastCountsRow;
  broadcastEngagements: BroadcastEngagementRow;
  broadcastLinks: BroadcastLinkRow;
  contactActivity: ContactActivityRow;
  events: EventRow;
  counts: CountRow;
  webhookEndpoints: WebhookEndpointRow;
  webhookDeliveries: WebhookDeliveryRow;
  webhookReplays: WebhookReplayRow;
  inboundRoutes: InboundRouteRow;
  storedMail: StoredMailRow;
  receivedMessages: ReceivedMessageRow;
  receivedRecipients: ReceivedRecipientRow;
  receivedTasks: ReceivedTaskRow;
  deliveryPlans: DeliveryPlanRow;
  failureNotifications: FailureNotificationRow;
  submittedMessages: SubmittedMessageRow;
  unsentMail: UnsentMailRow;
  recipientCounts: RecipientCountRow;
  correspondents: CorrespondentRow;
  dmarcReports: DmarcReportRow;
  dmarcObservations: DmarcObservationRow;
  greylistEntries: GreylistEntryRow;
  receivedReports: ReceivedReportRow;
  migrations: MigrationRow;
  starts: StartRow;
  installation: InstallationRow;
};
