/**
 * The data dictionary: every table and the one `store.ts` that writes it. Times are epoch milliseconds, booleans 0 or
 * 1, JSON is text. The tables themselves are made by `migrations/`.
 */
import type { Id } from '../system/ids.ts';
import type {
  AudienceRow,
  ContactChoiceRow,
  ContactRow,
  ExportRow,
  ImportErrorRow,
  ImportRow,
  SegmentRow,
  SuppressionRow,
  TemplateRow,
  TopicRow,
} from './marketing-tables.ts';
import type { InstallationRow, MigrationRow, StartRow } from './own-tables.ts';

export type Mode = 'live' | 'test';

/** Written by tenants/store.ts. */
export type PlanRow = {
  name: string;
  /** Emails a calendar month; null: no limit. */
  monthlyEmails: number | null;
  /** Null: no limit. */
  requestsPerSecond: number | null;
  createdAt: number;
};

/** Written by tenants/store.ts. */
export type TenantRow = { id: Id<'ten'>; name: string; plan: string; createdAt: number };

/** Written by tenants/store.ts: emails accepted in a calendar month (UTC), of tenants whose plan has a limit. */
export type UsageRow = {
  tenantId: Id<'ten'>;
  /** `2026-11`. */
  month: string;
  emails: number;
};

export type Permission = 'full_access' | 'sending_access' | 'read_only';

/** Written by tenants/store.ts. */
export type ApiKeyRow = {
  id: Id<'key'>;
  tenantId: Id<'ten'>;
  name: string;
  mode: Mode;
  permission: Permission;
  /** The one domain it may send from; null: any of its tenant's. */
  domainId: Id<'dom'> | null;
  /** JSON list of addresses and CIDR blocks it may be used from; null: from anywhere. */
  allowedIps: string | null;
  /** The 8 characters after the prefix; what a lookup starts from. */
  hint: string;
  /** SHA-256 of the whole token, hex. */
  tokenHash: string;
  createdAt: number;
  lastUsedAt: number | null;
  expiresAt: number | null;
  revokedAt: number | null;
};

export type DomainStatus = 'pending' | 'verified' | 'failed' | 'temporary_failure';

/** Written by domains/store.ts. `records` holds what DNS said at the last check, as JSON. */
export type DomainRow = {
  id: Id<'dom'>;
  tenantId: Id<'ten'>;
  name: string;
  status: DomainStatus;
  productType: string;
  region: string;
  /** A host name for tracked links; null: none is set. */
  trackingSubdomain: string | null;
  openTracking: 0 | 1;
  clickTracking: 0 | 1;
  selector: string;
  publicKey: string;
  privateKeySealed: string;
  records: string;
  createdAt: number;
  updatedAt: number;
  /** When all three records were last seen right; null: never yet. */
  verifiedAt: number | null;
  /** Since when a record of a once verified domain is missing; null: nothing is. */
  failingSince: number | null;
  /** When the search for records that are not right yet began: at its creation, or when somebody last asked. */
  checksSince: number;
  /** When its records are next checked, or until when the check is leased. Null: not until somebody asks. */
  nextCheckAt: number | null;
  /**
   * The domain of the return paths of its mail while its optional RETURN_PATH record is right. Null: the domain of this
   * installation is used.
   */
  returnPathHost: string | null;
  /** Hidden from all but the signer: mail still being retried needs the key. */
  deletedAt: number | null;
};

