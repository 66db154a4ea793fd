/**
 * The rules of a segment as the form has them: a list in which each rule has a field, a comparison and a text as its value. A filter that
 * such a list cannot show, with groups of rules for example, is edited as JSON.
 */
import type { PropertyValue } from '../../../audiences/contacts/fields.ts';
import { type Field, readField } from '../../../audiences/segments/field.ts';
import { type Filter, isGroup, type Rule } from '../../../audiences/segments/filter.ts';
import type { Form } from '../../../http/pages/form-body.ts';
import { invalid } from '../../../system/errors.ts';
import { fieldOf } from '../../page.ts';
import { readTyped, writeTyped } from '../contacts/properties.ts';

export type RuleState = { field: string; key: string; cmp: string; value: string };
export type FilterState =
  | { kind: 'rules'; op: Filter['op']; rules: readonly RuleState[] }
  | { kind: 'json'; json: string };

/** Field of a rule about a property, whose name stands in a field of its own. */
export const PROPERTY = 'property';
/** Field of a rule about a topic whose id stands in a field of its own, where the choice of fields cannot have all topics. */
export const TOPIC = 'topic';
export const TOPIC_PREFIX = 'topics.';
export const NO_RULE: RuleState = { field: '', key: '', cmp: 'eq', value: '' };
/** Maximum number of rules in the form: each has four fields, and a form has at most 200. */
const MAX_SHOWN_RULES = 40;

const PROPERTY_PREFIX = 'properties.';

/** Returns the state that shows a filter. */
export function stateOf(filter: Filter): FilterState {
  const { op, rules } = filter;
  const shown = rules.flatMap((item) => (isGroup(item) ? [] : [item]));
  const isPlain = shown.length === rules.length && rules.length <= MAX_SHOWN_RULES && shown.every(canBeShown);
  if (isPlain) return { kind: 'rules', op, rules: shown.map(ruleState) };
  return { kind: 'json', json: JSON.stringify(filter, undefined, 2) };
}

/** A list of values with commas in them could not be taken apart again. */
function canBeShown({ value }: Rule): boolean {
  return !Array.isArray(value) || value.every((one) => !String(one).includes(','));
}

function ruleState({ field, cmp, value }: Rule): RuleState {
  const isProperty = field.startsWith(PROPERTY_PREFIX);
  const write = isProperty ? writeTyped : String;
  return {
    field: isProperty ? PROPERTY : field,
    key: isProperty ? field.slice(PROPERTY_PREFIX.length) : '',
    cmp,
    value: value === undefined ? '' : Array.isArray(value) ? value.map(write).join(', ') : write(value),
  };
}

/** Returns the state that somebody has entered. */
export function readState(form: Form): FilterState {
  if (form.names.includes('filter')) return { kind: 'json', json: fieldOf(form, 'filter') };
  const rules: RuleState[] = [];
  for (let index = 0; index < MAX_SHOWN_RULES && form.names.includes(`field.${index}`); index++) {
    const of = (name: string) => fieldOf(form, `${name}.${index}`).trim();
    const field = of('field') === TOPIC ? TOPIC_PREFIX + of('key') : of('field');
    rules.push({ field, key: of('key'), cmp: of('cmp'), value: of('value') });
  }
  return { kind: 'rules', op: fieldOf(form, 'op') === 'or' ? 'or' : 'and', rules };
}

/**
 * Returns the filter that a state means, for the API to check. Rules without a field are left out.
 * @throws AppError validation_error for JSON that cannot be read
 */
export function filterOf(state: FilterState): unknown {
  if (state.kind === 'json') return readJson(state.json);
  const rules = state.rules.filter(({ field }) => field !== '').map(toRule);
  return { op: state.op, rules };
}

function readJson(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch (cause) {
    throw invalid('filter', `\`filter\` is not JSON: ${cause instanceof Error ? cause.message : ''}`);
  }
}

function toRule({ field: name, key, cmp, value }: RuleState): object {
  const field = name === PROPERTY ? PROPERTY_PREFIX + key : name;
  if (cmp === 'exists' || cmp === 'not_exists') return { field, cmp };
  return { field, cmp, value: readValue(value, cmp, kindOf(field)) };
}

/** Returns the kind of a field. The API refuses one that does not exist. */
export function kindOf(field: string): Field['kind'] {
  return readField(field)?.kind ?? (field === PROPERTY ? 'property' : 'text');
}

function readValue(text: string, cmp: string, kind: Field['kind']): PropertyValue | PropertyValue[] {
  if (cmp === 'within_days' || cmp === 'not_within_days') return /^\d+$/.test(text) ? Number(text) : text;
  if (kind === 'flag' || kind === 'topic') return text === 'true' ? true : text === 'false' ? false : text;
  const read = kind === 'property' && !TEXT_ONLY.has(cmp) ? readTyped : (one: string) => one;
  if (cmp === 'in' || cmp === 'not_in') return text.split(',').map((one) => read(one.trim()));
  return read(text);
}

/** Comparisons whose values are texts, whatever they look like. */
const TEXT_ONLY: ReadonlySet<string> = new Set([
  'contains',
  'not_contains',
  'starts_with',
  'ends_with',
  'before',
  'after',
]);
