/** Reads a message that came back to a return path. */
import { toLines } from '../mime/header.ts';
import { type MimeMessage, partOctets, partText, readMessage } from '../mime/parts.ts';
import { isAutoReply } from './auto-reply.ts';
import type { Notice } from './notice.ts';
import { readStatusReport } from './status-report.ts';
import { readTextReport } from './text-report.ts';

/** Mail that came back: a bounce with its notices about recipients, an automatic reply, or anything else. */
type ReturnedMail = { kind: 'bounce'; notices: Notice[] } | { kind: 'auto-reply' } | { kind: 'other' };

/**
 * Maximum length of the beginning of a message that is read, in bytes. Our own limit: the report stands before the copy of the
 * message, and reading this much takes a few milliseconds.
 */
export const MAX_REPORT_BYTES = 512 * 1024;

/** The machine-readable parts (RFC 3464 section 2.1, RFC 6533 section 4). */
const STATUS_TYPES: ReadonlySet<string> = new Set([
  'message/delivery-status',
  'message/global-delivery-status',
]);

/** Reads the beginning of a message, in octets as they came. */
export function readReturnedMail(bytes: Uint8Array): ReturnedMail {
  const message = readMessage(toLines(bytes.subarray(0, MAX_REPORT_BYTES)));
  const notices = readNotices(message);
  if (notices.length > 0) return { kind: 'bounce', notices };
  return { kind: isAutoReply(message.fields) ? 'auto-reply' : 'other' };
}

function readNotices({ parts }: MimeMessage): Notice[] {
  const report = parts.find(({ type }) => STATUS_TYPES.has(type));
  const notices = report ? readStatusReport(partOctets(report)) : [];
  if (notices.length > 0) return notices;
  const text = parts.find(({ type }) => type === 'text/plain');
  return text ? readTextReport(partText(text)) : [];
}
