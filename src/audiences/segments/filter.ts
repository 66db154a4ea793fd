/**
 * Checks the filter of a segment (specification 4.6), a tree of rules, and brings it into the form that is stored and
 * shown. This comment defines the meaning of a filter; condition.ts turns it into SQL.
 *
 * - A contact is in the segment when the tree holds for it. `and` holds when all of its rules do, `or` when at least one
 *   does.
 * - A property that is missing or null, and a name that is null, matches `not_exists`, `ne`, `not_contains` and `not_in`.
 *   Each of these, and `not_within_days`, holds exactly when its opposite does not.
 * - A value is numeric when it is a JSON number, or a string that is a plain decimal number such as `12` or `-12.50`. Text
 *   such as `1e3`, `007`, or more than 15 digits is a code, not a number. Two numeric values compare as numbers.
 * - Two strings that are not both numeric compare as strings, in the order of Unicode and without case (`foldCase`).
 * - A boolean equals only the same boolean, and has no order. Values are never converted: `true` is not `"true"`.
 * - `contains`, `starts_with` and `ends_with` compare characters literally: `%`, `_` and `\` mean themselves.
 * - `in` holds when `eq` holds for one of the values.
 * - `before` and `after` (both exclusive) and `within_days` (up to now, both ends included) test `createdAt`, or a property
 *   that is a string with an ISO 8601 time and an offset, or with a plain date, which begins at midnight in UTC. A plain date in the
 *   filter is a whole day, of which nothing is before or after it. They never hold for other values.
 * - `delivered`, `opened` and `clicked` are about the copies of broadcasts. `eq` holds when the contact's copy of the broadcast
 *   with this id was delivered, opened or clicked; `within_days` when the copy of any broadcast was, so many days ago at most.
 *   Opens and clicks by machines do not count, and a click is an open as well, because images may be blocked. `eq` never
 *   holds for a broadcast that was deleted, or whose recipients retention has deleted.
 * - `topics.<id>` is the choice of the contact, or the default of the topic when it made none. `eq` never holds for a topic
 *   that was deleted.
 */

import { PLAIN_TEXT } from '../../http/json/plain-text.ts';
import { readAll, readEach } from '../../http/json/read-fields.ts';
import { parseDateOrTime } from '../../system/clock.ts';
import { type AppError, invalid } from '../../system/errors.ts';
import { MAX_VALUE_CHARACTERS } from '../contacts/fields.ts';
import {
  COLUMN_FIELDS,
  COMPARISONS,
  COMPARISONS_OF,
  type Comparison,
  type Field,
  readField,
  suggestField,
} from './field.ts';

/** Maximum number of levels of groups. */
export const MAX_DEPTH = 5;
/** Maximum number of rules in all groups together. */
export const MAX_RULES = 50;
/** Maximum number of values of `in` and `not_in`: each value is one more look-up per contact. */
export const MAX_VALUES = 100;
/** Maximum number of days of `within_days`: ten years. */
export const MAX_DAYS = 3_650;
/** Maximum size of a filter as JSON. A page of segments has a hundred of them. */
const MAX_FILTER_BYTES = 32 * 1024;

export type Scalar = string | number | boolean;
export type Rule = { field: string; cmp: Comparison; value?: Scalar | Scalar[] };
export type Filter = { op: 'and' | 'or'; rules: (Rule | Filter)[] };

/** A rule or a group as the caller sent it, before any check. */
export type GivenItem = { field?: unknown; cmp?: unknown; value?: unknown; op?: unknown; rules?: unknown };

/**
 * Returns the checked filter.
 * @throws AppError validation_error naming each wrong field, such as `filter.rules[0].value`
 */
export function readFilter(given: GivenItem): Filter {
  const filter = readGroup('filter', given, { depth: 1, seen: { rules: 0 } });
  if (Buffer.byteLength(JSON.stringify(filter)) > MAX_FILTER_BYTES)
    throw invalid('filter', `\`filter\` must take at most ${MAX_FILTER_BYTES / 1024} KiB of JSON`);
  return filter;
}

/** Returns true for a group of rules, and false for a single rule. */
export function isGroup(item: Rule | Filter): item is Filter {
  return 'rules' in item;
}

/** A resource that a filter names, and the path of the name. */
type Reference = { kind: 'topic' | 'broadcast'; id: string; path: string };

