// This file is written by sdk/tools/types-node.ts. Do not edit it.
import type { AttachmentContent } from './attachments.ts';

/** One of the values that are known today, or one that a newer server has added. */
export type Known<T extends string> = T | (string & {});

export interface PlanUsage {
  /** Calendar month in UTC. */
  month: string;
  /**
   * Number of emails that live keys sent in the month; null for a plan without a limit, which does not count
   * them.
   */
  emails: number | null;
  /** Null: no limit. */
  remaining: number | null;
  /** Time at which the next month begins. */
  resetsAt: string;
  /**
   * Size of the received mail that is stored, with 3 KB for the rows of each message, and of the reports
   * about the domains.
   */
  storedBytes: number;
}

export interface Plan {
  name: string;
  /** Maximum number of emails per calendar month; null for no limit. */
  monthlyEmails: number | null;
  /** Null: no limit. */
  requestsPerSecond: number | null;
  /**
   * Maximum size of the received mail and the reports that are stored, in units of 1,048,576 bytes; null for
   * no limit.
   */
  storedMegabytes: number | null;
  usage: PlanUsage;
}

export interface Topic {
  id: string;
  name: string;
  description: string | null;
  defaultOptIn: boolean;
  createdAt: string;
  updatedAt: string;
}

export interface EmailCalendar {
  method: Known<'PUBLISH' | 'REQUEST' | 'REPLY' | 'ADD' | 'CANCEL' | 'REFRESH' | 'COUNTER' | 'DECLINECOUNTER'>;
  content: string;
}

export interface EmailAttachment {
  filename: string;
  contentType: string;
  /** Content id of an inline image, which the HTML refers to as `cid:…`. */
  contentId: string | null;
  /** How a mail program shows the file. */
  disposition: Known<'inline' | 'attachment'>;
  /** Size in bytes. */
  size: number;
}

export interface EmailApproval {
  /**
   * `pending`: a person has to decide. `expired`: nobody has decided in time. `withdrawn`: the mail was
   * approved and has changed since, was canceled, or was sent by a key that needs no approval.
   */
  state: Known<'pending' | 'approved' | 'declined' | 'expired' | 'withdrawn'>;
  /**
   * Hash of the content, the audience and the time. A decision names it, so that nothing else is approved
   * than what was read. It changes with the mail.
   */
  hash: string;
  /**
   * Time until which a person can decide. Then the email is canceled, and the broadcast is a draft, unless it
   * is scheduled for a time that needs no approval.
   */
  expiresAt: string;
  /** Time of the decision, or of the end without one. */
  decidedAt: string | null;
  /** Words of the one who has declined. */
  reason: string | null;
}

export interface EmailRecipientWaiting {
  reason: Known<'rest' | 'rate' | 'warm_up' | 'hold'>;
  /** When it ends, ISO 8601, UTC; null while nobody knows. */
  until: string | null;
}

export interface EmailRecipient {
  /** Address without a name. */
  email: string;
  type: Known<'to' | 'cc' | 'bcc'>;
  /**
   * `held`: delivery is not attempted until an operator releases it or a person approves it; `holdReason` and
   * `diagnostic` say why.
   */
  status: Known<'queued' | 'sent' | 'deferred' | 'held' | 'delivered' | 'bounced' | 'complained' | 'suppressed' | 'canceled'>;
  /** Number of delivery attempts. */
  attempts: number;
  /** Time of the latest event of the recipient. ISO 8601, UTC. */
  lastEventAt: string;
  /** Reply code of the receiving server, such as 250. */
  smtpCode: number | null;
  /** Enhanced status code of the reply (RFC 3463), such as 5.1.1. */
  enhancedCode: string | null;
  /** Text of the reply, or a description of the failure when there was no reply. */
  diagnostic: string | null;
  /**
   * Why the recipient is held, such as `approval`; null when it is not, or when an early version has held it,
   * which kept no reasons.
   */
  holdReason: Known<'interrupted' | 'damaged' | 'operator' | 'approval'> | null;
  /**
   * What the last refusal means, such as `bad-mailbox`; null after a delivery and before the first attempt.
   */
  class: string | null;
  /** What you can do about the last refusal, in a sentence. */
  advice: string | null;
  /** Time of the next attempt; null when none is due: the recipient is final, held, or being sent to. */
  nextAttemptAt: string | null;
  /**
   * What keeps a recipient whose time has come: `rest` (the receiving servers, or this mail there, get a
   * pause after refusals), `rate` (their limit in a minute is reached), `warm_up` (the limit of the day of a
   * sending address), or `hold`. Null when nothing does.
   */
  waiting: EmailRecipientWaiting | null;
  /** Name of the receiving server. */
  mx: string | null;
  /** Version of TLS, such as TLSv1.3; null for a connection in plain text. */
  tls: string | null;
}

export interface EmailRecipientCounts {
  queued: number;
  sent: number;
  deferred: number;
  held: number;
  delivered: number;
  bounced: number;
  complained: number;
  suppressed: number;
  canceled: number;
}

export interface EmailEvent {
  id: string;
  type: string;
  createdAt: string;
  /** Recipient that the event is about. */
  to: string;
}

export interface Email {
  /** Id of the email; starts with `em_`. */
  id: string;
  /** Sender, as the request named it. */
  from: string;
  /** Recipients, as the request named them. */
  to: string[];
  /** Subject as it is sent, with its variables filled in. */
  subject: string;
  /** Status that follows from the states of all recipients. */
  status: Known<'queued' | 'sent' | 'delivered' | 'bounced' | 'complained' | 'canceled'>;
  /** Time at which the email was accepted. ISO 8601, UTC. */
  createdAt: string;
  type: Known<'transactional' | 'broadcast'>;
  /** Of the latest delivery event. ISO 8601, UTC. */
  lastEventAt: string;
  /** Mode of the API key that sent the email. Test mail is not delivered. */
  mode: Known<'live' | 'test'>;
  cc: string[];
  bcc: string[];
  replyTo: string[];
  /** As sent, variables filled in; null once the content was deleted, or when it is damaged. */
  html: string | null;
  /**
   * As sent; made from the HTML when none was given. Null once the content was deleted, or when it is
   * damaged.
   */
  text: string | null;
  /** AMP for email as sent; null when there is none, or once the content was deleted. */
  amp: string | null;
  /** Invitation as sent; null when there is none, or once the content was deleted. */
  calendar: EmailCalendar | null;
  /** When `html`, `text` and the attachments were deleted; null while they are kept. */
  contentDeletedAt: string | null;
  /** Your own header fields. */
  headers: Record<string, string>;
  attachments: EmailAttachment[];
  /** Your own labels. */
  tags: Record<string, string>;
  /** Time for which delivery was scheduled; null when the email was sent at once. */
  scheduledAt: string | null;
  /** Template that the email was made from. */
  templateId: string | null;
  /** Topic that the email belongs to. */
  topicId: string | null;
  /** Broadcast that the email is part of. */
  broadcastId: string | null;
  /** API key that sent it; null for people, broadcasts and early versions. */
  apiKeyId: string | null;
  /** Placeholders that had neither a value nor a fallback and were rendered as empty text. */
  missingVariables: string[];
  /** Value of the Message-ID header field. */
  messageId: string;
  /**
   * The approval that this waits for, or has waited for; null when it was sent or changed by no key that
   * requires approval.
   */
  approval: EmailApproval | null;
  /** Recipients of the email, each address once. */
  recipients: EmailRecipient[];
  /** Number of recipients in each state. */
  recipientCounts: EmailRecipientCounts;
  /** Events of the email, oldest first. */
  events: EmailEvent[];
}

export interface ApiKey {
  id: string;
  name: string;
  /** Live keys send mail; test keys only simulate it. */
  mode: Known<'live' | 'test'>;
  /** Requests that the key permits: all; only sending, retrieving and canceling emails; only reading. */
  permission: Known<'full_access' | 'sending_access' | 'read_only'>;
  /** The 8 characters after the prefix, by which the key can be recognised. */
  hint: string;
  /**
   * The only domain that the key reaches: it sends from there, and sees and changes what belongs to it; null:
   * any.
   */
  domainId: string | null;
  /** Addresses and CIDR blocks from which the key may be used; null allows any. */
  allowedIps: string[] | null;
  createdAt: string;
  /** To the minute; null: not yet. */
  lastUsedAt: string | null;
  /** ISO 8601 with an offset; null: never. */
  expiresAt: string | null;
  /**
   * Mail of the key that waits until a person approves it. `broadcasts`: broadcasts, and emails of the type
   * broadcast. `broadcasts_and_emails`: all of its mail, also by SMTP. Such a key manages no keys and
   * mailboxes, and approves nothing. Null: none.
   */
  requiresApproval: Known<'broadcasts' | 'broadcasts_and_emails'> | null;
  /**
   * The only mailbox that the key reaches: its owner, or the operator, made it for the messages. Such a key
   * cannot be changed here. Null: none.
   */
  mailboxId: string | null;
}

export interface DomainRecordAlternative {
  type: Known<'TXT' | 'CNAME'>;
  /** DNS name of the record. */
  name: string;
  /** Value to publish. */
  value: string;
}

export interface DomainRecord extends DomainRecordAlternative {
  record: Known<'SPF' | 'DKIM' | 'DMARC' | 'TRACKING'>;
  ttl: string;
  /** True when the domain cannot be verified without the record. */
  required: boolean;
  status: Known<'pending' | 'verified' | 'failed' | 'temporary_failure'>;
  lastCheckedAt: string | null;
  /** Values that DNS returned at the last check. */
  found: string[];
  /** Description of what is wrong with the record, for people. */
  error: string | null;
  /** Record that can be published instead. */
  alternative?: DomainRecordAlternative;
  /** Remark for people. */
  note?: string;
}

export interface DomainOptionalRecord extends Omit<DomainRecord, 'record' | 'type' | 'note'> {
  record: Known<'RETURN_PATH' | 'MX' | 'DKIM_NEXT' | 'DKIM_ED25519' | 'DKIM_ED25519_NEXT' | 'MTA_STS' | 'MTA_STS_ID' | 'TLS_RPT' | 'SRV' | 'AUTOCONFIG' | 'AUTODISCOVER'>;
  /** Purpose of the record. */
  purpose: Known<'return_path' | 'inbound' | 'dkim_next' | 'dkim_ed25519' | 'mta_sts' | 'tls_reports' | 'clients'>;
  type: Known<'TXT' | 'CNAME' | 'MX' | 'SRV'>;
  /** Preference of an MX record, and priority of an SRV record, lowest first. */
  priority?: number;
  /** Weight of an SRV record. */
  weight?: number;
  /** Port of an SRV record, whose target is `value`. */
  port?: number;
  /** Description of the purpose, for people. */
  note: string;
}

export interface DomainDkimKey {
  selector: string;
  algorithm: Known<'rsa' | 'ed25519'>;
  /**
   * `waiting`: signs once its record is found in DNS. `signing`: signs new mail. `retired`: stays published
   * for mail that it has signed.
   */
  state: Known<'waiting' | 'signing' | 'retired'>;
  /** Time since which a key waits or is retired; null for one that signs. */
  since: string | null;
}

export interface Domain {
  id: string;
  name: string;
  status: Known<'pending' | 'verified' | 'failed' | 'temporary_failure'>;
  /** Purpose of the domain. */
  productType: Known<'api' | 'mailbox' | 'both'>;
  region: string;
  records: DomainRecord[];
  /** Optional records. They do not change the status of the domain. */
  optionalRecords: DomainOptionalRecord[];
  /** True when mail is signed with Ed25519 too, once that key is found in DNS. */
  ed25519: boolean;
  /** DKIM keys of the domain, the RSA key that signs first. */
  dkimKeys: DomainDkimKey[];
  trackingSubdomain: string | null;
  openTracking: boolean;
  clickTracking: boolean;
  /** ISO 8601. */
  createdAt: string;
  /** ISO 8601. */
  updatedAt: string;
  /** Time at which all records were last found correct; null when they never were. */
  verifiedAt: string | null;
}

export interface Import {
  id: string;
  /** Kind of the rows. `recipients` and `links` are those of a broadcast, and are only exported. */
  kind: Known<'contacts' | 'suppressions' | 'recipients' | 'links'>;
  /** Audience that the contacts are added to; null for suppressions. */
  audienceId: string | null;
  /** `waiting`: an import that begins when it is started, and is given up after a day. */
  status: Known<'waiting' | 'queued' | 'running' | 'completed' | 'failed'>;
  /** Reason why the import failed. Rows that were imported before the failure stay. */
  error: string | null;
  /** Size of the file in bytes. */
  sizeBytes: number;
  /** Number of bytes that were read so far. */
  processedBytes: number;
  /**
   * Number of rows that were read so far, without the heading and blank lines. It is the sum of the next
   * four.
   */
  rows: number;
  created: number;
  updated: number;
  /** Number of rows that changed nothing. */
  skipped: number;
  /** Number of rows that were refused; `/errors` says why. */
  failed: number;
  createdAt: string;
  /** Time at which the job began to run; null while it is queued. */
  startedAt: string | null;
  /**
   * Time at which the job ended; null before that. The job is then kept for 7 days, unless it is deleted
   * earlier.
   */
  finishedAt: string | null;
}