/** Written by blobs/store.ts. Either `data` or a file named by `sha256`. */
export type BlobRow = {
  id: Id<'blob'>;
  sha256: string;
  sizeBytes: number;
  /** Whether octets outside ASCII stand in it (RFC 6152). */
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
  status: EmailStatus;
  /** The bare sender address; webhooks show it. */
  sender: string;
  /** The local part of the return path is `b+<token>`; its domain is chosen at each attempt. */
  returnToken: string;
  domainId: Id<'dom'> | null;
  /** The message from its first field to its end, but for the fields in `signature`. */
  blobId: Id<'blob'>;
  /** Octets of the blob before its body, the empty line among them. */
  headerBytes: number;
  /** SHA-256 of the body in DKIM's relaxed form, base64 (RFC 6376 3.7): what a signature needs of it. */
  bodyHash: string;
  /** The time in the `Date` field and in the signature: when it was accepted, or when it is scheduled for. */
  datedAt: number;
  /** The DKIM and Date fields of the first attempt: a resend is byte-identical. */
  signature: string | null;
  createdAt: number;
  expiresAt: number;
  lastEventAt: number;
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
  /** Who waits in line with it: queue/delivery-queue.ts. */
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
  /** The start of the daemon that leased it. */
  runId: string | null;
  delayNoticeAt: number | null;
  smtpCode: number | null;
  enhancedCode: string | null;
  diagnostic: string | null;
  mx: string | null;
  tls: string | null;
  lastEventAt: number;
};

/** Written by queue/attempts/store.ts: one row for each attempt, which shows why it ended as it did. */
export type AttemptRow = {
  id: Id<'att'>;
  recipientId: Id<'rcp'>;
  messageId: string;
  tenantId: Id<'ten'>;
  at: number;
  durationMs: number;
  outcome: 'delivered' | 'deferred' | 'bounced' | 'held' | 'recovered';
  phase: string;
  mx: string | null;
  address: string | null;
  tls: string | null;
  smtpCode: number | null;
  enhancedCode: string | null;
  reply: string | null;
};

/** Written by emails/store.ts: what the API adds to a message. Lists of addresses are JSON. The long columns stand last: a
 * list, and what delivers, read past none of them. */
export type EmailRow = {
  id: Id<'em'>;
  tenantId: Id<'ten'>;
  mode: Mode;
  type: 'transactional' | 'broadcast';
  fromHeader: string;
  fromAddress: string;
  fromDomain: string;
  toList: string;
  ccList: string;
  bccList: string;
  replyToList: string;
  subject: string;
  /** JSON object of the caller's own header fields. */
  headers: string;
  /** JSON list of `{ filename, contentType, contentId, sizeBytes }`; the bytes are in the message. */
  attachments: string;
  /** JSON object. */
  tags: string;
  /** When it was asked to be sent; null: at once. */
  scheduledAt: number | null;
  templateId: Id<'tpl'> | null;
  topicId: Id<'top'> | null;
  /** The broadcast it is one contact's copy of. */
  broadcastId: Id<'brd'> | null;
  /** JSON list of the variables that had neither a value nor a fallback. */
  missingVariables: string;
  rfcMessageId: string;
  createdAt: number;
  /** As sent, variables filled in. */
  html: string | null;
  text: string | null;
};

/** Written by emails/store.ts: finds emails by tag. */
export type EmailTagRow = {
  tenantId: Id<'ten'>;
  mode: Mode;
  key: string;
  value: string;
  emailId: Id<'em'>;
};

/** Written by emails/store.ts: finds emails by recipient without reading them all. */
export type EmailAddressRow = { tenantId: Id<'ten'>; mode: Mode; address: string; emailId: Id<'em'> };

/** Written by emails/idempotency/store.ts. */
export type IdempotencyRow = {
  tenantId: Id<'ten'>;
  mode: Mode;
  key: string;
  requestHash: string;
  response: string;
  expiresAt: number;
};

/** Written by broadcasts/store.ts. The long columns stand last. */
export type BroadcastRow = {
  id: Id<'brd'>;
  tenantId: Id<'ten'>;
  mode: Mode;
  status: 'draft';
  audienceId: Id<'aud'>;
  segmentId: Id<'seg'> | null;
  fromHeader: string;
  subject: string;
  replyTo: string | null;
  topicId: Id<'top'> | null;
  templateId: Id<'tpl'> | null;
  createdAt: number;
  updatedAt: number;
  html: string | null;
  text: string | null;
};

