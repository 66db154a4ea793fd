/**
 * The filter of a segment (specification 4.6, api.md 1.6): a tree of rules, checked and brought into the form it is kept
 * and shown in. What a rule means is said here, and done in condition.ts.
 *
 * - A contact is in the segment when the tree holds for it: `and` when all of its rules do, `or` when one does.
 * - A property that is missing or null, and a name that is null, answers to `not_exists`, and to `ne`, `not_contains` and
 *   `not_in`, each of which holds exactly when its opposite does not.
 * - A value is numeric when it is a JSON number, or a string that is a plain decimal number: `12`, `-12.50`; not `1e3`,
 *   nor `007`, nor what has more than 15 digits, which are codes. Two numeric values compare as numbers.
 * - Any two strings that are not both numeric compare as strings, in the order of Unicode, and without case (`foldCase`).
 * - A boolean equals the same boolean alone, and has no order. Nothing is turned into anything else: `true` is not `"true"`.
 * - `contains`, `starts_with` and `ends_with` look into strings, character for character: `%`, `_` and `\` mean themselves.
 * - `in` is `eq` for one of the values.
 * - `before`, `after` (both exclusive) and `within_days` (up to now, both ends included) ask about `createdAt`, or about
 *   a property that is a string and holds an ISO 8601 time with an offset; what holds none does not answer.
 * - `topics.<id>` is what the contact chose, or else what the topic's default says. A topic that was deleted since is
 *   neither opted into nor out of: `eq` never holds.
 */

import { PLAIN_TEXT } from '../../http/plain-text.ts';
import { parseTimestamp } from '../../system/clock.ts';
import { type AppError, invalid, readAll, readEach } from '../../system/errors.ts';
import { MAX_VALUE_CHARACTERS } from '../contacts/fields.ts';
import {
  COMPARISONS,
  COMPARISONS_OF,
  type Comparison,
  type Field,
  readField,
  suggestField,
} from './field.ts';

/** api.md 1.6. */
export const MAX_DEPTH = 5;
export const MAX_RULES = 50;
/** Each is a look-up more for every contact. */
export const MAX_VALUES = 100;
/** Ten years. */
export const MAX_DAYS = 3_650;
/** As many as the properties of a contact may take; segments are listed by the hundred. */
export const MAX_FILTER_BYTES = 32 * 1024;

export type Scalar = string | number | boolean;
export type Rule = { field: string; cmp: Comparison; value?: Scalar | Scalar[] };
export type Filter = { op: 'and' | 'or'; rules: (Rule | Filter)[] };

/** A rule or a group as it was sent, whatever it holds. */
export type GivenItem = { field?: unknown; cmp?: unknown; value?: unknown; op?: unknown; rules?: unknown };

/** @throws AppError validation_error naming the place: `filter.rules[0].value` */
export function readFilter(given: GivenItem): Filter {
  const filter = readGroup('filter', given, 1, { rules: 0 });
  if (Buffer.byteLength(JSON.stringify(filter)) > MAX_FILTER_BYTES)
    throw invalid('filter', `\`filter\` must take at most ${MAX_FILTER_BYTES / 1024} KiB of JSON`);
  return filter;
}

export function isGroup(item: Rule | Filter): item is Filter {
  return 'rules' in item;
}

/** The topics that a filter asks about, each with its place. */
export function topicsOf(filter: Filter, path = 'filter'): { id: string; path: string }[] {
  return filter.rules.flatMap((item, index) => {
    const place = `${path}.rules[${index}]`;
    if (isGroup(item)) return topicsOf(item, place);
    const field = readField(item.field);
    return field?.kind === 'topic' ? [{ id: field.topicId, path: `${place}.field` }] : [];
  });
}

function readGroup(path: string, { op, rules }: GivenItem, depth: number, seen: { rules: number }): Filter {
  if (depth > MAX_DEPTH) throw invalid(path, `\`${path}\` is nested deeper than ${MAX_DEPTH} levels`);
  return readAll({
    op: () => readOperator(`${path}.op`, op),
    rules: () =>
      readEach(readItems(`${path}.rules`, rules), (item, index) => {
        const place = `${path}.rules[${index}]`;
        if (isGivenGroup(place, item)) return readGroup(place, item, depth + 1, seen);
        seen.rules += 1;
        if (seen.rules > MAX_RULES)
          throw invalid('filter', `\`filter\` must have at most ${MAX_RULES} rules in all`);
        return readRule(place, item);
      }),
  });
}

function isGivenGroup(path: string, { op, rules, field, cmp }: GivenItem): boolean {
  const isGroup = op !== undefined || rules !== undefined;
  if (isGroup && (field !== undefined || cmp !== undefined))
    throw invalid(path, `\`${path}\` must be either a rule or a group of rules`);
  return isGroup;
}

function readOperator(path: string, op: unknown): Filter['op'] {
  if (op === undefined) throw isRequired(path);
  const name = typeof op === 'string' ? op.toLowerCase() : undefined;
  if (name === 'and' || name === 'or') return name;
  throw invalid(path, `\`${path}\` must be one of and, or`);
}

