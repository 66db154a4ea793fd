/** Reads a message that came back to a return path, first its machine-readable part (RFC 3464 section 2, RFC 6533 section 4). */

import { addressKey } from '../address.ts';
import { parseDate } from '../date.ts';
import { findValue, type HeaderField, readHeader, toLines } from '../message/lenient-header.ts';
import { type MimeMessage, partOctets, readMessage } from '../message/lenient-parts.ts';
import { isAutoReply, isBounceForPeople } from './bounce-signs.ts';
import { findNamedAddresses } from './named-address.ts';
import {
  cleanDiagnostic,
  findStatus,
  MAX_NOTICES,
  type Notice,
  type NoticeAction,
  typedAddress,
} from './notice.ts';
import { type BounceTexts, copyRecipients, isCopy, splitBounce } from './returned-copy.ts';
import { explanationOf, readText, reasonIn, type TextReport, textNotice } from './text-report.ts';

/** Mail that came back: a bounce with its notices about recipients, an automatic reply, or anything else. */
type ReturnedMail = { kind: 'bounce'; notices: Notice[] } | { kind: 'auto-reply' } | { kind: 'other' };

/**
 * Maximum length of the beginning of a message that is read, in bytes. The report stands before the copy of the message, and reading this
 * much takes a few milliseconds.
 */
export const MAX_REPORT_BYTES = 512 * 1024;
/** Maximum length of a part in which the fields of a report are looked for. */
const MAX_QUOTED_CHARACTERS = 64 * 1024;

/** The machine-readable parts (RFC 3464 section 2.1, RFC 6533 section 4). */
const STATUS_TYPES: ReadonlySet<string> = new Set([
  'message/delivery-status',
  'message/global-delivery-status',
]);
/** Parts of reports that are not about delivery: complaints (RFC 5965) and receipts of readers (RFC 8098). */
const OTHER_REPORTS: ReadonlySet<string> = new Set([
  'message/feedback-report',
  'message/disposition-notification',
]);
/** The field in which Exim and Google list the recipients of a bounce that is text. */
const FAILED_RECIPIENTS = 'x-failed-recipients';

/** Fields of a bounce with addresses of others than its recipients. */
const PARTY_FIELDS = ['to', 'from', 'reply-to', 'return-path'];
/** Fields of the message that is returned with addresses of its sender. */
const SENDER_FIELDS = ['return-path', 'from', 'sender', 'reply-to', 'errors-to'];

/** Reads the beginning of a message, in octets as they came. */
export function readReturnedMail(bytes: Uint8Array): ReturnedMail {
  const message = readMessage(toLines(bytes.subarray(0, MAX_REPORT_BYTES)));
  const notices = readNotices(message);
  if (notices.length > 0) return { kind: 'bounce', notices };
  return { kind: isAutoReply(message.fields) ? 'auto-reply' : 'other' };
}

function readNotices(message: MimeMessage): Notice[] {
  if (message.parts.some(({ type }) => OTHER_REPORTS.has(type)) && !isRejection(message.fields)) return [];
  const structured = readStructured(message);
  if (structured.some(({ finalRecipient, originalRecipient }) => finalRecipient ?? originalRecipient))
    return withExplanations(structured, message);
  const forPeople = readForPeople(message);
  const [only] = structured;
  if (only && structured.length === 1)
    return [{ ...only, finalRecipient: forPeople[0]?.finalRecipient ?? null }];
  if (forPeople.some(({ finalRecipient }) => finalRecipient !== null)) return forPeople;
  const returned = structured.length > 0 ? structured : readReturnedBounce(message);
  return returned.length > 0 ? returned : forPeople;
}

/** The script of a recipient may refuse a message with a receipt (RFC 5429 section 2.1.1), which Dovecot marks in this way. */
function isRejection(fields: readonly HeaderField[]): boolean {
  return /^auto-replied\s*\(rejected\)/i.test(findValue(fields, 'auto-submitted') ?? '');
}