export interface Export extends Pick<Import, 'id' | 'kind' | 'status' | 'createdAt' | 'startedAt' | 'finishedAt'> {
  /** Audience whose contacts are exported; null for other kinds. */
  audienceId: string | null;
  /** Reason why the export failed. */
  error: string | null;
  /** Size of the file in bytes; null until it exists. */
  sizeBytes: number | null;
  /** Number of rows in the file without the heading line; 0 until it exists. */
  rows: number;
}

export interface ProblemErrorIssue {
  path: string;
  message: string;
}

export interface ProblemErrorDetails {
  /** `already_exists`: the id of the existing record if it is yours. */
  id?: string;
  /** `domain_in_use`: emails that are scheduled from the domain. */
  scheduledEmails?: number;
  /**
   * `domain_in_use`, or `invalid_state` of an audience: broadcasts from the domain or to the audience that
   * are scheduled, being sent or paused.
   */
  scheduledBroadcasts?: number;
  /** `quota_exceeded`: maximum number of emails per month. */
  limit?: number;
  /** `quota_exceeded`: number of emails counted this month. */
  used?: number;
  /** `quota_exceeded`: time at which the next month begins. */
  resetsAt?: string;
}

export interface ProblemError {
  /** Error code for programs. Codes do not change. */
  type: Known<'validation_error' | 'missing_api_key' | 'invalid_api_key' | 'restricted_api_key' | 'not_found' | 'method_not_allowed' | 'idempotency_conflict' | 'idempotency_in_progress' | 'already_exists' | 'invalid_state' | 'domain_in_use' | 'request_timeout' | 'payload_too_large' | 'unsupported_media_type' | 'domain_not_verified' | 'suppressed_recipient' | 'rate_limited' | 'quota_exceeded' | 'internal_error' | 'unavailable' | 'interrupted'>;
  /** Description of the error for people. */
  message: string;
  /** Field that the error is about, such as `to[1]`. */
  param?: string;
  /** Wrong fields and what is wrong with each, at most 20. The first is `param`. */
  issues?: ProblemErrorIssue[];
  /** Details for programs; each code has its own fields. */
  details?: ProblemErrorDetails;
  /** Id of the request, as in the header X-Request-Id. */
  requestId: string;
}

/** Body of every response that reports an error. */
export interface Problem {
  error: ProblemError;
}

export interface ContactTopic {
  id: string;
  subscription: Known<'opt_in' | 'opt_out'>;
}

export interface ContactConsent {
  requestedAt: string;
  source: Known<'api' | 'import'>;
  requestedIp: string | null;
  confirmedAt: string | null;
  confirmedIp: string | null;
  confirmedUserAgent: string | null;
  confirmedEmail: string | null;
}

export interface ContactConfirmation {
  /** Time at which the latest confirmation mail was requested. */
  sentAt: string | null;
  /** Number of confirmation mails to the address, of all audiences. */
  count: number;
  /**
   * From this time on, creating the contact again with `?upsert=true` sends another mail; null when there
   * will be none, because the address got 3 of them, is suppressed or has left.
   */
  nextAt: string | null;
}

export interface Contact {
  id: string;
  audienceId: string;
  email: string;
  firstName: string | null;
  lastName: string | null;
  unsubscribed: boolean;
  unsubscribedAt: string | null;
  properties: Record<string, string | number | boolean>;
  /** The topics for which a choice was made. For other topics, the default of the topic applies. */
  topics: ContactTopic[];
  /** `pending` until the reader has confirmed the subscription; no marketing mail is sent before. */
  status: Known<'subscribed' | 'unsubscribed' | 'pending'>;
  consent: ContactConsent | null;
  confirmation: ContactConfirmation | null;
  createdAt: string;
  updatedAt: string;
}

export interface SegmentFilterRule {
  /**
   * `email`, `firstName`, `lastName`, `unsubscribed`, `createdAt`, `delivered`, `opened`, `clicked`,
   * `topics.<id>` or `properties.<key>`.
   */
  field?: string;
  cmp?: Known<'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte' | 'contains' | 'not_contains' | 'starts_with' | 'ends_with' | 'in' | 'not_in' | 'exists' | 'not_exists' | 'before' | 'after' | 'within_days' | 'not_within_days'>;
  /**
   * Value to compare with: a string, number or boolean; for `in` and `not_in` a list of up to 100 of them;
   * for `before` and `after` a date such as 2026-01-31, whose day in UTC is neither before nor after it, or
   * an ISO 8601 time with an offset; for `within_days` and `not_within_days` a number of days up to 3650; for
   * `delivered`, `opened` and `clicked` otherwise the id of a broadcast; for `exists` and `not_exists`
   * nothing.
   */
  value?: unknown;
  /** `and`: all rules must hold; `or`: at least one must hold. Letters may have any case, as in `AND`. */
  op?: string;
  /** Rules of a group. A group has `op` and `rules` instead of the fields of a rule. */
  rules?: SegmentFilterRule[];
}

export interface SegmentFilter {
  /** `and`: all rules must hold; `or`: at least one must hold. Letters may have any case, as in `AND`. */
  op: string;
  rules: SegmentFilterRule[];
}

export interface Segment {
  id: string;
  name: string;
  /** The audience that the segment belongs to. */
  audienceId: string;
  /**
   * A tree of at most 50 rules, 5 levels deep. Strings compare without case. Two values that are both
   * numbers, or strings that are plain decimal numbers such as `12` or `-1.5`, compare as numbers. Nothing
   * else is converted: `true` is not `"true"`. A property that is missing matches `ne`, `not_contains`,
   * `not_in` and `not_exists`, and nothing else.
   */
  filter: SegmentFilter;
  /** Number of contacts now, unsubscribed ones included. Counted when the segment is retrieved. */
  contactCount?: number;
  createdAt: string;
  updatedAt: string;
}

export interface MetricsTotalsRates {
  /** `delivered` / `accepted`. Null when there were none. */
  delivered: number | null;
  /** `bounced` / `accepted`. Null when there were none. */
  bounced: number | null;
  /** `complained` / `delivered`. Null when there were none. */
  complained: number | null;
  /** `uniqueOpened` / `delivered`. Null when there were none. */
  opened: number | null;
  /** `uniqueClicked` / `delivered`. Null when there were none. */
  clicked: number | null;
  /** `unsubscribed` / `delivered`. Null when there were none. */
  unsubscribed: number | null;
}

export interface MetricsTotals {
  /** Recipients of accepted mail, without those that were suppressed at once. */
  accepted: number;
  /** Recipients whose server has accepted the mail. */
  delivered: number;
  /** Recipients that the mail could not be delivered to: the sum of the three below. */
  bounced: number;
  /** Bounces that suppress the address. */
  bouncedPermanent: number;
  /** Bounces after the retries have ended, and those of a full mailbox. */
  bouncedTransient: number;
  /** Other bounces. */
  bouncedUndetermined: number;
  /** Recipients who reported the mail as spam. */
  complained: number;
  /** Recipients whose delivery was deferred at least once. */
  delayed: number;
  /** Recipients that were not attempted, because they are suppressed or have opted out. */
  suppressed: number;
  /** Recipients of mail that was canceled. */
  canceled: number;
  /** Opens by people. */
  opened: number;
  /** Emails that a person opened for the first time. */
  uniqueOpened: number;
  /** Opens by machines, such as content filters. */
  machineOpened: number;
  /** Clicks by people. */
  clicked: number;
  /** Emails with a first click by a person. */
  uniqueClicked: number;
  /** Clicks by machines. */
  machineClicked: number;
  /** Contacts that were unsubscribed. They belong to no domain and no broadcast. */
  unsubscribed: number;
  /**
   * Each event counts when it happens, so a rate of a short time can exceed 1: mail that is accepted in one
   * hour is delivered in the next.
   */
  rates: MetricsTotalsRates;
}

export interface MetricsGroup extends MetricsTotals {
  /**
   * The domain, type, broadcast or provider of `groupBy`; empty for mail without one, and null without
   * `groupBy`.
   */
  group: string | null;
}

export interface MetricsData extends MetricsGroup {
  /** Beginning of the hour or day. */
  start: string;
}

export interface Metrics {
  /** Beginning of the first hour or day. */
  from: string;
  /** End of the last hour or day. */
  to: string;
  interval: Known<'hour' | 'day'>;
  /** Sums of all rows. */
  totals: MetricsTotals;
  /** Sums of each group; empty without `groupBy`. */
  groups: MetricsGroup[];
  /** One row for each hour or day, and group, that has any events, oldest first. */
  data: MetricsData[];
}

export interface MailboxVacation {
  /** Time from which on senders get the reply, as ISO 8601; at once when it is missing or null. */
  from?: string | null;
  /** Time from which on nobody gets it any more; no end when it is missing or null. */
  until?: string | null;
  /** Subject of the reply; that of the message, with "Auto: " in front, when it is missing or null. */
  subject?: string | null;
  /** Text of the reply. */
  text: string;
}

export interface MailboxRuleCondition {
  /**
   * `to` is To and Cc; `header` is the field named in `header`; `larger` and `smaller` compare the size with
   * a number of bytes.
   */
  field: Known<'from' | 'to' | 'subject' | 'header' | 'body' | 'larger' | 'smaller'>;
  header?: string;
  /** How the field is compared with the value: `contains` by default. Letters are compared without case. */
  operator?: Known<'contains' | 'is' | 'startsWith' | 'endsWith'>;
  value: string;
  /** True when the condition holds where it otherwise would not. */
  not?: boolean;
}

export interface MailboxRule {
  name?: string;
  /** Whether all conditions must hold, which is the default, or any of them. */
  match?: Known<'all' | 'any'>;
  /** Without any, the rule is for all mail. */
  conditions: MailboxRuleCondition[];
  /** Folder for the message, which is created when it is missing. */
  fileInto?: string;
  markRead?: boolean;
  star?: boolean;
  /** Address that gets a copy. */
  forwardTo?: string;
  /** Deletes the message. */
  discard?: boolean;
  /** True, which is the default, when no later rule looks at the message. */
  stop?: boolean;
}

export interface Mailbox {
  id: string;
  /** Address in lower case, with its domain in A-labels. */
  address: string;
  /**
   * A `shared` mailbox has no password: its members sign in to it with app passwords of their own, and may
   * send from its addresses.
   */
  kind: Known<'personal' | 'shared'>;
  members: string[];
  /** Name of the person or the role that the mailbox is for. */
  displayName: string | null;
  /** False when only app passwords open the mailbox. */
  passwordLogin: boolean;
  /**
   * False when the owner of the mailbox may not set a forgotten password anew by a link to an address
   * elsewhere.
   */
  passwordRecovery: boolean;
  /** IANA name of the zone in which My mailbox shows times to the owner; null for UTC. */
  timeZone: string | null;
  /** Its further addresses, in alphabetical order. */
  aliases: string[];
  /**
   * Mail programs may log in with the password of the mailbox by SCRAM-SHA-256. The verifier that this needs
   * is easier to attack than the hash, should the database be stolen. By default it is true for a password
   * that the server makes, and false for another.
   */
  scramLogin: boolean;
  /**
   * Automatic reply, which a sender gets once in 7 days. Mailing lists, programs and spam get none, and
   * neither does mail that does not name the address of the mailbox in To or Cc.
   */
  vacation: MailboxVacation | null;
  /** Addresses that all mail of the mailbox is forwarded to. */
  forwardTo: string[];
  /** False when mail that is forwarded is not stored. The rules are then not applied. */
  keepCopy: boolean;
  /**
   * Rules for new mail, in their order. They come before the script that the owner has made active by
   * ManageSieve, which gets the mail that they leave in the inbox.
   */
  rules: MailboxRule[];
  quotaBytes: number;
  /**
   * `suspended`: it takes no mail, so that senders try again later, and nobody may log in. `damaged`: the
   * stored mail was found damaged; new mail waits until the operator has repaired it.
   */
  status: Known<'active' | 'suspended' | 'damaged'>;
  /** Size of the stored messages, some seconds ago. */
  usedBytes: number;
  /** Number of the stored messages, some seconds ago. */
  messageCount: number;
  /** Time of the last login, to the minute; null before the first. */
  lastLoginAt: string | null;
  disabledCapabilities: string[];
  createdAt: string;
  updatedAt: string;
}

export interface TemplateVariable {
  name: string;
  fallback?: string;
}

export interface Template {
  id: string;
  name: string;
  subject: string;
  createdAt: string;
  updatedAt: string;
  html: string;
  text: string | null;
  /** Variables that the subject, the HTML or the text contains. */
  variables: TemplateVariable[];
}

export interface BrandingLogo {
  /** Address of the logo as PNG. Another logo has another address. */
  url: string;
  width: number;
  height: number;
}

export interface BrandingContrast {
  /** Contrast of `textColor` on `color`. */
  light: number;
  /** Contrast of the text on pages that are dark. */
  dark: number;
}

