/**
 * Reads a complaint that a mailbox provider sent: a feedback report (RFC 5965), also one that answers `CFBL-Address` (RFC 9477), or the
 * older form of Outlook.com, which attaches the message alone.
 */
import { findValue, type HeaderField, readHeader, splitEntity, toLines } from './message/lenient-header.ts';
import { type MimePart, partOctets, readMessage } from './message/lenient-parts.ts';

type FeedbackReport = {
  /** Type of the report in lower case (RFC 5965 section 7.3), such as `abuse`. */
  feedbackType: string;
  /** The program that made the report; null when it does not say. */
  userAgent: string | null;
  /** Addresses of the recipients who complain. Most providers hide them. */
  originalRecipients: readonly string[];
  /** Fields of the report, followed by the header of the message that the reader complains about. */
  fields: readonly HeaderField[];
};

/** Maximum length of the beginning of a message that is read, in bytes. It is the same for bounces. */
export const MAX_COMPLAINT_BYTES = 512 * 1024;
/** Maximum number of recipients that are read. A report is about one reader. */
const MAX_RECIPIENTS = 20;
/** Maximum length of a name of a program. */
const MAX_USER_AGENT_CHARACTERS = 200;

/**
 * The types of the part with the message, or with its header (RFC 5965 section 2 (d)). `text/rfc822` is in the examples of RFC 9477
 * alone.
 */
const ORIGINAL_TYPES: ReadonlySet<string> = new Set([
  ...['message/rfc822', 'text/rfc822-headers', 'text/rfc822', 'message/global', 'message/global-headers'],
]);

/** The field by which Outlook.com (its Junk Mail Reporting Program) names the reader, in the header of the message that it returns. */
const MICROSOFT_RECIPIENT = 'x-hmxmroriginalrecipient';

/** Reads the beginning of a message, in octets as they came. Returns undefined when it is not a complaint. */
export function readFeedbackReport(bytes: Uint8Array): FeedbackReport | undefined {
  const { parts } = readMessage(toLines(bytes.subarray(0, MAX_COMPLAINT_BYTES)));
  const report = parts.find(({ type }) => type === 'message/feedback-report');
  return report ? readReport(report, parts) : readMicrosoftReport(parts);
}

function readReport(report: MimePart, parts: readonly MimePart[]): FeedbackReport | undefined {
  const fields = readHeader(partOctets(report).trimStart());
  const type = /^[a-z0-9-]{1,40}/.exec((findValue(fields, 'feedback-type') ?? '').toLowerCase())?.[0];
  if (type === undefined) return undefined;
  return {
    feedbackType: type,
    userAgent: findValue(fields, 'user-agent')?.slice(0, MAX_USER_AGENT_CHARACTERS) ?? null,
    originalRecipients: valuesOf(fields, 'original-rcpt-to'),
    fields: [...fields, ...originalFields(parts)],
  };
}

function readMicrosoftReport(parts: readonly MimePart[]): FeedbackReport | undefined {
  const fields = originalFields(parts);
  const originalRecipients = valuesOf(fields, MICROSOFT_RECIPIENT);
  if (originalRecipients.length === 0) return undefined;
  return { feedbackType: 'abuse', userAgent: null, originalRecipients, fields };
}

function valuesOf(fields: readonly HeaderField[], wanted: string): string[] {
  return fields
    .filter(({ name }) => name === wanted)
    .slice(0, MAX_RECIPIENTS)
    .map(({ value }) => value);
}

function originalFields(parts: readonly MimePart[]): HeaderField[] {
  const original = parts.find(({ type }) => ORIGINAL_TYPES.has(type));
  return original ? readHeader(splitEntity(partOctets(original).trimStart()).header) : [];
}
