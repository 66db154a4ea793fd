/** Reads the machine-readable part of a bounce (RFC 3464 section 2, RFC 6533 section 4). */
import { parseDate } from '../mime/date.ts';
import { findValue, type HeaderField, readHeader } from '../mime/header.ts';
import { typedAddress } from './address.ts';
import { cleanDiagnostic, findStatus, MAX_NOTICES, type Notice, type NoticeAction } from './notice.ts';

/** Maximum number of groups that are read. Our own limit: there is one for the message and one for each recipient. */
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
export function readQuotedStatusReport(text: string, form: Notice['form']): Notice[] {
  return readStatusReport(text.replace(INDENTED, '')).map((notice) => ({ ...notice, form }));
}

/** Returns what the report says about each recipient. `text` has one character for each octet, and LF line ends. */
export function readStatusReport(text: string): Notice[] {
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