export interface Branding {
  name: string | null;
  color: string | null;
  textColor: string | null;
  darkColor: string | null;
  darkTextColor: string | null;
  /** Null without a logo. */
  logo: BrandingLogo | null;
  /** Contrast of the colours to their text, from 1 to 21 (WCAG 2.2). Null without colours. */
  contrast: BrandingContrast | null;
  /** Null when nothing has been set. */
  updatedAt: string | null;
}

export interface AudienceOptIn {
  /** Sender of the confirmation mail, at a verified domain. */
  from: string;
  replyTo?: string | null;
  subject?: string | null;
  /**
   * Template of the mail, with {{{confirm_url}}} for the link. Without one, a plain mail in the `language` is
   * sent.
   */
  templateId?: string | null;
  /** Default en. */
  language?: Known<'en' | 'de' | 'fr' | 'es'>;
}

export interface Audience {
  id: string;
  name: string;
  /** Number of contacts, unsubscribed ones included. */
  contactCount: number;
  /** Double opt-in: the confirmation mail of pending contacts. Null when contacts cannot be pending. */
  optIn: AudienceOptIn | null;
  createdAt: string;
  /** Time of the last change of the audience itself. A change of its contacts does not count. */
  updatedAt: string;
}

export interface Approval extends EmailApproval {
  id: string;
  kind: Known<'email' | 'broadcast'>;
  /** The email that asks for approval. */
  emailId: string | null;
  /** The broadcast that asks for approval. */
  broadcastId: string | null;
  /** The API key whose mail waits. */
  keyId: string;
  /** Sender of the mail. */
  from: string;
  /** Subject of the mail. */
  subject: string;
  /** Time at which the mail is to be sent; null means as soon as it is approved. */
  sendAt: string | null;
  /** Id of the key or of the person that has approved or declined. */
  decidedBy: string | null;
  /** Time at which approval was asked for first. */
  createdAt: string;
}

export interface SentEmail {
  /** Id of the email; starts with `em_`. */
  id: string;
  status: 'queued';
  /** Present when the email waits for approval. */
  approval?: EmailApproval;
}

export interface BatchItemError {
  /** Error code, the same as in the response of POST /v1/emails. */
  type: string;
  /** Description of the error for people. */
  message: string;
}

export interface BatchItem {
  /** Id of the email; starts with `em_`. Null when the email was refused. */
  id: string | null;
  status: Known<'queued' | 'failed'>;
  /** Present when the email waits for approval. */
  approval?: EmailApproval;
  /** Reason why the email was refused. */
  error?: BatchItemError;
}

export interface SentBatch {
  /** One item for each email, in the same order. */
  data: BatchItem[];
}

export interface BroadcastPace {
  /** Maximum number of copies in an hour. */
  perHour?: number;
  /** Maximum number of copies in a day. */
  perDay?: number;
  /** Time by which all copies are made, spread evenly, in ISO 8601 with an offset. */
  finishBy?: string;
}

export interface BroadcastCounts {
  /** Contacts that the broadcast is for: the sum of the next eight counts, at every moment. */
  recipients: number;
  /** Contacts whose copy is not made yet. */
  waiting: number;
  /** Copies that are being delivered. */
  queued: number;
  /** Copies that the receiving server accepted. */
  delivered: number;
  /** Copies that cannot be delivered. */
  bounced: number;
  /** Contacts whose address is on the suppression list. */
  suppressed: number;
  /** Contacts who have unsubscribed, have opted out of the topic or have not opted in. */
  optedOut: number;
  /** Contacts whose copy was canceled, or who were deleted meanwhile. */
  canceled: number;
  /** Contacts whose copy could not be made. */
  failed: number;
  /** Copies that were attempted at least once. */
  sent: number;
  /** Copies that were reported as spam. They count as delivered too. */
  complained: number;
  /** How often copies were opened by people. */
  opened: number;
  /** Copies that people have opened. */
  uniqueOpened: number;
  /** How often people followed links. */
  clicked: number;
  /** Copies in which people have followed a link. */
  uniqueClicked: number;
  /** Contacts who have unsubscribed by a link of this broadcast. */
  unsubscribed: number;
}

export interface Broadcast extends Pick<Email, 'approval'> {
  id: string;
  status: Known<'draft' | 'scheduled' | 'sending' | 'paused' | 'sent' | 'canceled' | 'failed'>;
  /** Id of the audience; for a segment, the audience that it belongs to. */
  audienceId: string;
  segmentId: string | null;
  from: string;
  subject: string;
  replyTo: string | null;
  topicId: string | null;
  templateId: string | null;
  /** Time at which the broadcast is sent, or was to be sent. */
  scheduleAt: string | null;
  /** How fast the broadcast is sent; null means without a limit. */
  pace: BroadcastPace | null;
  /**
   * Why the broadcast is paused; null unless `status` is paused. `bounces` and `complaints`: too many copies
   * bounced or were reported as spam. `quota`: the emails of the month are used up. `late`: it was found more
   * than an hour after its time. `domain`: the domain of the sender is no longer verified.
   */
  pausedReason: Known<'manual' | 'bounces' | 'complaints' | 'quota' | 'late' | 'domain'> | null;
  /** Why the broadcast could not start; null unless `status` is failed. */
  failure: string | null;
  /** Time at which sending began. */
  startedAt: string | null;
  /** Time at which every copy was tried; null unless `status` is sent. */
  sentAt: string | null;
  /** What has become of the contacts and of their copies. All are zero before the start. */
  counts: BroadcastCounts;
  createdAt: string;
  updatedAt: string;
  html: string | null;
  text: string | null;
}

export interface EmailCheckHeader {
  name: string;
  value: string;
}

export interface EmailCheckLink {
  /** Address of the link, as it is written. */
  url: string;
  /** Text of the link, or of its image. */
  text: string;
  /** Line of the HTML, from 1. */
  line: number;
}

export interface EmailCheck {
  /** Size of the whole message as it is sent. */
  sizeBytes: number;
  /** Size of the HTML before tracked links are put into it. */
  htmlBytes: number;
  /** Size of the text. */
  textBytes: number;
  /** All header fields in their order, as they are sent, with their encoded words decoded. */
  headers: EmailCheckHeader[];
  /** What was found, errors first. */
  findings: CheckFinding[];
  /** The first 100 links of the HTML. */
  links: EmailCheckLink[];
  /** Number of further links. */
  linksOmitted: number;
}

export interface Suppression {
  id: string;
  /** Address in lower case. */
  email: string;
  /** Reason why no mail is sent to the address. */
  reason: Known<'manual' | 'bounce' | 'complaint' | 'unsubscribe'>;
  /** Email whose bounce or complaint suppressed the address; null when it was added otherwise. */
  sourceEmailId: string | null;
  /** Response of the receiving server. */
  diagnostic: string | null;
  createdAt: string;
}

export interface ClickedLink {
  /** Position among the tracked links of the HTML, from 0. */
  number: number;
  /** The link as it was written, with its placeholders. */
  url: string;
  /** Clicks by people. */
  clicks: number;
  /** Contacts who clicked. */
  uniqueClicks: number;
  /** Requests by security scanners and other programs. */
  machineClicks: number;
}

export interface AppPassword {
  id: string;
  mailboxId: string;
  /** The mailbox of the member that has the password; null for a personal mailbox. */
  memberId: string | null;
  /** Name of the mail program or the device that uses the password. */
  name: string;
  protocols: (Known<'imap' | 'pop3' | 'smtp' | 'sieve'>)[];
  /** The first 8 characters, by which the password can be recognised. */
  hint: string;
  /** Addresses and CIDR blocks from which the password may be used; null allows any. */
  allowedIps: string[] | null;
  createdAt: string;
  /** Time of the last login, to the minute; null before the first. */
  lastUsedAt: string | null;
  /** ISO 8601 with an offset; null: never. Sessions that are open at this time end. */
  expiresAt: string | null;
}

export interface ContactCount {
  /** Number of contacts now, unsubscribed ones included. */
  contactCount: number;
}

export interface EmailSummary extends Pick<Email, 'id' | 'from' | 'to' | 'subject' | 'status' | 'createdAt'> {
}

export interface CheckFindingPlace {
  /** Line of the HTML, from 1. Null for the subject, other header fields and the text. */
  line: number | null;
  /** What stands there. */
  text: string;
}

export interface CheckFinding {
  /** What was found, for programs. There will be more codes. */
  code: Known<'html_clipped' | 'html_too_complex' | 'message_large' | 'text_missing' | 'image_only' | 'language_missing' | 'image_without_alt' | 'image_empty' | 'image_relative' | 'image_insecure' | 'unsupported_element' | 'unsupported_css' | 'unsupported_image' | 'link_empty' | 'link_relative' | 'link_malformed' | 'link_scheme' | 'link_unreachable' | 'link_http' | 'link_address_literal' | 'link_credentials' | 'link_shortened' | 'link_misleading' | 'link_long' | 'link_without_text' | 'unsubscribe_missing' | 'list_unsubscribe_missing' | 'list_unsubscribe_post_missing' | 'placeholder_left' | 'variable_empty' | 'subject_missing' | 'subject_long' | 'subject_capitals' | 'subject_punctuation' | 'subject_false_reply' | 'from_no_reply' | 'from_name_address' | 'message_id_missing' | 'dkim_missing' | 'priority_high'>;
  /**
   * `error`: readers or receivers get something broken. `warning`: some of them do, or filters may take the
   * email for spam. `notice`: it can be better.
   */
  severity: Known<'error' | 'warning' | 'notice'>;
  /** What was found, for people. */
  message: string;
  /** Page that explains it. */
  source: string | null;
  /** How often it was found. */
  count: number;
  /** The first five places. */
  places: CheckFindingPlace[];
}

export interface MailSettingsService {
  protocol: Known<'imap' | 'pop3' | 'smtp' | 'sieve'>;
  /** `tls`: the connection begins with TLS. `starttls`: STARTTLS encrypts it. */
  security: Known<'tls' | 'starttls'>;
  port: number;
}

export interface MailSettings {
  /** User name for all services, which is the address of the mailbox. */
  username: string;
  /** Host of all services. */
  host: string;
  /** Those that a mail program should prefer come first. */
  services: MailSettingsService[];
  /** Link to the profile by which Apple devices set up the account. */
  profileUrl: string;
}

export interface InboundRoute extends Pick<Mailbox, 'id' | 'address' | 'createdAt' | 'updatedAt'> {
  destination: string;
  enabled: boolean;
  /** `failures`: no post had succeeded for days; `gone`: the receiver answered 410. */
  disabledReason: Known<'manual' | 'failures' | 'gone'> | null;
  disabledAt: string | null;
  /** Time since which no post has succeeded; null while posts succeed. */
  failingSince: string | null;
  /** Time before which nothing is posted, because the last post failed; null while posts succeed. */
  suspendedUntil: string | null;
  /** Time since which the oldest event waits to be posted; null when none waits. */
  waitingSince: string | null;
}

export interface DomainReportLeftOut {
  /** Records about DMARC, or policies about TLS. */
  records: number;
  /** Messages, or connections, in those of them that say it. */
  messages: number;
}

export interface DomainReportDmarcRecord {
  /** Address that the messages came from. */
  sourceIp: string;
  messages: number;
  disposition: Known<'none' | 'quarantine' | 'reject'>;
  /** True when DKIM passed for an aligned domain. */
  dkim: boolean;
  /** True when SPF passed for an aligned domain. */
  spf: boolean;
  /** Domain of the author. */
  headerFrom: string;
}

export interface DomainReportDmarc {
  /** Domain whose policy was applied. */
  domain: string;
  policy: Known<'none' | 'quarantine' | 'reject'>;
  /** The records with the most messages, at most 50. */
  records: DomainReportDmarcRecord[];
  /** Number of messages in records that are not listed. */
  otherMessages: number;
}

export interface DomainReportTlsPolicyFailure {
  /** Such as `certificate-expired` (RFC 8460 section 4.3). */
  resultType: string;
  sessions: number;
  receivingHost: string | null;
}

export interface DomainReportTlsPolicy {
  domain: string;
  policyType: Known<'tlsa' | 'sts' | 'no-policy-found'>;
  succeeded: number;
  failed: number;
  failures: DomainReportTlsPolicyFailure[];
}

export interface DomainReportTls {
  policies: DomainReportTlsPolicy[];
}

export interface DomainReport {
  id: string;
  type: Known<'dmarc' | 'tls'>;
  /** Domain that sent the report, as DMARC or DKIM proves. */
  reporter: string;
  /** Name that the reporter gives itself. */
  organization: string;
  /** Id that the reporter gave the report. */
  reportId: string;
  /** ISO 8601. */
  periodStart: string;
  /** ISO 8601. */
  periodEnd: string;
  /** Messages that passed DMARC, or connections with TLS. */
  passed: number;
  /** Messages that failed DMARC, or connections whose TLS failed. */
  failed: number;
  /** The part of the whole report that could not be read, and is not counted above. */
  leftOut: DomainReportLeftOut;
  /** Details of a report about DMARC. */
  dmarc: DomainReportDmarc | null;
  /** Details of a report about TLS. */
  tls: DomainReportTls | null;
  /** Time at which the report arrived. */
  createdAt: string;
}

export interface CreatedApiKey extends ApiKey {
  /** The key itself. It is not shown again. */
  token: string;
}

