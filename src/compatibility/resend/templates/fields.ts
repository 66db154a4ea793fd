/**
 * Translates the fields of templates. Resend declares the variables of a template beside its texts; ours are found in the texts, where
 * their fallbacks stand too, as in `{{{NAME|fallback}}}`. The name of a template serves as its alias. There are no drafts here.
 */
import type { Static } from 'typebox';
import { readEach } from '../../../http/json/read-fields.ts';
import { invalid } from '../../../system/errors.ts';
import {
  MAX_SOURCE_BYTES,
  type NewTemplate,
  type templateSchema,
  type templateSummarySchema,
} from '../../../templates/schemas.ts';
import { type Placeholder, placeholdersIn } from '../../../templates/tags.ts';
import { type Fields, isFields, refuseFields } from '../fields.ts';
import { UNSUBSCRIBE_URL, unsubscribeTagFromResend, unsubscribeTagToResend } from '../merge-tags.ts';

export type ShownTemplate = Static<typeof templateSchema>;
type ShownTemplateSummary = Static<typeof templateSummarySchema>;
type Texts = Pick<ShownTemplate, 'subject' | 'html' | 'text'>;

/** Subject of a template that has none at Resend: each email gives its own. */
export const OPEN_SUBJECT = '{{subject}}';
const SUBJECT = 'subject';

const BY_EMAIL = 'of a template is not supported here; give it with each email';

/**
 * Returns the fields of a new template. The schema of the operation checks the values that are passed on.
 * @throws AppError validation_error naming the field
 */
export function newTemplateFrom(given: Fields): Fields {
  const { name, subject = null } = given;
  return { name, ...changeFrom({ ...given, subject }, undefined) };
}

/**
 * Returns the change of a template. `before` has its present texts, which are needed when `changesFallbacks` says so.
 * @throws AppError validation_error naming the field
 */
export function changeFrom(given: Fields, before: Texts | undefined): Fields {
  refuseFields(given, { from: BY_EMAIL, reply_to: BY_EMAIL });
  const fallbacks = readFallbacks(given['variables']);
  const { alias, name = undefined, subject, html, text } = given;
  const ownName = alias ?? name;
  const texts = { subject: subject === null ? OPEN_SUBJECT : subject, html, text };
  const wanted =
    fallbacks.size > 0
      ? { ...(before && textsOf(before)), ...withoutUndefined(texts) }
      : withoutUndefined(texts);
  const translated = Object.entries(wanted).map(([field, source]) => [
    field,
    typeof source === 'string' ? withFallbacks([field, unsubscribeTagFromResend(source)], fallbacks) : source,
  ]);
  return { ...(ownName !== undefined && { name: ownName }), ...Object.fromEntries(translated) };
}

/** True when a change cannot be made without the present texts of the template, into which fallbacks are written. */
export function changesFallbacks({ variables }: Fields): boolean {
  return Array.isArray(variables) && variables.length > 0;
}

function textsOf({ subject, html, text }: Texts): Texts {
  return { subject, html, text };
}

function withoutUndefined(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Returns the fallbacks of the declared variables by their names. */
function readFallbacks(variables: unknown): ReadonlyMap<string, string> {
  if (variables === undefined || variables === null) return new Map();
  if (!Array.isArray(variables)) throw invalid('variables', 'The variables must be a list');
  const read = readEach(variables, (variable: unknown, index) => {
    const item = `variables[${index}]`;
    if (!isFields(variable) || typeof variable['key'] !== 'string')
      throw invalid(item, 'Each variable must be an object with `key` and `type`');
    const { key, fallback_value: fallback = null } = variable;
    return fallback === null ? [] : [[key, readFallback(item, { key, fallback })] as const];
  });
  return new Map(read.flat());
}

function readFallback(item: string, { key, fallback }: { key: string; fallback: unknown }): string {
  const field = `${item}.fallback_value`;
  if (!['string', 'number', 'boolean'].includes(typeof fallback))
    throw invalid(field, `The fallback of the variable ${key} must be a string, a number or a boolean here`);
  const text = String(fallback);
  if (/[{}]/.test(text)) throw invalid(field, `The fallback of the variable ${key} must not contain braces`);
  return text;
}

/**
 * Returns the text with the fallbacks in its tags.
 * @throws AppError validation_error naming the field, before the text becomes larger than a template may be: one fallback may be written
 * into thousands of tags
 */
function withFallbacks(
  source: readonly [field: string, text: string],
  fallbacks: ReadonlyMap<string, string>,
): string {
  const [field, text] = source;
  if (fallbacks.size === 0) return text;
  const parts: string[] = [];
  let end = 0;
  let size = text.length;
  for (const placeholder of placeholdersIn(source)) {
    const fallback = fallbacks.get(placeholder.name);
    if (fallback === undefined) continue;
    const { from, to } = placeholder;
    const tag = tagWith(placeholder, fallback);
    size += tag.length - (to - from);
    if (size > MAX_SOURCE_BYTES)
      throw invalid(field, `\`${field}\` must be at most 1 MiB with its fallbacks`);
    parts.push(text.slice(end, from), tag);
    end = to;
  }
  return parts.join('') + text.slice(end);
}

function tagWith({ name, isRaw, encoding }: Placeholder, fallback: string): string {
  const inside = `${encoding ? `${encoding} ` : ''}${name}|${fallback}`;
  return isRaw ? `{{{${inside}}}}` : `{{${inside}}}`;
}

/** Returns the fields with which a copy of a template is made. */
export function copyOf({ name, subject, html, text }: ShownTemplate): NewTemplate {
  return { name: `${[...name].slice(0, MAX_COPIED_NAME).join('')} (copy)`, subject, html, text };
}

/** A name may have 200 characters, and that of a copy is longer than that of its original. */
const MAX_COPIED_NAME = 190;

/** Returns a template as an item of Resend's list. */
export function showTemplateItem({ id, name, createdAt, updatedAt }: ShownTemplateSummary) {
  return {
    id,
    name,
    alias: name,
    status: 'published',
    published_at: updatedAt,
    created_at: createdAt,
    updated_at: updatedAt,
  };
}

/** Returns a template as Resend shows it. `versionId` names its present content. */
export function showTemplate(template: ShownTemplate, versionId: string) {
  const { subject, html, text } = template;
  return {
    object: 'template',
    ...showTemplateItem(template),
    current_version_id: versionId,
    has_unpublished_versions: false,
    from: null,
    reply_to: null,
    subject: subject === OPEN_SUBJECT ? null : unsubscribeTagToResend(subject),
    html: unsubscribeTagToResend(html),
    text: text === null ? null : unsubscribeTagToResend(text),
    variables: showVariables(template),
  };
}

/** Returns the variables that an email gives. Nobody says of which type they are, so each is shown as a string. */
function showVariables({ subject, variables, createdAt, updatedAt }: ShownTemplate) {
  const isShown = (name: string) =>
    name !== UNSUBSCRIBE_URL && !(name === SUBJECT && subject === OPEN_SUBJECT);
  return variables
    .filter(({ name }) => isShown(name))
    .map(({ name: key, fallback: fallback_value = null }) => ({
      key,
      type: 'string',
      fallback_value,
      created_at: createdAt,
      updated_at: updatedAt,
    }));
}