/** Adds what the text for people says: it may name the command that was refused, or have the only reason. */
function withExplanations(notices: readonly Notice[], { fields, parts }: MimeMessage): Notice[] {
  const report = readText(fields, splitBounce(parts).own);
  return notices.map((notice) => {
    const address = notice.finalRecipient ?? notice.originalRecipient;
    const explanation = address === null ? null : explanationOf(report, address);
    const diagnosticCode = notice.diagnosticCode ?? (explanation === null ? null : reasonIn(explanation));
    return { ...notice, explanation, diagnosticCode };
  });
}

/** Reads the machine-readable part, or what stands for it in other parts. */
function readStructured({ fields, parts }: MimeMessage): Notice[] {
  const reports = parts.filter(({ type }) => STATUS_TYPES.has(type));
  const notices = reports.flatMap((report) => readStatusReport(partOctets(report)));
  if (notices.length > 0) return notices.slice(0, MAX_NOTICES);
  const isReport = /report-type\s*=\s*"?(?:global-)?delivery-status/i.test(
    findValue(fields, 'content-type') ?? '',
  );
  for (const part of parts.filter((candidate, index) => index === 0 || !isCopy(candidate))) {
    const quoted = partOctets({ ...part, body: part.body.slice(0, MAX_QUOTED_CHARACTERS) });
    const found = readQuotedStatusReport(quoted, isReport ? 'structured' : 'text');
    if (found.length > 0) return found;
  }
  return [];
}

/** Reads a bounce that is text. It names its recipients in a field, in its words, or by the message that it returns. */
function readForPeople({ fields, parts }: MimeMessage): Notice[] {
  const texts = splitBounce(parts);
  const report = readText(fields, texts.own);
  const failed = failedRecipients(fields);
  if (failed.length > 0) return failed.map((address) => textNotice(report, address));
  const namesFailure = report.sections.some(({ naming }) => naming !== 'to');
  const hasCopy = texts.copy !== undefined;
  if (!isBounceForPeople({ fields, own: texts.own, hasCopy, namesFailure })) return [];
  const recipients = recipientsOf(fields, report, texts);
  return recipients.length > 0
    ? recipients.map((address) => textNotice(report, address))
    : [textNotice(report, null)];
}

function failedRecipients(fields: readonly HeaderField[]): string[] {
  const values = fields.filter(({ name }) => name === FAILED_RECIPIENTS).map(({ value }) => value);
  const named = values.flatMap((value) => value.split(/[,\s]+/, MAX_NOTICES)).flatMap(addressIn);
  return [...new Set(named)].slice(0, MAX_NOTICES);
}

function namedIn(fields: readonly HeaderField[], names: readonly string[]): string[] {
  return names.flatMap((name) => addressIn(findValue(fields, name) ?? ''));
}

function addressIn(text: string): string[] {
  return findNamedAddresses(text, () => false).map(({ address }) => address);
}

/** Returns the recipients that the text names in its surest way; else the only one of the message that is returned. */
function recipientsOf(
  fields: readonly HeaderField[],
  { sections }: TextReport,
  { copy }: BounceTexts,
): string[] {
  const returned = copy === undefined ? [] : copyRecipients(copy);
  const parties = new Set(
    [...namedIn(fields, PARTY_FIELDS), ...namedIn(copy ?? [], SENDER_FIELDS)].map(addressKey),
  );
  // A person who writes to themselves is sender and recipient.
  for (const address of returned) parties.delete(addressKey(address));
  const candidates = sections.filter(({ address }) => !parties.has(addressKey(address)));
  const [first] = candidates;
  if (returned.length === 1 && (first === undefined || first.naming === 'to')) return returned;
  const possible = first === undefined ? sections : candidates;
  return possible.filter(({ naming }) => naming === possible[0]?.naming).map(({ address }) => address);
}