export interface LoggedRequest {
  /** Id of the request, as in the header X-Request-Id; starts with `req_`. */
  id: string;
  /** Time at which the request arrived. ISO 8601, UTC. */
  createdAt: string;
  /** Method of the request. */
  method: string;
  /** Path of the operation, such as `/v1/emails/{id}`. Null when no operation has the path. */
  route: string | null;
  /** Path of the request without its query. */
  path: string;
  /** Status of the answer. */
  status: number;
  /** Code of the error. Null when there was none. */
  errorType: string | null;
  /** Id of the API key. */
  keyId: string;
  /** Time until the answer was sent, in milliseconds. */
  durationMs: number;
  /** Size of the body, as its header says. Null when it does not. */
  requestBytes: number | null;
  /** Size of the answer. Null when it was not known before it was sent. */
  responseBytes: number | null;
  /** IP address of the client. */
  clientAddress: string;
}

export interface EmailAttemptsAttempt {
  /** Time at which the attempt ended. ISO 8601, UTC. */
  at: string;
  /** Recipient of the attempt. */
  to: string;
  /** `recovered`: the daemon ended during the attempt, and the recipient was queued again. */
  outcome: Known<'delivered' | 'deferred' | 'bounced' | 'held' | 'recovered'>;
  /** Step at which the attempt ended, such as `dns`, `connect` or `rcpt`. */
  phase: string;
  /** Name of the server. */
  mx: string | null;
  /** IP address of the server. */
  address: string | null;
  /** Version of TLS; null for a connection in plain text, or none. */
  tls: string | null;
  /** Time that the attempt took, in milliseconds. */
  durationMs: number;
  /** Reply of the server, or a description of the failure when there was none. */
  reply: string | null;
}

export interface EmailAttemptsConversationLine {
  /** Milliseconds since the connection was begun. */
  ms: number;
  /** `sent` to the server, `received` from it, or a `note` about the connection. */
  direction: Known<'sent' | 'received' | 'note'>;
  text: string;
}

export interface EmailAttemptsConversation {
  /** The `at` of the attempts that the conversation explains. ISO 8601, UTC. */
  at: string;
  /** Server or group of servers that the email was sent to. */
  site: string;
  lines: EmailAttemptsConversationLine[];
}

export interface EmailAttempts {
  /** The newest 1,000 attempts, the oldest of them first. They are kept for as long as events. */
  attempts: EmailAttemptsAttempt[];
  /**
   * SMTP sessions of attempts that did not deliver: commands and replies without content, for seven days.
   */
  conversations: EmailAttemptsConversation[];
}

export interface BroadcastTestDataError {
  type: string;
  message: string;
}

export interface BroadcastTestData {
  /** Address, as the request named it. */
  to: string;
  /** Id of the email; null when it was refused. */
  id: string | null;
  status: Known<'queued' | 'failed'>;
  /** Why the email was refused. Absent when it was accepted. */
  error?: BroadcastTestDataError;
}

export interface BroadcastTest {
  /** One item for each address. */
  data: BroadcastTestData[];
}

export interface WebhookReplay {
  /** Number of deliveries that are posted again; 1000000 means that many or more. */
  count: number;
}

export interface EndedSessions {
  /** Number of the sessions that were ended; 0 when the session had ended already. */
  ended: number;
}

export interface MailboxImport {
  id: string;
  mailboxId: string;
  /** Name of the IMAP server. Its certificate must be valid for this name. */
  host: string;
  port: number;
  /**
   * `tls`: the connection begins with TLS. `starttls`: STARTTLS encrypts it before anything secret is sent.
   */
  security: Known<'tls' | 'starttls'>;
  /** Name with which the owner of the mail logs in. */
  user: string;
  status: Known<'queued' | 'running' | 'completed' | 'failed'>;
  /**
   * Why the import failed: the mailbox is full, or was suspended for a week; the server refuses the login;
   * nobody may connect to the server, or its certificate is not valid; it could not be reached for hours.
   * Messages that were imported stay.
   */
  reason: Known<'mailbox_full' | 'mailbox_suspended' | 'login_refused' | 'source_refused' | 'source_unavailable' | 'internal'> | null;
  /** Why the import failed, or, while it is running, why it waits for another attempt. */
  error: string | null;
  /** Number of folders that are imported. */
  folders: number;
  /** Number of folders that are done. */
  foldersDone: number;
  /** Number of messages in the folders that were opened so far. */
  messages: number;
  /** Number of messages that this import has added. */
  imported: number;
  /** Size of the messages that this import has added. */
  importedBytes: number;
  /** Number of messages that were imported before, also those that were deleted since. */
  known: number;
  /** Number of messages that could not be imported; `/errors` says why. */
  failed: number;
  createdAt: string;
  /** Time at which the import began to run; null while it is queued. */
  startedAt: string | null;
  /**
   * Time at which the import ended; null before that. It is then kept for 30 days, unless it is deleted
   * earlier.
   */
  finishedAt: string | null;
}

export interface MailboxFolder {
  /** It stays when the folder is renamed (MAILBOXID of IMAP). */
  id: string;
  /** Name, with `/` between the levels. */
  name: string;
  /** What the folder is for; null for a folder that its owner made. */
  role: Known<'inbox' | 'drafts' | 'sent' | 'junk' | 'trash' | 'archive'> | null;
  messageCount: number;
  unreadCount: number;
}

export interface MailboxThread {
  /** Id of its first message. The id of every other message of the thread leads to it too. */
  id: string;
  /** Subject of the first message. */
  subject: string;
  /** Authors of the first and the 20 newest messages as `Name <address>` or `address`. */
  participants: string[];
  messageCount: number;
  unreadCount: number;
  /** Time of arrival of the newest message. */
  lastAt: string;
  /** First words of the newest message. */
  preview: string;
  /** The messages, the oldest first; of more than 100, the newest ones. */
  messages: MailboxMessageSummary[];
}

export interface SimulatorReplyReply {
  /** Reply code: 2yz accepts the email, 4yz defers it, 5yz refuses it. */
  code: number;
  /** Enhanced status code. */
  enhancedCode: string | null;
  /** Text of the reply. */
  text: string;
  /**
   * `custom`: the reply is for `custom@simulator.HOSTNAME`, also with a label, as in `custom+ann`. `all`: for
   * every recipient of test mail.
   */
  recipients: Known<'custom' | 'all'>;
  /** Time at which the reply was set. ISO 8601, UTC. */
  updatedAt: string;
}

export interface SimulatorReply {
  /** The chosen reply. Null while the simulator answers as the addresses say. */
  reply: SimulatorReplyReply | null;
}

export interface CreatedMailbox extends Mailbox {
  /** The password that the server made; null when the request had one, and for a shared mailbox. */
  password: string | null;
}

export interface InboundMessageAttachment {
  /** Number of the attachment in the message, from 1. */
  id: string;
  filename: string;
  contentType: string;
  /** Size in bytes. */
  size: number;
  /** Content-ID without angle brackets, by which the HTML names it. */
  contentId: string | null;
  disposition: Known<'attachment' | 'inline'>;
}

export interface InboundMessageEnvelope {
  /** Sender of the envelope; empty for bounces. */
  from: string;
  to: string[];
  remoteIp: string;
  /** Name that the sending server gave. */
  helo: string | null;
}

export interface InboundMessageAuth {
  spf: string;
  dkim: string;
  dmarc: string;
  /** Domains with a valid signature. */
  dkimDomains: string[];
}

export interface InboundMessageSpamReason {
  name: string;
  points: number;
}

export interface InboundMessageSpam {
  /** How much the message looks like spam; null when it was not judged. */
  score: number | null;
  /** True when the message is probably spam. */
  flagged: boolean;
  /** What the score consists of. */
  reasons: InboundMessageSpamReason[];
}

export interface InboundMessage {
  id: string;
  /** The author as `Name <address>`. */
  from: string;
  to: string[];
  cc: string[];
  replyTo: string[];
  subject: string;
  /** Empty when the message has no text. */
  text: string;
  /** Empty when the message has no HTML. */
  html: string;
  /** The text without the message that it quotes. */
  replyText: string;
  attachments: InboundMessageAttachment[];
  /** Message-ID with its angle brackets. */
  messageId: string | null;
  /** Message-ID of the answered message. */
  inReplyTo: string | null;
  /** Date of the header. */
  date: string | null;
  /** All header fields in their order, those that were added here first. */
  rawHeaders: EmailCheckHeader[];
  envelope: InboundMessageEnvelope;
  /** Results of authentication (RFC 8601). */
  auth: InboundMessageAuth;
  spam: InboundMessageSpam;
  /** True when the message could not be parsed, or its text is cut. */
  truncated: boolean;
  /** True when a program sent the message by itself. */
  autoSubmitted: boolean;
  /** Your email that the message answers; null when it answers none. */
  emailId: string | null;
  /** Size of the message in bytes. */
  size: number;
  /** Time at which the content was deleted; only the summary is left then. */
  contentDeletedAt: string | null;
  /** The posts to routes, one for each route. */
  deliveries: InboundDelivery[];
  createdAt: string;
}

export interface MailboxFolders {
  /** All folders by name. */
  data: MailboxFolder[];
}

export interface MailboxMessageFolder extends Pick<MailboxFolder, 'name' | 'role'> {
  id: string;
}

export interface MailboxMessage extends Pick<InboundMessage, 'to' | 'cc' | 'replyTo' | 'subject' | 'replyText' | 'attachments' | 'messageId' | 'inReplyTo' | 'size'> {
  /** It stays when the message is moved (EMAILID of IMAP). */
  id: string;
  folder: MailboxMessageFolder;
  /** Authors as `Name <address>` or `address`. */
  from: string[];
  /** First words of the text. */
  preview: string;
  /** Date of the header; null without a valid one. */
  date: string | null;
  /** Time of arrival. */
  receivedAt: string;
  unread: boolean;
  flagged: boolean;
  answered: boolean;
  draft: boolean;
  /** Further flags that programs have set. */
  keywords: string[];
  /** Empty when the message has no text. Strangers wrote it: it is data. */
  text: string;
  /** Empty when the message has no HTML. It is not sanitised. */
  html: string;
  /**
   * True when the message could not be parsed, or a text is longer than 1 MiB and its rest is cut. `/raw` has
   * all of it.
   */
  truncated: boolean;
  /** All header fields in their order. */
  rawHeaders: EmailCheckHeader[];
}

export interface TemplateSummary {
  id: string;
  name: string;
  subject: string;
  createdAt: string;
  updatedAt: string;
}

export interface TemplateVersion {
  id: string;
  subject: string;
  /** Id of the API key that made the content; null when a person did, or when it is not known. */
  keyId: string | null;
  /** Id of the person that made the content in the dashboard; null otherwise. */
  personId: string | null;
  /** Time at which the template got the content. */
  createdAt: string;
  html: string;
  text: string | null;
}

export interface TemplatePreview extends Pick<Template, 'subject' | 'html' | 'variables'> {
  /** Generated from the HTML when the template has none. Null when the HTML has no words. */
  text: string | null;
  /** Variables that had neither a value nor a fallback, and are shown as nothing. */
  missingVariables: string[];
}

export interface BrandingPreview extends Pick<Branding, 'contrast'> {
  /** The page, with its styles and the logo in itself. */
  html: string;
}

export interface WebhookEndpoint extends Omit<InboundRoute, 'address' | 'destination' | 'enabled' | 'suspendedUntil'> {
  url: string;
  events: (Known<'email.queued' | 'email.sent' | 'email.delivered' | 'email.bounced' | 'email.complained' | 'email.opened' | 'email.clicked' | 'email.delivery_delayed' | 'email.suppressed' | 'email.canceled' | 'email.held' | 'email.received' | 'domain.verified' | 'domain.failed' | 'contact.created' | 'contact.updated' | 'contact.deleted' | 'contact.unsubscribed' | 'suppression.added' | 'suppression.removed' | 'broadcast.sent' | 'broadcast.paused' | 'broadcast.failed' | 'approval.requested' | 'approval.approved' | 'approval.declined' | 'approval.expired' | 'approval.withdrawn'>)[];
  status: Known<'enabled' | 'disabled'>;
  /**
   * Time before which nothing is posted, because the last post failed. The first pause is a quarter of a
   * second; it doubles with each failure, up to a minute. Null while posts succeed.
   */
  suspendedUntil: string | null;
  /** Time until which posts are also signed with the previous secret; null when they are not. */
  previousSecretExpiresAt: string | null;
  description: string | null;
  /**
   * Domain whose events alone are posted: those of its emails, its broadcasts, the mail that arrives there,
   * and its state. Null: the events of the whole tenant. An endpoint that is made with an API key of one
   * domain has that domain. It cannot be changed.
   */
  domainId: string | null;
  /**
   * Shape of the posts. `resend`: that of the webhooks of Resend, with the header fields `svix-id`,
   * `svix-timestamp` and `svix-signature`, for programs that were written for them. It cannot be changed.
   */
  format: Known<'default' | 'resend'>;
}

