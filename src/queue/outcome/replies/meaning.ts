/** The meaning of a reply, or of an own fact about a delivery, for its recipient: the result of the reply table (config/replies.yaml). */

/** The classes of replies. `expired` and `complaint` come from no reply; `unknown` is a reply that no row describes. */
export const REPLY_CLASSES = [
  ...['bad-mailbox', 'inactive', 'likely-bad-mailbox', 'hard-unconfirmed', 'domain-owner-changed'],
  ...['bad-domain', 'quota', 'message', 'content', 'spam-content', 'policy', 'invalid-sender', 'auth-fail'],
  ...[
    'ip-block',
    'rate',
    'greylist',
    'too-many-rcpt',
    'tls',
    'routing',
    'loop',
    'network',
    'dns',
    'protocol',
  ],
  ...['expired', 'complaint', 'unknown'],
] as const;
export type ReplyClass = (typeof REPLY_CLASSES)[number];

/**
 * When a bounce suppresses its address: `now`, because it is certainly about this recipient; `repeated`, after bounces on two
 * distinct days, because it is likely; or `never`.
 */
export const SUPPRESSIONS = ['now', 'repeated', 'never'] as const;
export type Suppresses = (typeof SUPPRESSIONS)[number];

/** Everything that a refusal may apply to, besides this message to this recipient. */
export const SCOPES = ['recipient', 'domain', 'message', 'sender', 'host', 'session'] as const;
export type Scope = (typeof SCOPES)[number];

/** Bounce subtypes have the names that Amazon SES uses in its bounce notifications. */
export const BOUNCE_SUBTYPES = [
  ...['NoEmail', 'MailboxFull', 'MessageTooLarge', 'ContentRejected', 'AttachmentRejected', 'General'],
] as const;
export type BounceSubType = (typeof BOUNCE_SUBTYPES)[number];

/** Facts that this installation knows without a reply. */
export const FACTS = [
  ...[
    'null-mx',
    'no-domain',
    'no-address',
    'loop',
    'dns',
    'network',
    'tls',
    'protocol',
    'local',
    'requirement',
  ],
  ...['no-smtputf8', 'unverified-sender', 'relay', 'expired', 'complaint'],
] as const;
export type Fact = (typeof FACTS)[number];

export type Meaning = {
  class: ReplyClass;
  suppresses: Suppresses;
  scope: Scope;
  subType: BounceSubType;
  /** Advice for the sender, in a sentence or two. */
  advice: string;
  /** Identifier of the row that matched. */
  row: string;
};

/** Returns true when the bounce suppresses at once: such a bounce is hard. */
export function isHard({ suppresses }: Pick<Meaning, 'suppresses'>): boolean {
  return suppresses === 'now';
}
