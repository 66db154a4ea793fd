/** Checks the header of an email: what receivers require, and what filters take for signs of spam. */
import type { HeaderField } from '../../mail/message/parse/header-fields.ts';
import type { Findings } from './findings.ts';

type Checked = { fields: readonly HeaderField[]; isMarketing: boolean };

/** Length of a subject that no list of emails shows whole. */
const MAX_SUBJECT_CHARACTERS = 100;
/** Number of letters from which capitals are no abbreviation. */
const MIN_CAPITALS = 10;
const NO_REPLY = /^(?:no|do-?not)[-_.]?reply\b/i;

/** Checks the fields as they are sent. */
export function checkHeader(findings: Findings, { fields, isMarketing }: Checked): void {
  const find = (name: string) => fields.find((field) => field.name.toLowerCase() === name)?.text;
  checkSubject(findings, find('subject') ?? '', find('in-reply-to') ?? find('references'));
  checkSender(findings, find('from') ?? '');
  if (find('message-id') === undefined) findings.add('message_id_missing');
  if (find('dkim-signature') === undefined) findings.add('dkim_missing');
  const urgency = [find('importance'), find('priority'), find('x-priority')].find((value) =>
    /^\s*(?:high|urgent|1)\b/i.test(value ?? ''),
  );
  if (urgency !== undefined) findings.add('priority_high', { line: null, text: urgency });
  if (!isMarketing) return;
  if (find('list-unsubscribe') === undefined) findings.add('list_unsubscribe_missing');
  if (find('list-unsubscribe-post') === undefined) findings.add('list_unsubscribe_post_missing');
}

function checkSubject(findings: Findings, subject: string, answered: string | undefined): void {
  const place = { line: null, text: subject };
  const letters = subject.replace(/\P{L}/gu, '');
  if (subject.trim() === '') findings.add('subject_missing');
  if (subject.length > MAX_SUBJECT_CHARACTERS) findings.add('subject_long', place);
  if (letters.length >= MIN_CAPITALS && !/\p{Ll}|\p{Lo}/u.test(letters))
    findings.add('subject_capitals', place);
  if (/[!?]{2}|[$€£]{2}/.test(subject)) findings.add('subject_punctuation', place);
  if (answered === undefined && /^(?:re|fwd?|aw|wg)\s*:/i.test(subject))
    findings.add('subject_false_reply', place);
}

function checkSender(findings: Findings, from: string): void {
  const [, name = '', address = from] = /^(.*)<([^<>]*)>\s*$/.exec(from) ?? [];
  if (NO_REPLY.test(address.trim())) findings.add('from_no_reply', { line: null, text: address });
  if (/\S@\S/.test(name)) findings.add('from_name_address', { line: null, text: name.trim() });
}