export interface WebhookDelivery {
  id: string;
  eventId: string;
  eventType: string;
  /** `skipped`: the delivery was not posted, or not posted again, because the endpoint is disabled. */
  status: Known<'pending' | 'delivered' | 'failed' | 'skipped'>;
  /** Number of posts so far, a running one included. A replay begins at 0. */
  attempts: number;
  /** HTTP status of the last answer; null: there was none. */
  responseStatus: number | null;
  /** How long that answer took. */
  responseTimeMs: number | null;
  /** Description of the error. */
  error: string | null;
  /** Beginning of the last response, at most 4 KB, read as UTF-8. */
  responseBody: string | null;
  /** Time of the next post; null when there is none, and while a post is running. */
  nextAttemptAt: string | null;
  createdAt: string;
}

export interface MailboxSessionsDataAppPassword {
  id: string;
  name: string;
}

export interface MailboxSessionsData {
  /** Identifies the session until it ends. */
  id: string;
  protocol: Known<'imap' | 'pop3' | 'smtp' | 'sieve'>;
  /** IP address of the mail program. */
  address: string;
  /**
   * Name and version that the mail program has given by the command ID of IMAP, which nobody verifies; null
   * when it has given none.
   */
  client: string | null;
  /** The app password of the login; null for the password of the mailbox. */
  appPassword: MailboxSessionsDataAppPassword | null;
  /** Time of the login. */
  startedAt: string;
}

export interface MailboxSessions {
  /** The sessions, the newest first, at most 200. */
  data: MailboxSessionsData[];
}

export interface RecoveryAddress {
  /** The address; null when none is set. */
  address: string | null;
  /** Time at which its reader has confirmed it; null before, when it gets no links for a new password. */
  confirmedAt: string | null;
  /** Time at which the owner of the mailbox has set it; null when none is set. */
  createdAt: string | null;
}

export interface InboundDelivery extends Omit<WebhookDelivery, 'id' | 'eventId' | 'eventType' | 'status'> {
  /** The `X-Service-Delivery` of its posts. */
  id: string;
  routeId: string;
  status: Known<'pending' | 'delivered' | 'failed'>;
}

export interface BroadcastPreview {
  /** The contact; null when the audience has none. */
  contactId: string | null;
  /** Address of the contact. */
  email: string | null;
  subject: string;
  html: string;
  /** The text part, which is generated from the HTML when there is none. */
  text: string;
}

export interface BroadcastSummary extends Omit<Broadcast, 'html' | 'text'> {
}

export interface DomainReportSumsData {
  /** Day in UTC on which the reports begin, such as `2026-03-01`. */
  day: string;
  type: Known<'dmarc' | 'tls'>;
  /** Number of reports. */
  reports: number;
  /** Messages that passed DMARC, or connections with TLS. */
  passed: number;
  /** Messages that failed DMARC, or connections whose TLS failed. */
  failed: number;
}

export interface DomainReportSums {
  /** The oldest day first. */
  data: DomainReportSumsData[];
}

export interface BroadcastProvider {
  /** Follows from the domain of the address alone, as in `GET /v1/metrics`. */
  provider: Known<'gmail' | 'yahoo' | 'microsoft' | 'apple' | 'other'>;
  /** Contacts with such an address: the sum of the next eight counts. */
  recipients: number;
  waiting: number;
  queued: number;
  delivered: number;
  bounced: number;
  suppressed: number;
  optedOut: number;
  canceled: number;
  failed: number;
  /** Copies that people have opened, or in which they have followed a link. */
  opened: number;
  /** Copies in which people have followed a link. */
  clicked: number;
}

export interface WebhookTestResult extends Pick<WebhookDelivery, 'responseStatus' | 'responseTimeMs' | 'error'> {
  /** True when the receiver answered 2xx. */
  delivered: boolean;
}

export interface BroadcastPreflightExcluded {
  /** Contacts whose address is on the suppression list. */
  suppressed: number;
  /** Contacts who have unsubscribed from all marketing mail. */
  unsubscribed: number;
  /** Contacts who have opted out of the topic. */
  optedOut: number;
  /** Contacts without a choice, when the topic is off by default. */
  notOptedIn: number;
}

export interface BroadcastPreflightSample {
  /** The newest contact that gets the broadcast. Null when nobody does: fallbacks fill in the merge tags. */
  contactId: string | null;
  /** Subject for this contact. */
  subject: string;
  /** Size of the whole message as it leaves, with its header, its signature and its encoding. */
  sizeBytes: number;
  /** Size of the HTML for this contact. */
  htmlBytes: number;
}

export interface BroadcastPreflightLink {
  /** Address as it is written, with its placeholders. */
  url: string;
  /** True when clicks on the link are counted. */
  isTracked: boolean;
}

export interface BroadcastPreflightWarning {
  /** Name of the warning, for programs. */
  code: Known<'html_too_large' | 'no_topic' | 'shared_sender' | 'no_dmarc_alignment' | 'links_unreachable' | 'unknown_tags' | 'unknown_properties'>;
  /** What may go wrong, and what helps. */
  message: string;
}

export interface BroadcastPreflight {
  /** Contacts of the audience or the segment. */
  contacts: number;
  /** Contacts that get the broadcast if it is sent now. */
  recipients: number;
  /** Who does not get the broadcast, each contact under the first reason that applies. */
  excluded: BroadcastPreflightExcluded;
  /** The broadcast as one contact would get it. */
  sample: BroadcastPreflightSample;
  /** The web links of the HTML in their order, without the link to unsubscribe. At most 1,000. */
  links: BroadcastPreflightLink[];
  /** What may go wrong. The broadcast can be sent nevertheless. */
  warnings: BroadcastPreflightWarning[];
}

export interface BroadcastRecipient {
  contactId: string;
  /** Address of the contact when the copy was made. */
  email: string;
  /**
   * `waiting`: the copy is not made yet; `queued`: it is on its way, or retried; `failed`: it could not be
   * made.
   */
  status: Known<'waiting' | 'queued' | 'delivered' | 'bounced' | 'suppressed' | 'optedOut' | 'canceled' | 'failed'>;
  /** The copy, for `GET /v1/emails/{id}`; null when there is none. */
  emailId: string | null;
  /** Why there is no copy, or why it was not delivered. */
  reason: string | null;
  /** Time of the last change of `status`. */
  changedAt: string;
  /** Time of the first open by a person, who loaded the images. */
  openedAt: string | null;
  /** Time of the first click by a person. */
  clickedAt: string | null;
}

export interface WebhookReplayCount {
  /** Number of deliveries; `maximum` means that many or more. */
  count: number;
}

export interface CreatedAppPassword extends AppPassword {
  /** The password. It is not shown again. Case, spaces and hyphens do not matter when it is entered. */
  password: string;
}

export interface ContactImportPreviewColumn {
  /** Number of the column, counted from 1. */
  column: number;
  heading: string;
  /** Field that the column would have; null for a column that is left out. */
  field: string | null;
}

export interface ContactImportPreviewError {
  /** Line of the file. */
  line: number;
  /** What stands in the column of the address. */
  email: string;
  error: string;
}

export interface ContactImportPreview {
  /** Encoding in which the file would be read. */
  encoding: string;
  /** False when the first line is a row, because it has an address. */
  hasHeadings: boolean;
  columns: ContactImportPreviewColumn[];
  /** Number of rows that were read: at most 1000. */
  checkedRows: number;
  /** True when these are all rows of the file. */
  isComplete: boolean;
  /** Number of these rows that would be refused. */
  failed: number;
  /** The first 10 rows that would be imported. */
  rows: (Record<string, unknown>)[];
  /** The first 10 rows that would be refused. */
  errors: ContactImportPreviewError[];
  warnings: string[];
}

export interface MailboxThreadSummary extends Omit<MailboxThread, 'messages'> {
}

export interface InboundMessageSummary extends Pick<InboundMessage, 'id' | 'subject' | 'emailId' | 'size' | 'createdAt'> {
  /** Address of the author, or else the sender of the envelope. */
  from: string;
  /** Recipients of the envelope that have a route. */
  to: string[];
  /** True when the message is probably spam. */
  flagged: boolean;
}

export interface MailboxMessageSummary extends Omit<MailboxMessage, 'replyTo' | 'inReplyTo' | 'text' | 'html' | 'replyText' | 'truncated' | 'attachments' | 'rawHeaders'> {
}

export interface TemplateVersionSummary extends Omit<TemplateVersion, 'html' | 'text'> {
}

export interface InboundRouteWithSecret extends InboundRoute {
  /** Secret that signs every post. It is not shown again. */
  secret: string;
}

export interface WebhookDeliveryWithBody extends WebhookDelivery {
  /** Exact body of the post, which the signature covers. */
  requestBody: string;
}

export type SuppressionImportPreview = ContactImportPreview;

export interface WebhookEndpointWithSecret extends WebhookEndpoint {
  /** Secret that signs every post. It is not shown again. */
  secret: string;
}

export interface EmailSentEventData {
  /** The id of the email, as `POST /v1/emails` returned it. */
  emailId: string;
  /** The recipient that the event is about: one address without a name. */
  to: string;
  /** The sender: one address without a name. */
  from: string;
  subject: string;
  /** The `Message-ID` field of the message, in angle brackets. */
  messageId: string;
  /** The tags of the email. */
  tags: Record<string, string>;
  broadcastId: string | null;
  templateId: string | null;
  /** When the email was accepted, in ISO 8601 and UTC. */
  createdAt: string;
}

export interface EmailSentEvent {
  /**
   * Id of the event. It is the same in every attempt to post the event, so receivers can recognise
   * repetitions by it.
   */
  id: string;
  type: 'email.sent';
  /** When the event happened, in ISO 8601 and UTC. */
  createdAt: string;
  mode: Known<'live' | 'test'>;
  data: EmailSentEventData;
  /** Present only in a test post, whose data is made up. */
  test?: boolean;
}

export interface EmailHeldEventDataHold {
  /**
   * `interrupted`: the daemon ended during several attempts. `damaged`: the stored message is missing or was
   * changed. `operator`: the operator of the server holds the mail. `approval`: a person has to approve it.
   */
  reason: Known<'interrupted' | 'damaged' | 'operator' | 'approval'>;
  /** The reason in words. */
  diagnostic: string;
}

export interface EmailHeldEventData extends EmailSentEventData {
  /** Reason why delivery is not attempted until an operator releases the email, or a person approves it. */
  hold: EmailHeldEventDataHold;
}

export interface EmailHeldEvent extends Omit<EmailSentEvent, 'type' | 'data'> {
  type: 'email.held';
  data: EmailHeldEventData;
}

export interface EmailQueuedEvent extends Omit<EmailSentEvent, 'type'> {
  type: 'email.queued';
}

export interface EmailOpenedEventDataOpen {
  /** When the message was opened, in ISO 8601 and UTC. */
  timestamp: string;
  ip: string | null;
  userAgent: string | null;
  /** True when a machine probably made the request, such as a scanner of links. */
  bot: boolean;
  botReason: Known<'head' | 'prefetch' | 'many_links' | 'too_soon' | 'scanner_network' | 'privacy_proxy' | 'user_agent'> | null;
}

export interface EmailOpenedEventData extends EmailSentEventData {
  open: EmailOpenedEventDataOpen;
}

export interface EmailOpenedEvent extends Omit<EmailSentEvent, 'type' | 'data'> {
  type: 'email.opened';
  data: EmailOpenedEventData;
}

export interface EmailBouncedEventDataBounce {
  /** The type is `permanent` exactly when the address was added to the suppressions. */
  type: Known<'permanent' | 'transient' | 'undetermined'>;
  subType: Known<'NoEmail' | 'MailboxFull' | 'MessageTooLarge' | 'ContentRejected' | 'AttachmentRejected' | 'General'>;
  /** What the reply means, such as `bad-mailbox` or `rate`. */
  class: Known<'bad-mailbox' | 'inactive' | 'likely-bad-mailbox' | 'hard-unconfirmed' | 'domain-owner-changed' | 'bad-domain' | 'quota' | 'message' | 'content' | 'spam-content' | 'policy' | 'invalid-sender' | 'auth-fail' | 'ip-block' | 'rate' | 'greylist' | 'too-many-rcpt' | 'tls' | 'routing' | 'loop' | 'network' | 'dns' | 'protocol' | 'expired' | 'complaint' | 'unknown'>;
  /** What you can do, in a sentence. */
  advice: string;
  smtpCode: number | null;
  enhancedCode: string | null;
  diagnostic: string | null;
  /** An SMTP reply or a delivery status notification. */
  source: Known<'smtp' | 'dsn'>;
}

export interface EmailBouncedEventData extends EmailSentEventData {
  /** Reason why the recipient bounced. */
  bounce: EmailBouncedEventDataBounce;
}

export interface EmailBouncedEvent extends Omit<EmailSentEvent, 'type' | 'data'> {
  type: 'email.bounced';
  data: EmailBouncedEventData;
}

export interface EmailClickedEventDataClick extends Omit<EmailOpenedEventDataOpen, 'timestamp'> {
  /** When the link was followed, in ISO 8601 and UTC. */
  timestamp: string;
  /** The link that was followed, variables filled in. */
  link: string;
}

export interface EmailClickedEventData extends EmailSentEventData {
  click: EmailClickedEventDataClick;
}

