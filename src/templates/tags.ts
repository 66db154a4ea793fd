/**
 * Finds the tags of a template: placeholders with a value, the tags of conditions, and tags that nothing understands. A text is parsed once for
 * all readers of a broadcast.
 */
import { AppError, invalid } from '../system/errors.ts';
import { type Block, findBlocks } from './blocks.ts';
import { createPlaceFinder, type Form, type UrlPlace } from './url-place.ts';

/** Pattern of the name of a variable, with its maximum length. */
const NAME = String.raw`[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.-]{0,63}`;
/** A fallback contains no braces, so that the pattern examines each character a bounded number of times. */
const INSIDE = String.raw`\s*(?:(url|raw)\s+)?(${NAME})\s*(?:\|([^{}]*))?`;
const PLACEHOLDER = new RegExp(`\\{\\{\\{${INSIDE}\\}\\}\\}|\\{\\{${INSIDE}\\}\\}`, 'gu');
const CONDITION = new RegExp(`\\{\\{\\s*(?:#if\\s+(${NAME})|(else)|(/if))\\s*\\}\\}`, 'gu');
/** Matches whatever stands in two braces on one line. Only one part repeats, so that the time is bounded for each brace. */
const ANY_TAG = /\{\{\{?[^{}\r\n]{1,200}\}\}/g;

/** Maximum number of placeholders in one text, repetitions included. It keeps rendering within milliseconds. */
export const MAX_PLACEHOLDERS = 10_000;
/** Maximum number of unknown tags that are named. */
const MAX_UNKNOWN_TAGS = 10;

export type Placeholder = {
  name: string;
  fallback: string | undefined;
  /** True for a value in three braces, which is not escaped in HTML. */
  isRaw: boolean;
  /** `url` and `raw` stand before the name, and decide whether the value is percent-encoded. Otherwise the place decides. */
  encoding?: 'url' | 'raw' | undefined;
  /** Place in a URL; undefined elsewhere, and when the form of the text is not known. */
  place?: UrlPlace | undefined;
  /** Start of the placeholder, and the position after its end. */
  from: number;
  to: number;
};

export type ParsedTemplate = {
  source: string;
  placeholders: readonly Placeholder[];
  /** Conditions in the order of their starts. Absent when there are none. */
  blocks?: readonly Block[];
};

/** A text with the request field that contained it, or undefined when the text was stored before. */
export type Source = readonly [field: string | undefined, text: string];

/**
 * Finds the tags of a text of this form.
 * @throws AppError validation_error beyond `MAX_PLACEHOLDERS`
 */
export function parseTemplate(source: string, form: Form): ParsedTemplate {
  const { placeholders, blocks } = tagsIn([undefined, source]);
  const findPlace = createPlaceFinder(source, form);
  for (const placeholder of placeholders) placeholder.place = findPlace(placeholder);
  return { source, placeholders, ...(blocks.length > 0 && { blocks }) };
}

/**
 * Returns the placeholders of a text, without their places in URLs.
 * @throws AppError validation_error beyond `MAX_PLACEHOLDERS`, naming the field
 */
export function placeholdersIn(source: Source): Placeholder[] {
  return tagsIn(source).placeholders;
}

type Variable = { name: string; fallback?: string };

/**
 * Returns each variable once, in order of appearance, with its first fallback. The names of conditions are variables too.
 * @throws AppError validation_error beyond `MAX_PLACEHOLDERS`, naming the field
 */
export function findVariables(sources: readonly Source[]): Variable[] {
  const fallbacks = new Map<string, string | undefined>();
  for (const source of sources) {
    for (const { name, fallback } of usesIn(source)) fallbacks.set(name, fallbacks.get(name) ?? fallback);
  }
  return Array.from(fallbacks, ([name, fallback]) => ({ name, ...(fallback !== undefined && { fallback }) }));
}

/**
 * Returns every use of a variable in a text: the placeholders and the conditions, in order.
 * @throws AppError validation_error beyond `MAX_PLACEHOLDERS`, naming the field
 */
export function usesIn(source: Source): Pick<Placeholder, 'name' | 'fallback' | 'from'>[] {
  const { placeholders, blocks } = tagsIn(source);
  if (blocks.length === 0) return placeholders;
  const conditions = blocks.map(({ name, from }) => ({ name, from, fallback: undefined }));
  return [...placeholders, ...conditions].toSorted((a, b) => a.from - b.from);
}

/** Returns the first tags that nothing understands, each once and as it is written. They stay in the text when it is sent. */
export function findUnknownTags(text: string): string[] {
  if (!text.includes('{{')) return [];
  const { placeholders, blocks } = tagsIn([undefined, text]);
  const known = new Set([...placeholders, ...blocks.flatMap(({ tags }) => tags)].map(({ from }) => from));
  const unknown = new Set<string>();
  for (const { 0: tag, index } of text.matchAll(ANY_TAG)) {
    const isKnown = known.has(index) || (tag.startsWith('{{{') && known.has(index + 1));
    if (!isKnown && unknown.size < MAX_UNKNOWN_TAGS) unknown.add(tag);
  }
  return [...unknown];
}

function tagsIn([field, text]: Source): { placeholders: Placeholder[]; blocks: readonly Block[] } {
  const blocks = text.includes('/if') ? findBlocks(text.matchAll(CONDITION)) : [];
  // Outside conditions, `else` is a variable like any other.
  const tags = new Set(blocks.flatMap((block) => block.tags.map(({ from }) => from)));
  const placeholders: Placeholder[] = [];
  for (const match of text.matchAll(PLACEHOLDER)) {
    if (tags.has(match.index)) continue;
    if (placeholders.length + tags.size >= MAX_PLACEHOLDERS) throw limitReached(field);
    placeholders.push(asPlaceholder(match));
  }
  return { placeholders, blocks };
}

function asPlaceholder(match: RegExpExecArray): Placeholder {
  const [whole, rawEncoding, rawName, rawFallback, encoding, name = '', fallback] = match;
  const isRaw = rawName !== undefined;
  return {
    name: rawName ?? name,
    fallback: (isRaw ? rawFallback : fallback)?.trim(),
    isRaw,
    encoding: (isRaw ? rawEncoding : encoding) as Placeholder['encoding'],
    from: match.index,
    to: match.index + whole.length,
  };
}

function limitReached(field: string | undefined): AppError {
  const message = `A text may contain at most ${MAX_PLACEHOLDERS} placeholders`;
  return field === undefined ? new AppError('validation_error', message) : invalid(field, message);
}
