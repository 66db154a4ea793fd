/**
 * Checks the content of a broadcast in the form in which it would be sent. Each recipient must get the unsubscribe
 * link (specification 4.5), and the data of a contact must not become markup.
 */
import type { BroadcastRow, TemplateRow } from '../db/marketing-tables.ts';
import { invalid } from '../system/errors.ts';
import { checkSource, checkVariables } from '../templates/schemas.ts';
import { type Placeholder, placeholdersIn, usesIn } from '../templates/tags.ts';
import type { BroadcastChange } from './schemas.ts';

const UNSUBSCRIBE_URL = 'unsubscribe_url';
const UNSUBSCRIBE_TAG = `{{{${UNSUBSCRIBE_URL}}}}`;

export type ContentFields = Pick<BroadcastRow, 'subject' | 'html' | 'text'> & { templateId: string | null };

/**
 * Checks that a broadcast has either HTML or a template, and text that a message can carry. `given` holds the fields
 * of the request, which errors name.
 * @throws AppError validation_error naming the field
 */
export function checkOwnContent({ subject, html, text, templateId }: ContentFields, given: BroadcastChange) {
  if (subject.trim() === '') throw invalid('subject', '`subject` must not be empty');
  if (html === null && templateId === null)
    throw invalid('html', '`html` is required when `templateId` is absent');
  if (html !== null && templateId !== null) {
    const field = typeof given.html === 'string' ? 'html' : 'templateId';
    throw invalid(field, '`html` cannot be combined with `templateId`; clear one of them with null');
  }
  if (html !== null) checkSource('html', html);
  if (text !== null) checkSource('text', text);
}

/**
 * Checks the content together with the text of the template, if it has one.
 * @throws AppError validation_error naming the field
 */
export function checkSentContent(
  { subject, html, text }: ContentFields,
  template: TemplateRow | undefined,
  given: BroadcastChange,
): void {
  const subjectPart = readPart('subject', subject, 'subject');
  const htmlPart =
    html === null
      ? readPart('templateId', template?.html ?? '', 'the HTML of the template')
      : readPart('html', html, '`html`');
  const textPart =
    text === null
      ? readPart('templateId', template?.text ?? '', 'the text of the template')
      : readPart('text', text, '`text`');
  const blamed = (['html', 'templateId', 'text', 'subject'] as const).find((field) => given[field]);
  const all = [subjectPart, htmlPart, textPart].flatMap(({ names }) => names);
  checkVariables(blamed ?? htmlPart.field, new Set(all));
  requireUnsubscribeTag(htmlPart);
  refuseOtherRaw(htmlPart);
  const hasText = (text ?? template?.text ?? null) !== null;
  if (hasText) requireUnsubscribeTag(textPart);
}

/** One text of a broadcast, with the field that contains it. */
type Part = { field: string; phrase: string; placeholders: readonly Placeholder[]; names: readonly string[] };

/**
 * Returns the placeholders of a text.
 * @throws AppError validation_error naming the field, for too many placeholders
 */
function readPart(field: string, source: string, phrase: string): Part {
  return {
    field,
    phrase,
    placeholders: placeholdersIn([field, source]),
    names: usesIn([field, source]).map(({ name }) => name),
  };
}

function requireUnsubscribeTag({ field, phrase, placeholders }: Part): void {
  if (placeholders.some(({ name, isRaw }) => isRaw && name === UNSUBSCRIBE_URL)) return;
  throw invalid(field, `${phrase} must contain ${UNSUBSCRIBE_TAG}, in three braces`);
}

/**
 * Refuses raw placeholders other than the unsubscribe link. They are refused and not escaped, because escaping would
 * show markup as text to every recipient. Text and subject are never escaped, so there a raw placeholder makes no
 * difference.
 */
function refuseOtherRaw({ field, placeholders }: Part): void {
  const other = placeholders.find(({ name, isRaw }) => isRaw && name !== UNSUBSCRIBE_URL);
  if (other === undefined) return;
  throw invalid(
    field,
    `In three braces, the only tag allowed is ${UNSUBSCRIBE_TAG}; write {{${other.name}}} instead`,
  );
}