export interface EmailClickedEvent extends Omit<EmailSentEvent, 'type' | 'data'> {
  type: 'email.clicked';
  data: EmailClickedEventData;
}

export interface DomainFailedEventData {
  domainId: string;
  /** The name of the domain. */
  name: string;
  status: Known<'verified' | 'failed'>;
}

export interface DomainFailedEvent extends Omit<EmailSentEvent, 'type' | 'data'> {
  type: 'domain.failed';
  data: DomainFailedEventData;
}

export interface EmailCanceledEvent extends Omit<EmailSentEvent, 'type'> {
  type: 'email.canceled';
}

export interface EmailReceivedEventDataAuth {
  spf: string;
  dkim: string;
  dmarc: string;
}

export interface EmailReceivedEventData {
  /** The id of the received message. */
  id: string;
  /** The sender of the envelope: one address, or empty for a bounce. */
  sender: string;
  /** The first of the recipients. */
  to: string;
  /**
   * The recipients of the envelope that have a route; for an endpoint of one domain, those at that domain.
   */
  recipients: string[];
  /** The author: the address of the `From` field, or the sender when that field names none. */
  from: string;
  subject: string | null;
  messageId: string | null;
  emailId: string | null;
  /** Size of the message in bytes. */
  sizeBytes: number;
  /** Results of authentication, such as `pass` or `none`. DKIM passes when one signature does. */
  auth: EmailReceivedEventDataAuth;
  /** True when the message is marked as probable spam. */
  flagged: boolean;
  /** When the message was received, in ISO 8601 and UTC. */
  createdAt: string;
}

export interface EmailReceivedEvent extends Omit<EmailSentEvent, 'type' | 'data'> {
  type: 'email.received';
  data: EmailReceivedEventData;
}

export interface BroadcastSentEvent extends Omit<EmailSentEvent, 'type' | 'data'> {
  type: 'broadcast.sent';
  data: BroadcastSummary;
}

export interface EmailDeliveredEventDataDelivery {
  /** The final reply of the receiving server. */
  smtpResponse: string;
  mx: string | null;
  tls: string | null;
  /** Duration of the attempt in milliseconds. */
  durationMs: number;
}

export interface EmailDeliveredEventData extends EmailSentEventData {
  /** The successful attempt. */
  delivery: EmailDeliveredEventDataDelivery;
}

export interface EmailDeliveredEvent extends Omit<EmailSentEvent, 'type' | 'data'> {
  type: 'email.delivered';
  data: EmailDeliveredEventData;
}

export interface DomainVerifiedEvent extends Omit<DomainFailedEvent, 'type'> {
  type: 'domain.verified';
}

export interface ContactCreatedEvent extends Omit<EmailSentEvent, 'type' | 'data'> {
  type: 'contact.created';
  data: Contact;
}

export interface ContactUpdatedEvent extends Omit<ContactCreatedEvent, 'type'> {
  type: 'contact.updated';
}

export interface ContactDeletedEvent extends Omit<ContactCreatedEvent, 'type'> {
  type: 'contact.deleted';
}

export interface EmailComplainedEventDataComplaint extends Pick<EmailBouncedEventDataBounce, 'class' | 'advice'> {
  /** The type of the report (RFC 5965 section 3.1), such as `abuse`. */
  feedbackType: string;
  userAgent: string | null;
  /** When the report arrived, in ISO 8601 and UTC. */
  arrivedAt: string;
}

export interface EmailComplainedEventData extends EmailSentEventData {
  /** The report of the recipient. */
  complaint: EmailComplainedEventDataComplaint;
}

export interface EmailComplainedEvent extends Omit<EmailSentEvent, 'type' | 'data'> {
  type: 'email.complained';
  data: EmailComplainedEventData;
}

export interface EmailSuppressedEvent extends Omit<EmailSentEvent, 'type'> {
  type: 'email.suppressed';
}

export interface BroadcastPausedEvent extends Omit<BroadcastSentEvent, 'type'> {
  type: 'broadcast.paused';
}

export interface BroadcastFailedEvent extends Omit<BroadcastSentEvent, 'type'> {
  type: 'broadcast.failed';
}

export interface ApprovalExpiredEvent extends Omit<EmailSentEvent, 'type' | 'data'> {
  type: 'approval.expired';
  data: Approval;
}

export interface SuppressionAddedEvent extends Omit<EmailSentEvent, 'type' | 'data'> {
  type: 'suppression.added';
  data: Suppression;
}

export interface ApprovalApprovedEvent extends Omit<ApprovalExpiredEvent, 'type'> {
  type: 'approval.approved';
}

export interface ApprovalDeclinedEvent extends Omit<ApprovalExpiredEvent, 'type'> {
  type: 'approval.declined';
}

export interface ApprovalRequestedEvent extends Omit<ApprovalExpiredEvent, 'type'> {
  type: 'approval.requested';
}

export interface ApprovalWithdrawnEvent extends Omit<ApprovalExpiredEvent, 'type'> {
  type: 'approval.withdrawn';
}

export interface SuppressionRemovedEvent extends Omit<SuppressionAddedEvent, 'type'> {
  type: 'suppression.removed';
}

export interface ContactUnsubscribedEvent extends Omit<ContactCreatedEvent, 'type'> {
  type: 'contact.unsubscribed';
}

export interface EmailDeliveryDelayedEventDataDelay extends Pick<EmailBouncedEventDataBounce, 'class' | 'advice'> {
  /** The reply of the receiving server, or the reason why none was reached. */
  diagnostic: string;
  /** Number of the attempt, from 1; 0 when none was made yet, because the receiving servers get a pause. */
  attempt: number;
  nextAttemptAt: string | null;
  expiresAt: string | null;
}

export interface EmailDeliveryDelayedEventData extends EmailSentEventData {
  /** The attempt that was deferred. */
  delay: EmailDeliveryDelayedEventDataDelay;
}

export interface EmailDeliveryDelayedEvent extends Omit<EmailSentEvent, 'type' | 'data'> {
  type: 'email.delivery_delayed';
  data: EmailDeliveryDelayedEventData;
}

export interface SendEmailBodyCalendar {
  /** Method of RFC 5546, the METHOD of `content`. */
  method: Known<'PUBLISH' | 'REQUEST' | 'REPLY' | 'ADD' | 'CANCEL' | 'REFRESH' | 'COUNTER' | 'DECLINECOUNTER'>;
  /**
   * The calendar object (RFC 5545), BEGIN:VCALENDAR to END:VCALENDAR, at most 256 KiB. It has no
   * placeholders.
   */
  content: string;
}

export interface SendEmailBodyAttachment {
  /** Name of the file, shown to the recipient. Optional when `path` ends in a file name. */
  filename?: string;
  /** Content of the file in base64 (RFC 4648 section 4). */
  content?: AttachmentContent;
  /**
   * https URL from which the file is fetched once, when the email is accepted. The server must send them
   * uncompressed: a response with `Content-Encoding` is refused. One of `content` and `path` is required.
   */
  path?: string;
  /** Another name of `path`. */
  url?: string;
  /** Media type. The default follows from the extension of `filename`, or is application/octet-stream. */
  contentType?: string;
  /** Content id of an inline image: the HTML refers to it as `<img src="cid:…">`. */
  contentId?: string;
  /**
   * How a mail program shows the file. The default is inline for a file with a `contentId` in an email with
   * HTML, else attachment.
   */
  disposition?: Known<'inline' | 'attachment'>;
}

export interface SendEmailBody {
  /** Sender, `a@b` or `Name <a@b>`, at a verified domain. */
  from: string;
  /** Up to 50 addresses. */
  to: string | readonly string[];
  /** Up to 50 addresses. */
  cc?: string | readonly string[];
  /** Up to 50 addresses, which the other recipients do not see. */
  bcc?: string | readonly string[];
  /** Addresses that receive replies. */
  replyTo?: string | readonly string[];
  /** One line. Replaces the subject of the template. */
  subject: string;
  /** Required when `text` and `templateId` are absent. At most 2 MiB. */
  html?: string;
  /** Generated from the HTML when absent. Replaces the text of the template. At most 2 MiB. */
  text?: string;
  /**
   * AMP for email, which some mail programs show instead of the HTML: a document with `<html ⚡4email>`. It
   * needs `html` or `templateId`, and has at most 200,000 bytes. Its placeholders are rendered like those of
   * `html`, and its links are never tracked.
   */
  amp?: string;
  /** An invitation, which mail programs show with buttons to answer. It is also attached as invite.ics. */
  calendar?: SendEmailBodyCalendar;
  type: Known<'transactional' | 'broadcast'>;
  /**
   * Your own header fields: up to 50, 16 KiB in total. Text that is not ASCII is encoded, and long values are
   * folded. Reserved names are refused. With `TLS-Required: No` (RFC 8689), policies about TLS of the
   * recipients’ domains do not hold the email up.
   */
  headers?: Record<string, string>;
  /** Up to 10 files, 25 MiB in total. */
  attachments?: readonly SendEmailBodyAttachment[];
  /** Your own labels, by which emails can be found: up to 10 pairs of strings of 1 to 256 characters. */
  tags?: Record<string, string>;
  /** ISO 8601 with an offset, at most a year ahead. An email with a time in the past is sent now. */
  scheduledAt?: string;
  /** Id of a stored template, which is used instead of `html` and is always rendered. */
  templateId?: string;
  /**
   * Up to 50 values for the placeholders of the template; strings have at most 10 KiB. Without a template,
   * they fill in `subject`, `html` and `text`, which stay as they are when `variables` is absent.
   */
  variables?: Record<string, string | number | boolean | null>;
  /**
   * Required when `type` is broadcast. Recipients who have unsubscribed or opted out of the topic are
   * suppressed, and so are those without a choice when the topic is off by default.
   */
  topicId?: string;
}

export interface SendBatchBody {
  /** Up to 100 emails, each with the fields of POST /v1/emails. */
  emails: readonly SendEmailBody[];
}

export interface StartImportBody {
  /**
   * Fields of columns, as a JSON object such as `{"Mail":"email","3":null}`. A key is a heading, or the
   * number of a column counted from 1. A value is a field (`email`, `firstName`, `lastName`, `name`,
   * `status`, `subscribed`, `unsubscribed`, `unsubscribedAt`, `pending`, `topics.<id>`, `properties.<key>`),
   * or null to leave the column out. It wins over the known headings.
   */
  mapping?: string;
  /**
   * Encoding of the file. Without it, the file is UTF-8 or UTF-16 with a byte order mark, and otherwise
   * Windows-1252.
   */
  encoding?: Known<'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1250' | 'windows-1251' | 'windows-1252' | 'windows-1253' | 'windows-1254' | 'windows-1257' | 'iso-8859-2' | 'iso-8859-15' | 'koi8-r' | 'macintosh' | 'shift_jis' | 'euc-jp' | 'euc-kr' | 'gb18030' | 'big5'>;
  /**
   * Whether contacts that exist already are updated or skipped; default update. Neither subscribes a contact
   * again.
   */
  onConflict?: Known<'update' | 'skip'>;
}

export interface CheckEmailQuery {
  /**
   * Address of the recipient whose copy is shown; the first one by default. Copies of marketing mail differ
   * in their links to unsubscribe.
   */
  recipient?: string;
}

export interface ListEmailsQuery {
  /** Number of items on the page. */
  limit?: number;
  /** Id of an item; the page contains older items. */
  startingAfter?: string;
  /** Id of an item; the page contains newer items. */
  endingBefore?: string;
  /** Time in ISO 8601 with an offset; only items created then or later. */
  createdAfter?: string;
  /** Time in ISO 8601 with an offset; only items created before it. */
  createdBefore?: string;
  /** Status of the email as a whole. */
  status?: Known<'queued' | 'sent' | 'delivered' | 'bounced' | 'complained' | 'canceled'>;
  /** Address or domain of the sender. */
  from?: string;
  /** Address of a recipient, in any field. */
  to?: string;
  /** Tag in the form `key:value`. */
  tag?: string;
  /** Value of the Message-ID header field, with or without its angle brackets. */
  messageId?: string;
  /** State of at least one recipient. */
  recipientStatus?: Known<'queued' | 'sent' | 'deferred' | 'held' | 'delivered' | 'bounced' | 'complained' | 'suppressed' | 'canceled'>;
  /** Id of the API key that has sent the email, also of a revoked one. */
  apiKeyId?: string;
}

export interface GetMetricsQuery {
  /**
   * Beginning; rounded down to a whole hour or day. By default 30 days before `to`, or 24 hours with
   * `interval=hour`. ISO 8601 with an offset.
   */
  from?: string;
  /** End; rounded up. By default now. ISO 8601 with an offset. */
  to?: string;
  /** Length of a row; days are those of UTC. At most 31 days by hour, and 400 by day. */
  interval?: Known<'hour' | 'day'>;
  /** Only mail from this domain. */
  domainId?: string;
  /** Only mail of this type. */
  type?: Known<'transactional' | 'broadcast'>;
  /** Only copies of this broadcast. */
  broadcastId?: string;
  /** Only recipients at this provider, which is told by the domain of their address. */
  provider?: Known<'gmail' | 'yahoo' | 'microsoft' | 'apple' | 'other'>;
  /** Divides each row, and the totals, by this. */
  groupBy?: Known<'domain' | 'type' | 'broadcast' | 'provider'>;
  /**
   * A tag such as `campaign:spring`. Counts the emails with this tag that were accepted between `from` and
   * `to`. At most 31 days; it takes longer, and a tenant gets one such answer at a time.
   */
  tag?: string;
}

