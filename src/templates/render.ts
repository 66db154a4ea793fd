/**
 * Renders placeholders: `{{name}}`, which is escaped in HTML, and `{{{name}}}`, which is raw. Both may have a
 * fallback, `{{name|there}}`. There are no expressions, and a value is never rendered again. Text that is not a
 * placeholder stays unchanged.
 *
 * A rendered subject or header may contain line breaks from a value. The code that writes it into a header refuses or
 * removes them after rendering, never before, so that a value cannot start a header of its own.
 */
import { AppError, invalid } from '../system/errors.ts';

export type VariableValue = string | number | boolean | null;

type Variable = { name: string; fallback?: string };

/** Pattern of the name of a variable, with its maximum length. */
const NAME = String.raw`[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.-]{0,63}`;
/** A fallback contains no braces, so that the pattern examines each character a bounded number of times. */
const INSIDE = String.raw`\s*(${NAME})\s*(?:\|([^{}]*))?`;
const PLACEHOLDER = new RegExp(`\\{\\{\\{${INSIDE}\\}\\}\\}|\\{\\{${INSIDE}\\}\\}`, 'gu');

/**
 * Maximum length of a rendered text. Without it, a small template with many placeholders and one long value would
 * produce gigabytes. Our own limit.
 */
export const MAX_RENDERED_CHARACTERS = 2 * 1024 * 1024;

/** Maximum length of the subject of an email. A rendered subject is checked again when it is sent. Our own limit. */
export const MAX_SUBJECT_CHARACTERS = 998;

/** Maximum number of placeholders in one text, repetitions included. It keeps rendering within milliseconds. */
export const MAX_PLACEHOLDERS = 10_000;

/** A text and its placeholders. It is parsed once for all readers of a broadcast. */
export type ParsedTemplate = { source: string; placeholders: readonly Placeholder[] };

/**
 * Finds the placeholders of a text.
 * @throws AppError validation_error beyond `MAX_PLACEHOLDERS`
 */
export function parseTemplate(source: string): ParsedTemplate {
  return { source, placeholders: [...placeholdersIn([undefined, source])] };
}

/**
 * Renders a text. `missing` are the variables with neither a value nor a fallback, which render as an empty string. A
 * null value counts as no value.
 * @throws AppError validation_error beyond `MAX_PLACEHOLDERS` or `MAX_RENDERED_CHARACTERS`
 */
export function renderTemplate(
  source: string,
  variables: Readonly<Record<string, VariableValue>>,
  form: 'html' | 'text',
): Rendered {
  return renderParsed(parseTemplate(source), variables, form);
}

type Rendered = { text: string; missing: string[] };

/**
 * Renders a text that is parsed already, like `renderTemplate`.
 * @throws AppError validation_error beyond `MAX_RENDERED_CHARACTERS`
 */
export function renderParsed(
  { source, placeholders }: ParsedTemplate,
  variables: Readonly<Record<string, VariableValue>>,
  form: 'html' | 'text',
): Rendered {
  const missing = new Set<string>();
  const parts: string[] = [];
  let characters = 0;
  const add = (part: string) => {
    characters += part.length;
    if (characters > MAX_RENDERED_CHARACTERS) throw tooLong();
    parts.push(part);
  };
  let end = 0;
  for (const { name, fallback, isRaw, from, to } of placeholders) {
    const value = textOf(variables, name) ?? fallback;
    if (value === undefined) missing.add(name);
    add(source.slice(end, from));
    add(form === 'html' && !isRaw ? escapeHtml(value ?? '') : (value ?? ''));
    end = to;
  }
  add(source.slice(end));
  return { text: parts.join(''), missing: [...missing] };
}

/** A text with the request field that contained it, or undefined when the text was stored before. */
export type Source = readonly [field: string | undefined, text: string];

/**
 * Returns each variable once, in order of appearance, with its first fallback.
 * @throws AppError validation_error beyond `MAX_PLACEHOLDERS`, naming the field
 */
export function findVariables(sources: readonly Source[]): Variable[] {
  const fallbacks = new Map<string, string | undefined>();
  for (const source of sources) {
    for (const { name, fallback } of placeholdersIn(source)) {
      fallbacks.set(name, fallbacks.get(name) ?? fallback);
    }
  }
  return Array.from(fallbacks, ([name, fallback]) => ({ name, ...(fallback !== undefined && { fallback }) }));
}

export type Placeholder = {
  name: string;
  fallback: string | undefined;
  isRaw: boolean;
  /** Start of the placeholder, and the position after its end. */
  from: number;
  to: number;
};

/**
 * Yields the placeholders of a text.
 * @throws AppError validation_error beyond `MAX_PLACEHOLDERS`, naming the field
 */
export function* placeholdersIn([field, text]: Source): Generator<Placeholder> {
  let count = 0;
  for (const match of text.matchAll(PLACEHOLDER)) {
    if (++count > MAX_PLACEHOLDERS) throw limitReached(field);
    const [whole, rawName, rawFallback, name = '', fallback] = match;
    const isRaw = rawName !== undefined;
    yield {
      name: rawName ?? name,
      fallback: (isRaw ? rawFallback : fallback)?.trim(),
      isRaw,
      from: match.index,
      to: match.index + whole.length,
    };
  }
}

/** Returns the text of a variable. Inherited properties of objects, such as `constructor`, are not variables. */
function textOf(variables: Readonly<Record<string, VariableValue>>, name: string): string | undefined {
  const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
  return value === undefined || value === null ? undefined : String(value);
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

function limitReached(field: string | undefined): AppError {
  const message = `A text may contain at most ${MAX_PLACEHOLDERS} placeholders`;
  return field === undefined ? new AppError('validation_error', message) : invalid(field, message);
}
