/**
 * Names the kind of a bounce for the bounce event. The name explains the bounce to people and programs;
 * `classify.ts` decides whether the address is suppressed.
 */
import type { Report } from './outcome.ts';

/** Bounce subtypes have the names that Amazon SES uses in its bounce notifications. */
export type BounceSubType =
  | 'NoEmail'
  | 'MailboxFull'
  | 'MessageTooLarge'
  | 'ContentRejected'
  | 'AttachmentRejected'
  | 'General';

export type BounceReport = Pick<Report, 'phase' | 'smtpCode' | 'enhancedCode' | 'text'>;

/**
 * Maps the subject and detail of an enhanced status code to a subtype, for the classes 4 and 5 (RFC 3463 sections 3.2 to 3.4,
 * RFC 7505). The codes 7.17 and 7.18 say that the mailbox has a new owner (RFC 7293).
 */
const BY_ENHANCED_CODE: ReadonlyMap<string, BounceSubType> = new Map([
  ['1.1', 'NoEmail'],
  ['1.2', 'NoEmail'],
  ['1.3', 'NoEmail'],
  ['1.6', 'NoEmail'],
  ['1.10', 'NoEmail'],
  ['2.1', 'NoEmail'],
  ['7.17', 'NoEmail'],
  ['7.18', 'NoEmail'],
  ['2.2', 'MailboxFull'],
  ['2.3', 'MessageTooLarge'],
  ['3.4', 'MessageTooLarge'],
]);

/** Enhanced codes about "message content or media" (RFC 3463 section 3.7). */
const CONTENT_SUBJECT = /^[45]\.6\./;
/** Enhanced codes that state no cause, or only a policy. For these codes the words of the reply decide. */
const UNSPECIFIC_CODES = /^[45]\.(?:0\.0|[1-7]\.0|4\.7|7\.1)$/;

const ATTACHMENT_WORDS =
  /\battach(?:ment|ed)|\bfile (?:name|type|extension)|\bexecutable|\bvirus|\bmalware|\binfected/i;
const CONTENT_WORDS =
  /\bspam|\bjunk|\bphish|\bcontent|\bunsolicited|\bbulk mail|\bprohibited|\burl\b|\blinks?\b/i;
const TOO_LARGE_WORDS =
  /\b(?:message|mail|size)\b.{0,40}\b(?:too (?:large|big|long)|exceed)|\bsize limit|\bmaximum (?:message )?size/i;
const FULL_WORDS =
  /\b(?:mailbox|inbox|mail ?box|account)\b.{0,40}\b(?:full|over)|\bquota\b|\boverquota|\bstorage allocation/i;
const UNKNOWN_WORDS =
  /\b(?:user|mailbox|recipient|address|account)\b.{0,40}\b(?:unknown|not exist|not found|no longer|disabled)|(?:unknown|no such|invalid) (?:user|mailbox|recipient|address|account)|does not exist/i;

/**
 * Returns the subtype of a bounce. The enhanced code decides first, then the phase with the reply code, then the
 * words.
 */
export function bounceSubType(report: BounceReport): BounceSubType {
  const { enhancedCode } = report;
  const named = enhancedCode === null ? undefined : BY_ENHANCED_CODE.get(enhancedCode.slice(2));
  if (named !== undefined) return named;
  if (isAboutContent(report)) {
    return ATTACHMENT_WORDS.test(report.text) ? 'AttachmentRejected' : 'ContentRejected';
  }
  if (enhancedCode !== null && !UNSPECIFIC_CODES.test(enhancedCode)) return 'General';
  return byCode(report) ?? byWords(report);
}

/**
 * Returns true when the refusal is about the content. A server that has seen only the envelope cannot refuse the
 * content, whatever words it uses ("spamhaus").
 */
function isAboutContent({ phase, enhancedCode, text }: BounceReport): boolean {
  if (enhancedCode !== null && CONTENT_SUBJECT.test(enhancedCode)) return true;
  if (phase !== 'dot' && phase !== 'body') return false;
  const open = enhancedCode === null || UNSPECIFIC_CODES.test(enhancedCode);
  return open && !TOO_LARGE_WORDS.test(text) && (ATTACHMENT_WORDS.test(text) || CONTENT_WORDS.test(text));
}

/**
 * Returns the subtype that the reply code states. 551 and 553 are about the mailbox (RFC 5321 section 4.2.3); 521 and 556 say
 * that the host or the domain never accepts mail (RFC 7504).
 */
function byCode({ smtpCode, phase }: BounceReport): BounceSubType | undefined {
  if (smtpCode === 521 || smtpCode === 556) return 'NoEmail';
  return phase === 'rcpt' && (smtpCode === 551 || smtpCode === 553) ? 'NoEmail' : undefined;
}

function byWords({ smtpCode, enhancedCode, text }: BounceReport): BounceSubType {
  if (TOO_LARGE_WORDS.test(text)) return 'MessageTooLarge';
  if (FULL_WORDS.test(text)) return 'MailboxFull';
  if (UNKNOWN_WORDS.test(text)) return 'NoEmail';
  // The code 552 means "exceeded storage allocation" (RFC 5321 section 4.2.3).
  return smtpCode === 552 && enhancedCode === null ? 'MailboxFull' : 'General';
}