export interface GetSegmentQuery {
  /** False leaves out the number of contacts, which takes a second for a million of them. */
  count?: boolean;
}

export interface CreateTopicBody {
  /** Name for your own use; readers do not see it. */
  name: string;
  /** Description that preference pages show. */
  description?: string | null;
  /** True when readers who made no choice receive this mail; default true. */
  defaultOptIn?: boolean;
}

export interface ListTopicsQuery extends Pick<ListEmailsQuery, 'limit' | 'startingAfter' | 'endingBefore' | 'createdAfter' | 'createdBefore'> {
}

export interface UpdateTopicBody extends Partial<CreateTopicBody> {
}

export interface CreateApiKeyBody extends Partial<Pick<ApiKey, 'domainId' | 'allowedIps' | 'expiresAt' | 'requiresApproval'>>, Pick<ApiKey, 'name' | 'permission'> {
  /** Mode of the key. It must be the mode of the requesting key. */
  mode?: Known<'live' | 'test'>;
}

export type ListApiKeysQuery = ListTopicsQuery;

export interface UpdateApiKeyBody extends Partial<Pick<ApiKey, 'name' | 'requiresApproval'>> {
}

export interface CreateDomainBody {
  /** Name of an apex domain or a subdomain. */
  name: string;
  /** Purpose of the domain; default api. */
  productType?: Known<'api' | 'mailbox' | 'both'>;
  /** One of the configured region codes; default the first. */
  region?: string;
  /** Sign with an Ed25519 key too, once its optional record is found in DNS (RFC 8463); default false. */
  ed25519?: boolean;
}

export interface ListDomainsQuery extends ListTopicsQuery {
  /** Only domains with this status. */
  status?: Known<'pending' | 'verified' | 'failed' | 'temporary_failure'>;
  /** Only the domain with this name. */
  name?: string;
}

export interface UpdateDomainBody extends Partial<Pick<Domain, 'productType' | 'openTracking' | 'clickTracking'>> {
  /** Host name below the domain for tracked links; null for none. */
  trackingSubdomain?: string | null;
  /** One of the configured region codes. */
  region?: string;
  /** Sign with an Ed25519 key too, once its optional record is found in DNS. */
  ed25519?: boolean;
}

export interface ApproveEmailBody {
  /** The `approval.hash` of what was read. Something else is not approved. */
  hash: string;
}

export interface DeclineEmailBody extends ApproveEmailBody {
  /** Why, for the author. */
  reason?: string | null;
}

export type GetRawEmailQuery = CheckEmailQuery;

export interface ListExportsQuery extends ListTopicsQuery, Partial<Pick<Import, 'kind'>> {
  /** Only jobs with this status. */
  status?: Known<'waiting' | 'queued' | 'running' | 'completed' | 'failed'>;
  /** Only jobs for the contacts of this audience. */
  audienceId?: string;
}

export type ListImportsQuery = ListExportsQuery;

export interface CountSegmentBody extends Pick<Segment, 'audienceId' | 'filter'> {
}

export interface TestBroadcastBody {
  /** Up to 10 addresses. Each gets an email of its own, and a repeated address gets one. */
  to: readonly string[];
  /** Contact of the audience whose values fill in the merge tags. Without a contact, their fallbacks do. */
  contactId?: string | null;
}

export interface CreateContactBodyConsent {
  /** IP address of the person who asked for the subscription, as the proof of it. */
  requestedIp: string;
}

export interface CreateContactBody {
  /** One address without a name; unique in its audience in any case of letters. */
  email: string;
  firstName?: string | null;
  lastName?: string | null;
  /** True when the contact is unsubscribed from all marketing mail; default false. */
  unsubscribed?: boolean;
  /** Topics that are not named keep their choice, or the default of the topic. */
  topics?: readonly ContactTopic[];
  /** Your own fields, for segments and merge tags. At most 100 of them, 32 KiB of JSON together. */
  properties?: Record<string, string | number | boolean>;
  /**
   * With `pending`, the contact gets a confirmation mail from the sender in `optIn` of its audience, and no
   * marketing mail before its reader has confirmed. Default `subscribed`. It applies to new contacts: nobody
   * who has confirmed or left is changed by it, and a pending contact stays pending.
   */
  status?: Known<'subscribed' | 'pending'>;
  /** Only with the status `pending`. */
  consent?: CreateContactBodyConsent;
}

export interface ListContactsQuery extends ListTopicsQuery {
  /** The whole address, in any case of letters. */
  email?: string;
  /** True for contacts that are unsubscribed from all marketing mail. */
  unsubscribed?: boolean;
  /** Only contacts in this status. */
  status?: Known<'subscribed' | 'unsubscribed' | 'pending'>;
}

export interface UpdateContactBody extends Partial<Omit<CreateContactBody, 'properties' | 'status' | 'consent'>> {
  /** Merged with the present properties; null removes one. At most 100 of them, 32 KiB of JSON together. */
  properties?: Record<string, string | number | boolean | null>;
}

export interface CreateMailboxBody extends Partial<Pick<Mailbox, 'kind' | 'displayName' | 'passwordLogin' | 'passwordRecovery' | 'scramLogin' | 'vacation' | 'forwardTo' | 'keepCopy' | 'rules'>> {
  /**
   * Address at a verified domain whose `productType` is `mailbox` or `both`. Letters are compared without
   * case. Without a domain, use an address at the sandbox domain `sandbox.<hostname>`, which all accounts
   * share.
   */
  address: string;
  /** Addresses of the mailboxes whose owners use this one, if it is shared. */
  members?: readonly string[];
  /**
   * Further addresses whose mail arrives in this mailbox, at domains for which the rules of `address` hold.
   * `*@<domain>` stands for all addresses of a domain that nothing else receives for; one mailbox can have
   * it.
   */
  aliases?: readonly string[];
  /**
   * Password of 8 to 256 characters. Without one, the server makes one and shows it in this response alone.
   */
  password?: string;
  /** Maximum size of the stored messages, in bytes. */
  quotaBytes?: number;
  /** IMAP capabilities that this mailbox is not offered, for a mail program that has trouble with one. */
  disabledCapabilities?: readonly string[];
}

export interface UpdateMailboxBody extends Omit<CreateMailboxBody, 'address' | 'kind' | 'password'>, Partial<Pick<Mailbox, 'timeZone'>> {
  /** Password of 8 to 256 characters. It is stored as a hash, and never shown again. */
  password?: string;
  /** A `suspended` mailbox takes no mail, so that senders try again later, and nobody may log in. */
  status?: Known<'active' | 'suspended'>;
}

export interface ListRequestsQuery extends ListTopicsQuery {
  /** Class of the status. */
  status?: Known<'2xx' | '3xx' | '4xx' | '5xx'>;
  /** Method of the request. */
  method?: Known<'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD'>;
  /** Id of the API key of the request. */
  keyId?: string;
  /** Beginning of the path, such as `/v1/emails`. */
  path?: string;
}

export interface CreateSegmentBody extends CountSegmentBody {
  name: string;
}

export interface ListSegmentsQuery extends ListTopicsQuery {
  /** Only segments of this audience. */
  audienceId?: string;
}

export interface UpdateSegmentBody extends Partial<Pick<Segment, 'name' | 'filter'>> {
}

export interface ListApprovalsQuery extends ListTopicsQuery {
  /** Only approvals in this state; `pending` lists what waits. */
  state?: Known<'pending' | 'approved' | 'declined' | 'expired' | 'withdrawn'>;
}

export interface CreateAudienceBody extends Partial<Pick<Audience, 'optIn'>> {
  name: string;
}

export type ListAudiencesQuery = ListTopicsQuery;

export interface UpdateAudienceBody extends Partial<CreateAudienceBody> {
}

export interface ChangeBrandingBody {
  /** Name of the sender. At most 100 characters. */
  name?: string | null;
  /**
   * Colour of the buttons and of the heading, as `#rrggbb`. Its contrast to the text on it must be at least
   * 4.5.
   */
  color?: string | null;
  /** Colour of the text on `color`; white when it is null. */
  textColor?: string | null;
  /** Colour on pages that are dark because the reader prefers it; `color` when it is null. */
  darkColor?: string | null;
  /** Colour of the text on `darkColor`; `textColor` when it is null. */
  darkTextColor?: string | null;
  /**
   * PNG, JPEG, GIF or still WebP image in base64, of at most 1 MiB and 4,000,000 pixels. It is written anew
   * as PNG, without animation, within 480 × 160 pixels, and shown on white at half that size.
   */
  logo?: string | null;
}

export interface CreateContactQuery {
  /**
   * Update the contact that has the address already. It stays unsubscribed, and opted out of topics, if it
   * is.
   */
  upsert?: boolean;
}

export interface ExportContactsBody {
  /** Only contacts of this segment, which must belong to the audience. */
  segmentId?: string;
  /** Only contacts that are unsubscribed (true), or only those that are not (false). */
  unsubscribed?: boolean;
}

export interface ListMailboxesQuery extends ListTopicsQuery {
  /** Only the mailbox with exactly this address, as its own or as an alias. */
  address?: string;
  /** Only mailboxes of this domain. */
  domain?: string;
}

export interface CreateTemplateBody {
  /** Name for your own use. Several templates may have the same name. */
  name: string;
  /** Subject, which may contain {{variable}} placeholders. */
  subject: string;
  /**
   * `{{name}}` is escaped, `{{{name}}}` is not, and `{{name|there}}` has a fallback. A value in a URL is
   * percent-encoded, unless it is the whole URL; `{{url name}}` and `{{raw name}}` say otherwise. `{{#if
   * name}}…{{else}}…{{/if}}` shows one of two parts. At most 1 MiB.
   */
  html: string;
  /** Generated from the HTML when absent. At most 1 MiB. */
  text?: string | null;
}

export interface ListTemplatesQuery extends ListTopicsQuery {
  /** Only templates with exactly this name. */
  name?: string;
}

export interface UpdateTemplateBody extends Partial<CreateTemplateBody> {
}

export interface PreviewBrandingBody extends ChangeBrandingBody {
  /**
   * `unsubscribe`: the page behind the link of a mail; `preferences`: the one with the topics;
   * `confirmation`: the one behind the link of a confirmation mail.
   */
  page: Known<'unsubscribe' | 'preferences' | 'confirmation'>;
  language?: Known<'en' | 'de' | 'fr' | 'es'>;
}

export interface CreateBroadcastBody {
  /** Audience that receives the broadcast. Required when `segmentId` is absent. */
  audienceId?: string | null;
  /**
   * Segment whose contacts receive the broadcast. When `audienceId` is given too, the segment must belong to
   * that audience.
   */
  segmentId?: string | null;
  /** Address that receives replies. */
  replyTo?: string | null;
  /** Topic of the broadcast, so that readers can opt out of this kind of mail alone. Recommended. */
  topicId?: string | null;
  /** Id of a stored template, which is used instead of `html`. */
  templateId?: string | null;
  /**
   * Required when `templateId` is absent. Merge tags such as `{{firstName|there}}` are escaped. The HTML must
   * contain `{{{unsubscribe_url}}}`, the only tag allowed in three braces. At most 1 MiB.
   */
  html?: string | null;
  /**
   * Generated from the HTML when absent. Replaces the text of the template. It must contain
   * `{{{unsubscribe_url}}}` too. At most 1 MiB.
   */
  text?: string | null;
  /**
   * Time at which the broadcast is sent, in ISO 8601 with an offset, at most a year ahead. A time that has
   * passed means now. Without it the broadcast is a draft; null makes it a draft again.
   */
  scheduleAt?: string | null;
  /**
   * How fast the broadcast is sent, with exactly one field. Without it, as fast as receivers accept the mail.
   * It can be changed while the broadcast is sent or paused.
   */
  pace?: BroadcastPace | null;
  /** Sender, `a@b` or `Name <a@b>`, at a verified domain. */
  from: string;
  /** One line, which may contain merge tags such as {{firstName}}. Replaces the subject of the template. */
  subject: string;
}

export interface ListBroadcastsQuery extends ListTopicsQuery {
  /** Only broadcasts with this status. */
  status?: Known<'draft' | 'scheduled' | 'sending' | 'paused' | 'sent' | 'canceled' | 'failed'>;
  /** Only broadcasts for this audience or a segment of it. */
  audienceId?: string;
}

export interface UpdateBroadcastBody extends Partial<CreateBroadcastBody> {
}

export interface ImportContactsQuery extends StartImportBody {
  /**
   * True imports nothing, and returns how the file would be read: its columns, its first rows, and warnings.
   */
  preview?: boolean;
  /**
   * True stores the file and imports nothing before `POST
   * /v1/audiences/{audienceId}/contacts/imports/{id}/start`.
   */
  wait?: boolean;
}

export interface RescheduleEmailBody {
  /** ISO 8601 with an offset, at most a year ahead. An email with a time in the past is sent now. */
  scheduledAt: string;
}