/** Returns the topics and broadcasts that a filter names. */
export function referencesOf(filter: Filter, path = 'filter'): Reference[] {
  return filter.rules.flatMap((item, index): Reference[] => {
    const itemPath = `${path}.rules[${index}]`;
    if (isGroup(item)) return referencesOf(item, itemPath);
    const field = readField(item.field);
    if (field?.kind === 'topic') return [{ kind: 'topic', id: field.topicId, path: `${itemPath}.field` }];
    if (field?.kind !== 'activity' || typeof item.value !== 'string') return [];
    return [{ kind: 'broadcast', id: item.value, path: `${itemPath}.value` }];
  });
}

/** The level of a group, and the number of rules that were read before it in the whole filter. */
type Progress = { depth: number; seen: { rules: number } };

function readGroup(path: string, { op, rules }: GivenItem, { depth, seen }: Progress): Filter {
  if (depth > MAX_DEPTH) throw invalid(path, `\`${path}\` is nested deeper than ${MAX_DEPTH} levels`);
  return readAll({
    op: () => readOperator(`${path}.op`, op),
    rules: () =>
      readEach(readItems(`${path}.rules`, rules), (item, index) => {
        const itemPath = `${path}.rules[${index}]`;
        if (isGivenGroup(itemPath, item)) return readGroup(itemPath, item, { depth: depth + 1, seen });
        seen.rules += 1;
        if (seen.rules > MAX_RULES)
          throw invalid('filter', `\`filter\` must have at most ${MAX_RULES} rules in all`);
        return readRule(itemPath, item);
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
  if (typeof name !== 'string' || !field) throw unknownField(`${path}.field`, name);
  if (cmp === undefined) throw isRequired(`${path}.cmp`);
  const allowed = COMPARISONS_OF[field.kind];
  const comparison = COMPARISONS.find((known) => known === cmp);
  if (!comparison || !allowed.includes(comparison))
    throw invalid(`${path}.cmp`, `\`${path}.cmp\` must be one of ${allowed.join(', ')} for this field`);
  return { field: name, cmp: comparison, ...readValue(`${path}.value`, value, { cmp: comparison, field }) };
}

function unknownField(path: string, name: unknown): AppError {
  const meant = typeof name === 'string' ? suggestField(name) : undefined;
  return invalid(
    path,
    `\`${path}\` must be ${COLUMN_FIELDS.join(', ')}, topics.<id> or ` +
      'properties.<key>, the key being 1 to 64 letters, digits and underscores' +
      (meant === undefined ? '' : `; did you mean \`${meant}\`?`),
  );
}

function readValue(
  path: string,
  value: unknown,
  { cmp, field }: { cmp: Comparison; field: Field },
): Pick<Rule, 'value'> {
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
    case 'not_within_days':
      return { value: readDays(path, value) };
  }
}

type ScalarType = 'string' | 'number' | 'boolean';

const COMPARABLE: Readonly<Record<Field['kind'], readonly ScalarType[]>> = {
  text: ['string'],
  flag: ['boolean'],
  topic: ['boolean'],
  time: [],
  activity: ['string'],
  property: ['string', 'number', 'boolean'],
};

function readList(path: string, value: unknown, { kind }: Field): Scalar[] {
  if (!Array.isArray(value) || value.length < 1 || value.length > MAX_VALUES)
    throw invalid(path, `\`${path}\` must be a list of 1 to ${MAX_VALUES} values`);
  return value.map((item: unknown, index) => readScalar(`${path}[${index}]`, item, COMPARABLE[kind]));
}

/** Text of a contact never contains other characters, so a value with them is refused. */
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
  // A text has at most as many characters as it has units of UTF-16. Text that is certainly too long is not counted.
  if (text.length > 2 * MAX_VALUE_CHARACTERS || [...text].length > MAX_VALUE_CHARACTERS)
    throw invalid(path, `\`${path}\` must be at most ${MAX_VALUE_CHARACTERS} characters`);
  return text;
}

/** Refuses integers that a double cannot hold (RFC 8259 section 6), as `fields.ts` does for properties. */
function readNumber(path: string, value: number): number {
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)))
    throw invalid(path, `\`${path}\` must be a number that keeps its digits; send larger ones as strings`);
  return value === 0 ? 0 : value;
}

function readTime(path: string, value: unknown): string {
  if (typeof value === 'string' && parseDateOrTime(value) !== undefined) return value;
  throw invalid(
    path,
    `\`${path}\` must be a date such as 2026-01-31, or an ISO 8601 time with an offset, such as 2026-01-31T12:00:00Z`,
  );
}

function readDays(path: string, value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_DAYS) return value;
  throw invalid(path, `\`${path}\` must be a whole number of days, 1 to ${MAX_DAYS}`);
}

function isRequired(path: string) {
  return invalid(path, `\`${path}\` is required`);
}
