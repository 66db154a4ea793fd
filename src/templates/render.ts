/**
 * Renders templates (tags.ts): `{{name}}`, which is escaped in HTML, and `{{{name}}}`, which is not. Both may have a fallback,
 * `{{name|there}}`, and a value in a URL is percent-encoded (url-value.ts). `{{#if name}}…{{else}}…{{/if}}` shows one of two parts (blocks.ts).
 * There are no expressions, and a value is never rendered again. Text that is no tag stays unchanged.
 *
 * A rendered subject or header may contain line breaks from a value. The code that writes it into a header refuses or
 * removes them after rendering, never before, so that a value cannot start a header of its own.
 */
import { invalid } from '../system/errors.ts';
import { hiddenRanges } from './blocks.ts';
import { type ParsedTemplate, type Placeholder, parseTemplate } from './tags.ts';
import type { Form } from './url-place.ts';
import { urlValue } from './url-value.ts';

export type VariableValue = string | number | boolean | null;

type Values = Readonly<Record<string, VariableValue>>;

/**
 * Maximum length of a rendered text. Without it, a small template with many placeholders and one long value would
 * produce gigabytes.
 */
export const MAX_RENDERED_CHARACTERS = 2 * 1024 * 1024;

/** Maximum length of the subject of an email. A rendered subject is checked again when it is sent. */
export const MAX_SUBJECT_CHARACTERS = 998;

/** Maximum number of characters that escaping for HTML or for a URL makes of one: a character of three bytes in `%XX`. */
export const MAX_ESCAPED_CHARACTERS = 9;

/** Name of the variable that stands for the link to unsubscribe, which is complete and never encoded. */
export const UNSUBSCRIBE_URL = 'unsubscribe_url';

type Rendering = {
  form: Form;
  /** True for mail to many readers, whose values come from contacts. */
  isMarketing: boolean;
};

type Rendered = { text: string; missing: string[] };

/**
 * Renders a text. `missing` are the variables with neither a value nor a fallback where one is shown, which render as an empty string. A
 * null value counts as no value.
 * @throws AppError validation_error beyond `MAX_PLACEHOLDERS` or `MAX_RENDERED_CHARACTERS`
 */
export function renderTemplate(source: string, variables: Values, rendering: Rendering): Rendered {
  return renderParsed(parseTemplate(source, rendering.form), variables, rendering);
}

/**
 * Renders a text that is parsed already, like `renderTemplate`.
 * @throws AppError validation_error beyond `MAX_RENDERED_CHARACTERS`
 */
export function renderParsed(
  { source, placeholders, blocks }: ParsedTemplate,
  variables: Values,
  { form, isMarketing }: Rendering,
): Rendered {
  const missing = new Set<string>();
  const parts: string[] = [];
  let characters = 0;
  const add = (part: string) => {
    characters += part.length;
    if (characters > MAX_RENDERED_CHARACTERS) throw tooLong();
    parts.push(part);
  };
  const hidden = blocks ? hiddenRanges(blocks, (name) => isTrue(variables, name)) : [];
  let end = 0;
  let next = 0;
  /** Adds the source up to a position, without what conditions hide. Returns false when the position itself is hidden. */
  const addUpTo = (position: number): boolean => {
    for (let range = hidden[next]; range && range.from <= position; range = hidden[next]) {
      if (end < range.from) add(source.slice(end, range.from));
      end = Math.max(end, range.to);
      if (range.to > position) return false;
      next++;
    }
    if (end < position) add(source.slice(end, position));
    return true;
  };
  for (const placeholder of placeholders) {
    const { name, fallback, isRaw, from, to } = placeholder;
    if (!addUpTo(from)) continue;
    const given = textOf(variables, name);
    const value = given ?? fallback;
    if (value === undefined) missing.add(name);
    const written = writeValue(value ?? '', placeholder, { isMarketing, isOwn: given === undefined });
    add(form === 'html' && !isRaw ? escapeHtml(written) : written);
    end = to;
  }
  addUpTo(source.length);
  return { text: parts.join(''), missing: [...missing] };
}

function writeValue(
  value: string,
  placeholder: Placeholder,
  options: { isMarketing: boolean; isOwn: boolean },
): string {
  if (placeholder.name === UNSUBSCRIBE_URL) return value;
  return placeholder.place || placeholder.encoding ? urlValue(value, placeholder, options) : value;
}

/** A variable counts as true unless it has no value, or an empty text, false or 0 as its value. */
function isTrue(variables: Values, name: string): boolean {
  const value = givenValue(variables, name);
  return value !== undefined && value !== null && value !== '' && value !== false && value !== 0;
}

/** Inherited properties of objects, such as `constructor`, are not variables. */
function givenValue(variables: Values, name: string): VariableValue | undefined {
  return Object.hasOwn(variables, name) ? variables[name] : undefined;
}

function textOf(variables: Values, name: string): string | undefined {
  const value = givenValue(variables, name);
  if (value === undefined || value === null) return undefined;
  return typeof value === 'number' ? digitsOf(value) : String(value);
}

/** Returns a number without an exponent, as people write it. */
function digitsOf(value: number): string {
  const text = String(value);
  if (!text.includes('e')) return text;
  if (Number.isInteger(value)) return BigInt(value).toString();
  const [, sign = '', digits = '', exponent = 0] = /^(-?)([\d.]+)e-(\d+)$/.exec(text) ?? [];
  return `${sign}0.${'0'.repeat(Number(exponent) - 1)}${digits.replace('.', '')}`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

function tooLong() {
  return invalid('variables', '`variables` make the text longer than 2 MiB');
}