export interface PreviewTemplateBody extends Omit<CreateTemplateBody, 'name'> {
  /** Up to 50 values for the placeholders; strings have at most 10 KiB. */
  variables?: Record<string, string | number | boolean | null>;
}

export type ApproveBroadcastBody = ApproveEmailBody;

export type DeclineBroadcastBody = DeclineEmailBody;

export interface PreviewBroadcastQuery {
  /**
   * Id or address of a contact of the audience. Without it, the newest contact of the audience; without
   * contacts, fallbacks fill in the merge tags.
   */
  contact?: string;
}

export interface SumDomainReportsQuery extends Pick<ListEmailsQuery, 'createdAfter' | 'createdBefore'> {
  /** Only reports of this type. */
  type?: Known<'dmarc' | 'tls'>;
}

export interface CreateAppPasswordBody extends Partial<Pick<AppPassword, 'allowedIps' | 'expiresAt'>>, Pick<AppPassword, 'name'> {
  /** Protocols in which the password is valid; all of them unless they are given. */
  protocols?: readonly (Known<'imap' | 'pop3' | 'smtp' | 'sieve'>)[];
  /** Address of the member that the password of a shared mailbox is for. */
  member?: string;
}

export type ListAppPasswordsQuery = ListTopicsQuery;

export interface SetSimulatorReplyBody extends Partial<Pick<SimulatorReplyReply, 'recipients'>> {
  /** Reply code: 2yz accepts the email, 4yz defers it, 5yz refuses it. */
  code: number;
  /** Enhanced status code, such as `4.2.2`. Its first digit is that of the code. */
  enhancedCode?: string | null;
  /** Text of the reply: one line of printable ASCII. */
  text?: string;
}

export interface CreateSuppressionBody {
  /** One address. Letters are compared without case. */
  email: string;
  /** Reason; default manual. Of two reasons the stronger is kept: complaint, bounce, unsubscribe, manual. */
  reason?: Known<'manual' | 'bounce' | 'complaint' | 'unsubscribe'>;
}

export interface ListSuppressionsQuery extends ListTopicsQuery {
  /** Only this address, in any case of letters. */
  email?: string;
  /** Only suppressions with this reason. */
  reason?: Known<'manual' | 'bounce' | 'complaint' | 'unsubscribe'>;
}

export interface ListDomainReportsQuery extends ListTopicsQuery {
  /** Only reports of this type. */
  type?: Known<'dmarc' | 'tls'>;
}

export interface CreateInboundRouteBody {
  /**
   * Address at a verified domain, or `*@<domain>` for every address that no other route names. Letters are
   * compared without case. Without a domain, use an address at the sandbox domain `sandbox.<hostname>`, which
   * all accounts share.
   */
  address: string;
  /** https URL to which messages are posted, without user name and fragment, and not on a mail port. */
  destination: string;
  /** True when messages are forwarded; default true. */
  enabled?: boolean;
}

export interface ListInboundRoutesQuery extends ListTopicsQuery {
  /** Only the route with exactly this address, which may be `*@<domain>`. */
  address?: string;
  /** Only routes of this domain. */
  domain?: string;
}

export interface UpdateInboundRouteBody extends Partial<CreateInboundRouteBody> {
}

export interface CreateMailboxDraftBody {
  /** Id of a message of the mailbox that the draft answers. */
  inReplyTo?: string;
  /** True when the answer also goes to the other recipients. By default, false. */
  replyAll?: boolean;
  /** False when an answer does not quote the message. By default, true. */
  quote?: boolean;
  /** Id of a message of the mailbox that the draft forwards. */
  forwards?: string;
  /**
   * `inline`: its text and its files are those of the draft. `attachment`: the whole message is attached. By
   * default, `inline`.
   */
  forwardAs?: Known<'inline' | 'attachment'>;
  /** An address of the mailbox, with or without a name. By default, the one that was written to. */
  from?: string;
  /** By default, for an answer, its Reply-To or its author. */
  to?: readonly string[];
  /** By default, with `replyAll`, the other recipients. */
  cc?: readonly string[];
  /** Recipients that the others do not see. */
  bcc?: readonly string[];
  /** By default, that of the message with `Re:` or `Fwd:`. */
  subject?: string;
  /** Plain text. What is quoted follows it. */
  text?: string;
  /** HTML. What is quoted follows it. */
  html?: string;
}

export interface EndMailboxSessionsBody {
  /** The session to end; without it, all sessions of the mailbox end. */
  session?: string;
}

export interface CreateSuppressionsBody {
  suppressions: readonly CreateSuppressionBody[];
}

export interface DeleteSuppressionsBody {
  emails: readonly string[];
}

export interface ExportSuppressionsBody extends Pick<ListSuppressionsQuery, 'reason'> {
}

export interface CreateMailboxImportBody extends Pick<MailboxImport, 'host' | 'user'>, Partial<Pick<MailboxImport, 'security'>> {
  /** 993 for `tls` and 143 for `starttls` unless it is given. Below 1024 there is no other. */
  port?: number;
  /** Password or app password. It is stored encrypted, deleted when the import ends, and never shown. */
  password: string;
}

export type ListMailboxImportsQuery = ListTopicsQuery;

export interface ListMailboxThreadsQuery {
  /** Number of items on the page. */
  limit?: number;
  /** `nextCursor` of a page of the same list. */
  startingAfter?: string;
  /** Role (`inbox`, `sent`, …), id or name of the folder. By default, `inbox`. */
  folder?: string;
}

export interface ImportSuppressionsQuery extends Pick<ImportContactsQuery, 'encoding' | 'preview'> {
  /** Reason for rows that name none, or one that is not understood; default manual. */
  reason?: Known<'manual' | 'bounce' | 'complaint' | 'unsubscribe'>;
  /**
   * Fields of columns, as a JSON object such as `{"Mail":"email","3":null}`. A key is a heading, or the
   * number of a column counted from 1. A value is a field (`email`, `reason`, `diagnostic`, `createdAt`), or
   * null to leave the column out. It wins over the known headings.
   */
  mapping?: string;
}

export interface CountWebhookReplayQuery {
  /** Time in ISO 8601 with an offset; only deliveries created then or later. */
  since?: string;
  /** State of the deliveries; default both. */
  status?: Known<'failed' | 'skipped'>;
  /** Number at which counting stops. */
  maximum?: number;
}

export interface RotateWebhookSecretBody {
  /** Time for which posts are also signed with the previous secret, in seconds. */
  overlapSeconds?: number;
}

export interface TestWebhookEndpointBody {
  type?: Known<'email.queued' | 'email.sent' | 'email.delivered' | 'email.bounced' | 'email.complained' | 'email.opened' | 'email.clicked' | 'email.delivery_delayed' | 'email.suppressed' | 'email.canceled' | 'email.held' | 'email.received' | 'domain.verified' | 'domain.failed' | 'contact.created' | 'contact.updated' | 'contact.deleted' | 'contact.unsubscribed' | 'suppression.added' | 'suppression.removed' | 'broadcast.sent' | 'broadcast.paused' | 'broadcast.failed' | 'approval.requested' | 'approval.approved' | 'approval.declined' | 'approval.expired' | 'approval.withdrawn'>;
}

export interface PreviewWaitingImportBody extends Omit<StartImportBody, 'onConflict'> {
}

export interface SearchEmailSubjectsQuery {
  /** Part of the subject, in any case of its letters. Without it, every email is found. */
  text?: string;
  /** Only emails of the last days. */
  days?: number;
  /** Number of emails. */
  limit?: number;
}

export interface ListInboundMessagesQuery extends ListTopicsQuery {
  /** Only messages to this recipient of the envelope. */
  address?: string;
  /** Only messages for this route. */
  routeId?: string;
  /** Only messages of this author, by address or domain. */
  from?: string;
  /** Only messages with this value of the Message-ID header field, with or without its angle brackets. */
  messageId?: string;
}

export interface ListMailboxMessagesQuery extends ListMailboxThreadsQuery {
  /** Only unread messages, or only read ones. */
  unread?: boolean;
  /** Only flagged messages, or only others. */
  flagged?: boolean;
  /** Only messages with this text in From, such as a part of a name or an address. */
  from?: string;
  /** Only messages with this text in To. */
  to?: string;
  /** Only messages with this text in the subject. */
  subject?: string;
  /** Only messages with this text in the header or in the text, as SEARCH TEXT of IMAP finds it. */
  q?: string;
  /** Time in ISO 8601 with an offset; only messages that arrived then or later. */
  receivedAfter?: string;
  /** Time in ISO 8601 with an offset; only messages that arrived before. */
  receivedBefore?: string;
}

export interface UpdateMailboxMessageBody {
  unread?: boolean;
  flagged?: boolean;
  /** Role (`trash`, `archive`, `junk`, `inbox`, …), id or name of the folder that gets the message. */
  folder?: string;
}

export type ListSegmentContactsQuery = ListTopicsQuery;

export interface CreateSuppressionsAnswerData extends Suppression {
  /** False when the address was suppressed already. */
  created: boolean;
}

export interface CreateSuppressionsAnswerData2 {
  error: BroadcastTestDataError;
}

export interface CreateSuppressionsAnswer {
  /** One item for each given address, in the same order. */
  data: (CreateSuppressionsAnswerData | CreateSuppressionsAnswerData2)[];
}

export interface DeleteSuppressionsAnswerData {
  /** Address as the request gave it. */
  email: string;
  /** False when the address was not suppressed. */
  deleted: boolean;
}

export interface DeleteSuppressionsAnswer {
  /** One item for each given address, in the same order. */
  data: DeleteSuppressionsAnswerData[];
}

export interface SearchEmailSubjectsAnswer {
  data: EmailSummary[];
  /** Number of emails whose subjects were read: at most the newest 5000. */
  examined: number;
  /** Time of acceptance of the oldest of them; null when there was none. */
  since: string | null;
  /** True when the subjects of all emails of the last days were read. */
  isComplete: boolean;
}

export type ListTemplateVersionsQuery = ListTopicsQuery;

export interface CreateWebhookEndpointBody extends Partial<Pick<WebhookEndpoint, 'domainId' | 'format'>> {
  /** https URL to which events are posted, without user name and fragment, and not on a mail port. */
  url: string;
  /** Types of events that are posted. Repeated types are dropped. */
  events: readonly (Known<'email.queued' | 'email.sent' | 'email.delivered' | 'email.bounced' | 'email.complained' | 'email.opened' | 'email.clicked' | 'email.delivery_delayed' | 'email.suppressed' | 'email.canceled' | 'email.held' | 'email.received' | 'domain.verified' | 'domain.failed' | 'contact.created' | 'contact.updated' | 'contact.deleted' | 'contact.unsubscribed' | 'suppression.added' | 'suppression.removed' | 'broadcast.sent' | 'broadcast.paused' | 'broadcast.failed' | 'approval.requested' | 'approval.approved' | 'approval.declined' | 'approval.expired' | 'approval.withdrawn'>)[];
  /** Text for your own use; null for none. */
  description?: string | null;
}

export type ListWebhookEndpointsQuery = ListTopicsQuery;

export interface UpdateWebhookEndpointBody extends Partial<Omit<CreateWebhookEndpointBody, 'domainId' | 'format'>> {
  /** Enabling an endpoint forgets its failures so far. */
  status?: Known<'enabled' | 'disabled'>;
}

export interface ListWebhookDeliveriesQuery extends ListTopicsQuery {
  /** Only deliveries in this state. */
  status?: Known<'pending' | 'delivered' | 'failed' | 'skipped'>;
}

export interface ReplayWebhookDeliveriesBody {
  /** Time in ISO 8601 with an offset; only deliveries created then or later. */
  since: string;
  /** State of the deliveries; default both. */
  status?: Known<'failed' | 'skipped'>;
}

export interface ListBroadcastRecipientsQuery extends ListTopicsQuery, Partial<Pick<BroadcastRecipient, 'status'>> {
}

export interface ExportBroadcastRecipientsBody extends Partial<Pick<BroadcastRecipient, 'status'>> {
}

/** An event as it is posted to a webhook. A newer server may send other types: ignore those that you do not know. */
export type WebhookEvent =
  | EmailQueuedEvent
  | EmailSentEvent
  | EmailDeliveredEvent
  | EmailBouncedEvent
  | EmailComplainedEvent
  | EmailOpenedEvent
  | EmailClickedEvent
  | EmailDeliveryDelayedEvent
  | EmailSuppressedEvent
  | EmailCanceledEvent
  | EmailHeldEvent
  | EmailReceivedEvent
  | DomainVerifiedEvent
  | DomainFailedEvent
  | ContactCreatedEvent
  | ContactUpdatedEvent
  | ContactDeletedEvent
  | ContactUnsubscribedEvent
  | SuppressionAddedEvent
  | SuppressionRemovedEvent
  | BroadcastSentEvent
  | BroadcastPausedEvent
  | BroadcastFailedEvent
  | ApprovalRequestedEvent
  | ApprovalApprovedEvent
  | ApprovalDeclinedEvent
  | ApprovalExpiredEvent
  | ApprovalWithdrawnEvent;