/** Reads a bounce that another program has returned in its own. */
function readReturnedBounce({ fields, parts }: MimeMessage): Notice[] {
  const returned = parts.find(({ type }) => type === 'message/rfc822');
  if (!returned || isAutoReply(fields)) return [];
  return readStructured(readMessage(partOctets(returned).trimStart()));
}

/** Maximum number of groups that are read. There is one for the message and one for each recipient. */
const MAX_GROUPS = 2 * MAX_NOTICES;

/** Matches an action (RFC 3464 section 2.3.3), and words that programs write in the place of one. */
const ACTION = /^(failed|delayed|delivered|relayed|expanded|failure|error|expired)\b/i;
/** Words that stand for a failure: OpenSMTPD writes `error`; `expired` says that the reporting server has given up. */
const FAILURES: ReadonlySet<string> = new Set(['failed', 'failure', 'error', 'expired']);
/** Fields that only the group of a recipient has. */
const RECIPIENT_FIELDS = new Set(['final-recipient', 'original-recipient', 'x-actual-recipient']);

/** Matches the indentation of a field of a report, in a text that quotes it. */
const INDENTED =
  /^[ \t]{1,40}(?=(?:final-recipient|original-recipient|action|status|diagnostic-code|remote-mta)[ \t]*:)/gim;

/**
 * Returns what a text says that has the fields of a report in it: some programs send no machine-readable part, and some gateways turn it
 * into text or spoil the boundaries around it.
 */
function readQuotedStatusReport(text: string, form: Notice['form']): Notice[] {
  return readStatusReport(text.replace(INDENTED, '')).map((notice) => ({ ...notice, form }));
}

/** Returns what the report says about each recipient. `text` has one character for each octet, and LF line ends. */
function readStatusReport(text: string): Notice[] {
  const notices: Notice[] = [];
  // Groups of fields stand apart by empty lines, the first of which is about the message (RFC 3464 section 2.1).
  for (const group of text.split(/\n[ \t]*\n+/, MAX_GROUPS)) {
    const fields = readHeader(group);
    const notice = fields.some(({ name }) => RECIPIENT_FIELDS.has(name)) ? readGroup(fields) : undefined;
    if (notice) notices.push(notice);
    if (notices.length === MAX_NOTICES) break;
  }
  return notices;
}

function readGroup(fields: readonly HeaderField[]): Notice | undefined {
  const value = (name: string) => findValue(fields, name);
  const status = findStatus(value('status') ?? '');
  const action = actionOf(value('action'), status);
  if (action === undefined) return undefined;
  return {
    form: 'structured',
    action,
    status,
    diagnosticCode: diagnosticOf(value('diagnostic-code')),
    explanation: null,
    finalRecipient: typedAddress(value('final-recipient')) ?? typedAddress(value('x-actual-recipient')),
    originalRecipient: typedAddress(value('original-recipient')),
    remoteMta: nameOf(value('remote-mta')),
    willRetryUntil: parseDate(value('will-retry-until') ?? ''),
  };
}

/** A report without the action is about a failure when its status is a permanent one. */
function actionOf(value: string | undefined, status: string | null): NoticeAction | undefined {
  const named = ACTION.exec(value ?? '')?.[1]?.toLowerCase();
  if (named !== undefined) return FAILURES.has(named) ? 'failed' : (named as NoticeAction);
  return value === undefined && status?.startsWith('5.') ? 'failed' : undefined;
}

/** Returns the text after the type, such as `smtp;` or `X-Postfix;` (RFC 3464 section 2.3.6). */
function diagnosticOf(value: string | undefined): string | null {
  return value === undefined ? null : cleanDiagnostic(value.replace(/^[A-Za-z0-9-]{1,40}\s*;/, ''));
}

/** Returns the name of a field such as `dns; mx.example.com (192.0.2.1)`. */
function nameOf(value: string | undefined): string | null {
  return /^[A-Za-z0-9-]{1,40}\s*;\s*([A-Za-z0-9._:[\]-]{1,255})/.exec(value ?? '')?.[1] ?? null;
}
