/** Checks an email by reading its header, its HTML and its text. It fetches nothing, and runs in a thread (checker.ts). */
import type { HeaderField } from '../../mail/message/parse/header-fields.ts';
import { checkHeader } from './check-header.ts';
import { checkHtml, type Links } from './check-html.ts';
import { type Finding, Findings } from './findings.ts';
import { LineCounter } from './lines.ts';

export type CheckInput = {
  /** The header as it is sent. */
  fields: readonly HeaderField[];
  html: string | null;
  text: string | null;
  /** Size of the whole message in bytes. */
  sizeBytes: number;
  isMarketing: boolean;
  /** The link by which this reader of marketing mail unsubscribes, as the texts have it; null when the mail has none. */
  unsubscribeUrl: string | null;
  /** Variables without a value and without a fallback. */
  missingVariables: readonly string[];
};

export type CheckResult = { findings: Finding[]; links: Links };

/** Size of the HTML after which Gmail shows no more. */
const MAX_SHOWN_HTML_BYTES = 102 * 1024;
/** Default maximum of Exchange servers. */
const MAX_COMMON_MESSAGE_BYTES = 10 * 1024 * 1024;
/** Matches placeholders of our own templates, and the common ones of other products. */
const PLACEHOLDERS = /\{\{[^{}\n]{1,80}\}\}|\*\|[A-Z0-9_:]{1,40}\|\*|<%[^%<>\n]{1,80}%>/g;

/** Returns what is found, and the links of the HTML. */
export function checkMessage(input: CheckInput): CheckResult {
  const { fields, html, text, sizeBytes, isMarketing, unsubscribeUrl, missingVariables } = input;
  const findings = new Findings();
  if (sizeBytes > MAX_COMMON_MESSAGE_BYTES) findings.add('message_large');
  checkHeader(findings, { fields, isMarketing });
  const isLinked = unsubscribeUrl !== null && `${html} ${text}`.includes(unsubscribeUrl);
  if (isMarketing && !isLinked) findings.add('unsubscribe_missing');
  for (const name of missingVariables) findings.add('variable_empty', { line: null, text: name });
  const subject = fields.find(({ name }) => name.toLowerCase() === 'subject')?.text ?? '';
  checkPlaceholders(findings, subject, null);
  if (text === null || text.trim() === '') findings.add('text_missing');
  if (html === null) {
    if (text !== null) checkPlaceholders(findings, text, null);
    return { findings: findings.list(), links: { listed: [], omitted: 0 } };
  }
  if (Buffer.byteLength(html) > MAX_SHOWN_HTML_BYTES) findings.add('html_clipped');
  checkPlaceholders(findings, html, 1);
  const links = checkHtml(findings, html, unsubscribeUrl);
  return { findings: findings.list(), links };
}

/** Finds placeholders of a text whose lines are counted from `firstLine`, if they are. */
function checkPlaceholders(findings: Findings, text: string, firstLine: number | null): void {
  const lines = firstLine === null ? undefined : new LineCounter(text, firstLine);
  for (const match of text.matchAll(PLACEHOLDERS))
    findings.add('placeholder_left', { line: lines?.lineOf(match.index) ?? null, text: match[0] });
}
