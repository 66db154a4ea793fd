/**
 * The columns of lists that other products export: addresses to which they no longer send. The sources are the pages of each
 * product about its export or import of such lists, and the files that it writes.
 */
import type { SuppressionReason } from '../../db/marketing-tables.ts';

/** Columns that may name the reason. A file can have several, and the strongest reason that is understood counts. */
export const REASON_NAMES: readonly string[] = [
  'reason',
  // Postmark, Amazon SES.
  'suppression reason',
  'origin',
  // SendGrid: the status code of a bounce.
  'status',
  'type',
  'bounce type',
  'suppression type',
  'block type',
  'reason code',
  'state',
  'category',
  'event',
  'source',
  'cause',
];

/** Columns with the answer of a server, or other details. */
export const DIAGNOSTIC_NAMES: readonly string[] = [
  'diagnostic',
  // Mailgun, Mandrill, Postmark.
  'error',
  'detail',
  'details',
  'description',
  'diagnostic code',
  'smtp response',
  'smtp reply',
  'response',
  'bounce reason',
  'bounce description',
  'message',
];

/** Columns with the time from which the address was suppressed. */
export const TIME_NAMES: readonly string[] = [
  'created at',
  'created',
  // Amazon SES.
  'last update time',
  'last updated',
  // Brevo, Klaviyo, Mailchimp.
  'blocked at',
  'timestamp',
  'CLEAN_TIME',
  'UNSUB_TIME',
  'date added',
  'added at',
  'added',
  'suppressed at',
  'bounced at',
  'complained at',
  'unsubscribed at',
  'date',
  'time',
  'last event at',
];

/** Mandrill lists rejections that no longer hold, too, and says so in this column. */
export const EXPIRED_NAMES: readonly string[] = ['expired', 'is expired'];

/** Columns whose values tell the reason by being there: a time, a code, a text or a yes. */
export const MARK_NAMES: Readonly<Record<Exclude<SuppressionReason, 'manual'>, readonly string[]>> = {
  bounce: [
    // Mailgun: the list of bounces.
    'code',
    'error',
    // Mailchimp: the file of cleaned members.
    'CLEAN_TIME',
    'CLEAN_CAMPAIGN_TITLE',
    // HubSpot: the file of unsubscribes and bounces.
    'portal bounce',
    'global bounce',
    'email hard bounce reason',
    'bounce reason',
    'bounced at',
    'bounced',
  ],
  complaint: ['portal spam report', 'complained at', 'complained', 'marked as spam', 'feedback type'],
  unsubscribe: [
    'UNSUB_TIME',
    'UNSUB_CAMPAIGN_TITLE',
    'UNSUB_REASON',
    'portal unsubscribe',
    'unsubscribed at',
    'unsubscribed',
  ],
};

/** Lists that have no column of reasons. They are known by all of their headings. A reason in the request wins over these. */
export const LISTS_WITHOUT_REASON: readonly { headings: readonly string[]; reason: SuppressionReason }[] = [
  // Mailgun: unsubscribes and complaints.
  { headings: ['address', 'tags', 'created at'], reason: 'unsubscribe' },
  { headings: ['address', 'created at'], reason: 'complaint' },
  // SendGrid: spam reports and global unsubscribes.
  { headings: ['email', 'created', 'ip'], reason: 'complaint' },
  { headings: ['email', 'created'], reason: 'unsubscribe' },
];

/** Words for each reason. They are compared in their plain form. */
export const REASON_WORDS: Readonly<Record<SuppressionReason, readonly string[]>> = {
  complaint: [
    'complaint',
    'complained',
    // Postmark, Klaviyo.
    'SpamComplaint',
    // Mandrill, SendGrid.
    'spam',
    'spam report',
    'spam reports',
    'spam reported',
    'marked as spam',
    // Brevo.
    'contactFlaggedAsSpam',
    'flagged as spam',
    'abuse',
    'abuse complaint',
    'feedback loop',
    'fbl',
    'junk',
  ],
  bounce: [
    'bounce',
    'bounced',
    'bounces',
    // Postmark, Mandrill, Klaviyo, Brevo.
    'HardBounce',
    'hard bounced',
    'hard',
    'SoftBounce',
    'soft bounced',
    'soft',
    // Amazon SES, Mailgun.
    'permanent',
    'permanent bounce',
    'permanent fail',
    'permanent failure',
    'permanent_fail',
    // SendGrid.
    'blocked',
    'block',
    'blocks',
    'invalid',
    'invalid email',
    'invalid emails',
    'invalid address',
    'dropped',
    // Mailchimp.
    'cleaned',
    'undeliverable',
    'undelivered',
    'rejected',
    'mailbox not found',
    'user unknown',
    'BadEmailAddress',
  ],
  unsubscribe: [
    'unsubscribe',
    'unsubscribed',
    'unsubscribes',
    // Mandrill.
    'unsub',
    'opt-out',
    'opted out',
    // Brevo.
    'unsubscribedViaMA',
    'unsubscribedViaEmail',
    'unsubscribedViaApi',
    // SendGrid.
    'global unsubscribe',
    'group unsubscribe',
    'list unsubscribe',
    // Postmark: the origin of a ManualSuppression that the reader made.
    'recipient',
  ],
  manual: [
    'manual',
    // Postmark, Mandrill, Klaviyo, Brevo.
    'ManualSuppression',
    'custom',
    'user suppressed',
    'adminBlocked',
    'blocked by admin',
    'customer',
    'admin',
    'blocklist',
    'blocklisted',
    'blacklist',
    'blacklisted',
    'denylist',
    'suppressed',
  ],
};

/**
 * Texts that tell the reason, in the order in which they are tried: a status code or a reply of a server is a bounce whatever it says,
 * then the words of products within longer texts, then what they write about dead addresses.
 */
export const REASON_TEXTS: readonly { pattern: RegExp; reason: SuppressionReason }[] = [
  { pattern: /(?:^|[^\d.])[45]\.\d{1,3}\.\d{1,3}(?![\d.])|^[45]\d\d(?:[ -]|$)/, reason: 'bounce' },
  {
    pattern: /complain|abuse|spam[ _-]?report|(?:flagged|marked|reported)[ _-]?as[ _-]?spam/i,
    reason: 'complaint',
  },
  { pattern: /unsub|opt(?:ed)?[ _-]?out/i, reason: 'unsubscribe' },
  { pattern: /bounce|undeliverable/i, reason: 'bounce' },
  {
    pattern:
      /no such (?:user|mailbox|recipient|address|domain)|(?:user|recipient|mailbox|domain).{0,40}(?:unknown|not found|does not exist|invalid)|unknown (?:user|recipient)|(?:bad|invalid) (?:domain|email|mailbox|address)|does(?:n't| not) exist|mailbox (?:full|unavailable|disabled)/i,
    reason: 'bounce',
  },
];
