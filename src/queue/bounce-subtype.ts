/**
 * What kind of bounce it was, for the event (api.md 1.8). It explains to people and programs, and decides nothing:
 * whether the address is suppressed is `classify.ts`.
 */
import type { Report } from './outcome.ts';

/** The names that SES and those who follow it use. */
export type BounceSubType =
  | 'NoEmail'
  | 'MailboxFull'
  | 'MessageTooLarge'
  | 'ContentRejected'
  | 'AttachmentRejected'
  | 'General';

export type BounceReport = Pick<Report, 'phase' | 'smtpCode' | 'enhancedCode' | 'text'>;

/** By subject and detail of the enhanced code, its class being 4 or 5 (RFC 3463 3.2 to 3.4, RFC 7505; 7.17, 7.18: a new owner). */
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

/** RFC 3463 3.7, "message content or media". */
const CONTENT_SUBJECT = /^[45]\.6\./;
/** Codes that say no more than that something is the matter, or that somebody did not like it: there words tell more. */
const VAGUE = /^[45]\.(?:0\.0|[1-7]\.0|4\.7|7\.1)$/;

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

export function bounceSubType(report: BounceReport): BounceSubType {
  const { enhancedCode } = report;
  const named = enhancedCode === null ? undefined : BY_ENHANCED_CODE.get(enhancedCode.slice(2));
  if (named !== undefined) return named;
  if (isAboutContent(report)) {
    return ATTACHMENT_WORDS.test(report.text) ? 'AttachmentRejected' : 'ContentRejected';
  }
  if (enhancedCode !== null && !VAGUE.test(enhancedCode)) return 'General';
  return byCode(report) ?? byWords(report);
}

/** A server that knows only the envelope yet can say nothing of the content, whatever words it uses ("spamhaus"). */
function isAboutContent({ phase, enhancedCode, text }: BounceReport): boolean {
  if (enhancedCode !== null && CONTENT_SUBJECT.test(enhancedCode)) return true;
  if (phase !== 'dot' && phase !== 'body') return false;
  const open = enhancedCode === null || VAGUE.test(enhancedCode);
  return open && !TOO_LARGE_WORDS.test(text) && (ATTACHMENT_WORDS.test(text) || CONTENT_WORDS.test(text));
}

/** RFC 5321 4.2.3: 551 and 553 are about the mailbox; RFC 7504: 521 and 556 say that nothing is taken there, ever. */
function byCode({ smtpCode, phase }: BounceReport): BounceSubType | undefined {
  if (smtpCode === 521 || smtpCode === 556) return 'NoEmail';
  return phase === 'rcpt' && (smtpCode === 551 || smtpCode === 553) ? 'NoEmail' : undefined;
}

function byWords({ smtpCode, enhancedCode, text }: BounceReport): BounceSubType {
  if (TOO_LARGE_WORDS.test(text)) return 'MessageTooLarge';
  if (FULL_WORDS.test(text)) return 'MailboxFull';
  if (UNKNOWN_WORDS.test(text)) return 'NoEmail';
  // RFC 5321 4.2.3: 552 is "exceeded storage allocation".
  return smtpCode === 552 && enhancedCode === null ? 'MailboxFull' : 'General';
}
