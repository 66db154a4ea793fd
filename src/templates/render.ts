/**
 * Placeholders: `{{name}}`, escaped in HTML, and `{{{name}}}`, raw; both may carry a fallback, `{{name|there}}`. There
 * are no expressions, a value is never rendered again, and what is not a placeholder stays as it stands.
 *
 * A rendered subject or header may hold line breaks that came with a value: whoever writes it into a header refuses or
 * removes them after rendering, never before (security.md 2.43).
 */
import { AppError, invalid } from '../system/errors.ts';

export type VariableValue = string | number | boolean | null;

export type Variable = { name: string; fallback?: string };

/** Longest name of a variable (decisions.md, property keys). */
const NAME = String.raw`[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.-]{0,63}`;
/** A fallback holds no braces, so that every character is looked at a bounded number of times. */
const INSIDE = String.raw`\s*(${NAME})\s*(?:\|([^{}]*))?`;
const PLACEHOLDER = new RegExp(`\\{\\{\\{${INSIDE}\\}\\}\\}|\\{\\{${INSIDE}\\}\\}`, 'gu');

/**
 * api.md 1.2: what the text of an email may weigh. Many placeholders and one long value would make gigabytes of a small
 * template.
 */
export const MAX_RENDERED_CHARACTERS = 2 * 1024 * 1024;

/** Of one text, repetitions counted: what keeps rendering at milliseconds. */
export const MAX_PLACEHOLDERS = 10_000;

/**
 * `missing`: the variables without value and fallback, which render empty (decisions.md 2). A value of null is none.
 * @throws AppError validation_error beyond `MAX_PLACEHOLDERS` or `MAX_RENDERED_CHARACTERS`
 */
export function renderTemplate(
  source: string,
  variables: Readonly<Record<string, VariableValue>>,
  form: 'html' | 'text',
): { text: string; missing: string[] } {
  const missing = new Set<string>();
  const parts: string[] = [];
  let characters = 0;
  const add = (part: string) => {
    characters += part.length;
    if (characters > MAX_RENDERED_CHARACTERS) throw tooLong();
    parts.push(part);
  };
  let end = 0;
  for (const { name, fallback, isRaw, from, to } of placeholdersIn([undefined, source])) {
    const value = textOf(variables, name) ?? fallback;
    if (value === undefined) missing.add(name);
    add(source.slice(end, from));
    add(form === 'html' && !isRaw ? escapeHtml(value ?? '') : (value ?? ''));
    end = to;
  }
  add(source.slice(end));
  return { text: parts.join(''), missing: [...missing] };
}

/** A text with the field of a request that brought it, or none. */
export type Source = readonly [field: string | undefined, text: string];

/**
 * Each variable once, in order of appearance, with the first fallback it is given.
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
  /** Where it stands, and where the text goes on. */
  from: number;
  to: number;
};

/** @throws AppError validation_error beyond `MAX_PLACEHOLDERS`, naming the field */
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

/** What every object inherits (`constructor`) is no variable. */
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
  const message = `A text may hold ${MAX_PLACEHOLDERS} placeholders`;
  return field === undefined ? new AppError('validation_error', message) : invalid(field, message);
}