/** Written by events/store.ts. `data` is the JSON a webhook carries under `data`. */
export type EventRow = {
  id: Id<'evt'>;
  tenantId: Id<'ten'>;
  mode: Mode;
  type: string;
  emailId: string | null;
  data: string;
  createdAt: number;
  /** 0 until the webhook fan-out has seen it. */
  fannedOut: 0 | 1;
};

/** Written by webhooks/store.ts. */
export type WebhookEndpointRow = {
  id: Id<'wh'>;
  tenantId: Id<'ten'>;
  mode: Mode;
  url: string;
  events: string;
  description: string | null;
  status: 'enabled' | 'disabled';
  disabledReason: 'manual' | 'failures' | 'gone' | null;
  disabledAt: number | null;
  /** Since when no post has succeeded, though some were made. Null: the last one did, or none was made yet. */
  failingSince: number | null;
  /** When the owner was told of it; null: not yet. */
  warnedAt: number | null;
  /** Number of failed posts since the last success. Posts that failed while the endpoint was suspended count as one. */
  consecutiveFailures: number;
  /** Time before which nothing is posted to it. Null when its last post succeeded or none was made yet. */
  suspendedUntil: number | null;
  secretSealed: string;
  /** The secret before this one, which signs too until then: only while a rotation asked for overlap. */
  previousSecretSealed: string | null;
  previousSecretUntil: number | null;
  createdAt: number;
  updatedAt: number;
};

/** Written by webhooks/deliveries/store.ts: one event for one endpoint. */
export type WebhookDeliveryRow = {
  id: Id<'whd'>;
  endpointId: Id<'wh'>;
  tenantId: Id<'ten'>;
  eventId: Id<'evt'>;
  /** `skipped`: not posted, or no longer, because its endpoint is disabled. */
  state: 'pending' | 'delivered' | 'failed' | 'skipped';
  attempts: number;
  /** When it may next be tried, or until when it is leased. Null once ended. */
  dueAt: number | null;
  /** The start of the daemon that leased it; null when it is not leased. */
  runId: string | null;
  /** This and the next three: of the last attempt. */
  responseStatus: number | null;
  responseTimeMs: number | null;
  responseBody: string | null;
  error: string | null;
  createdAt: number;
};

/** Written by webhooks/deliveries/replays/store.ts: what is still to be begun anew of a replay that is too large for one write. */
export type WebhookReplayRow = {
  endpointId: Id<'wh'>;
  state: 'failed' | 'skipped';
  /** Deliveries after the one and before the other. */
  afterId: Id<'whd'>;
  beforeId: Id<'whd'>;
};

/** Written by inbound/routes/store.ts. Live and test keys share them. */
export type InboundRouteRow = {
  id: Id<'rt'>;
  tenantId: Id<'ten'>;
  /** Its `addressKey`, or `*@domain` for every address of a domain that no route names. */
  address: string;
  domain: string;
  destination: string;
  enabled: 0 | 1;
  secretSealed: string;
  createdAt: number;
  updatedAt: number;
};

export type Tables = {
  plans: PlanRow;
  tenants: TenantRow;
  usage: UsageRow;
  apiKeys: ApiKeyRow;
  domains: DomainRow;
  suppressions: SuppressionRow;
  imports: ImportRow;
  importErrors: ImportErrorRow;
  exports: ExportRow;
  topics: TopicRow;
  templates: TemplateRow;
  audiences: AudienceRow;
  contacts: ContactRow;
  contactChoices: ContactChoiceRow;
  segments: SegmentRow;
  blobs: BlobRow;
  messages: MessageRow;
  recipients: RecipientRow;
  attempts: AttemptRow;
  emails: EmailRow;
  emailAddresses: EmailAddressRow;
  emailTags: EmailTagRow;
  idempotency: IdempotencyRow;
  broadcasts: BroadcastRow;
  events: EventRow;
  webhookEndpoints: WebhookEndpointRow;
  webhookDeliveries: WebhookDeliveryRow;
  webhookReplays: WebhookReplayRow;
  inboundRoutes: InboundRouteRow;
  migrations: MigrationRow;
  starts: StartRow;
  installation: InstallationRow;
};