function readItems(path: string, rules: unknown): readonly GivenItem[] {
  if (rules === undefined) throw isRequired(path);
  if (!Array.isArray(rules)) throw invalid(path, `\`${path}\` must be a list`);
  if (rules.length === 0) throw invalid(path, `\`${path}\` must not be empty`);
  return readEach(rules as readonly unknown[], (item, index) => {
    if (typeof item === 'object' && item !== null && !Array.isArray(item)) return item;
    throw invalid(`${path}[${index}]`, `\`${path}[${index}]\` must be a rule or a group of rules`);
  });
}

function readRule(path: string, { field: name, cmp, value }: GivenItem): Rule {
  if (name === undefined) throw isRequired(`${path}.field`);
  const field = typeof name === 'string' ? readField(name) : undefined;
  if (typeof name !== 'string' || !field) throw noField(`${path}.field`, name);
  if (cmp === undefined) throw isRequired(`${path}.cmp`);
  const allowed = COMPARISONS_OF[field.kind];
  const comparison = COMPARISONS.find((known) => known === cmp);
  if (!comparison || !allowed.includes(comparison))
    throw invalid(`${path}.cmp`, `\`${path}.cmp\` must be one of ${allowed.join(', ')} for this field`);
  return { field: name, cmp: comparison, ...readValue(`${path}.value`, value, comparison, field) };
}

function noField(path: string, name: unknown): AppError {
  const meant = typeof name === 'string' ? suggestField(name) : undefined;
  return invalid(
    path,
    `\`${path}\` must be email, firstName, lastName, unsubscribed, createdAt, topics.<id> or ` +
      'properties.<key>, the key being 1 to 64 letters, digits and underscores' +
      (meant === undefined ? '' : `; did you mean \`${meant}\`?`),
  );
}

function readValue(path: string, value: unknown, cmp: Comparison, field: Field): Pick<Rule, 'value'> {
  if (cmp === 'exists' || cmp === 'not_exists') {
    if (value === undefined || value === null) return {};
    throw invalid(path, `\`${path}\` must be left out: ${cmp} takes no value`);
  }
  if (value === undefined || value === null) throw isRequired(path);
  switch (cmp) {
    case 'in':
    case 'not_in':
      return { value: readList(path, value, field) };
    case 'contains':
    case 'not_contains':
    case 'starts_with':
    case 'ends_with':
      if (value === '') throw invalid(path, `\`${path}\` must not be empty`);
      return { value: readScalar(path, value, ['string']) };
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return { value: readScalar(path, value, field.kind === 'text' ? ['string'] : ['string', 'number']) };
    case 'eq':
    case 'ne':
      return { value: readScalar(path, value, COMPARABLE[field.kind]) };
    case 'before':
    case 'after':
      return { value: readTime(path, value) };
    case 'within_days':
      return { value: readDays(path, value) };
  }
}

type ScalarType = 'string' | 'number' | 'boolean';

const COMPARABLE: Readonly<Record<Field['kind'], readonly ScalarType[]>> = {
  text: ['string'],
  flag: ['boolean'],
  topic: ['boolean'],
  time: [],
  property: ['string', 'number', 'boolean'],
};

function readList(path: string, value: unknown, { kind }: Field): Scalar[] {
  if (!Array.isArray(value) || value.length < 1 || value.length > MAX_VALUES)
    throw invalid(path, `\`${path}\` must be a list of 1 to ${MAX_VALUES} values`);
  return value.map((item: unknown, index) => readScalar(`${path}[${index}]`, item, COMPARABLE[kind]));
}

/** No text of a contact holds anything else. */
const TEXT = new RegExp(PLAIN_TEXT, 'u');

function readScalar(path: string, value: unknown, types: readonly ScalarType[]): Scalar {
  if (typeof value === 'string' && types.includes('string')) return readText(path, value);
  if (typeof value === 'boolean' && types.includes('boolean')) return value;
  if (typeof value === 'number' && types.includes('number')) return readNumber(path, value);
  throw invalid(path, `\`${path}\` must be ${types.map((type) => `a ${type}`).join(' or ')}`);
}

function readText(path: string, text: string): string {
  if (!TEXT.test(text))
    throw invalid(path, `\`${path}\` must be well-formed, without line breaks and control characters`);
  // Units of UTF-16: never more characters than a property can hold.
  if (text.length > 2 * MAX_VALUE_CHARACTERS || [...text].length > MAX_VALUE_CHARACTERS)
    throw invalid(path, `\`${path}\` must be at most ${MAX_VALUE_CHARACTERS} characters`);
  return text;
}

/** As of a property: a JSON number is a double (RFC 8259 6), and a larger integer would have lost digits. */
function readNumber(path: string, value: number): number {
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)))
    throw invalid(path, `\`${path}\` must be a number that keeps its digits; send larger ones as strings`);
  return value === 0 ? 0 : value;
}

function readTime(path: string, value: unknown): string {
  if (typeof value === 'string' && parseTimestamp(value) !== undefined) return value;
  throw invalid(path, `\`${path}\` must be an ISO 8601 time with an offset, such as 2026-01-31T12:00:00Z`);
}

function readDays(path: string, value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_DAYS) return value;
  throw invalid(path, `\`${path}\` must be a whole number of days, 1 to ${MAX_DAYS}`);
}

function isRequired(path: string) {
  return invalid(path, `\`${path}\` is required`);
}
