/** Defines the fields that a rule of a segment can test, and the comparisons for each kind of field. */
import { findMeant } from '../../http/json/near-misses.ts';
import { PROPERTY_KEY } from '../contacts/fields.ts';
import { TEXT_FIELD_NAMES, type TextFieldName } from '../contacts/text-fields.ts';

export type Comparison =
  | 'eq'
  | 'ne'
  | 'gt'
  | 'gte'
  | 'lt'
  | 'lte'
  | 'contains'
  | 'not_contains'
  | 'starts_with'
  | 'ends_with'
  | 'in'
  | 'not_in'
  | 'exists'
  | 'not_exists'
  | 'before'
  | 'after'
  | 'within_days'
  | 'not_within_days';

/** The copy of a broadcast was delivered to the contact, or was opened or clicked. */
export type Activity = 'delivered' | 'opened' | 'clicked';

export type Field =
  | { kind: 'text'; column: 'email' | TextFieldName }
  | { kind: 'flag'; column: 'unsubscribed' }
  | { kind: 'topic'; topicId: string }
  | { kind: 'time'; column: 'createdAt' }
  | { kind: 'activity'; activity: Activity }
  | { kind: 'property'; key: string };

const COLUMNS: ReadonlyMap<string, Field> = new Map<string, Field>([
  ['email', { kind: 'text', column: 'email' }],
  ...TEXT_FIELD_NAMES.map((column) => [column, { kind: 'text', column }] as [string, Field]),
  ['unsubscribed', { kind: 'flag', column: 'unsubscribed' }],
  ['createdAt', { kind: 'time', column: 'createdAt' }],
  ['delivered', { kind: 'activity', activity: 'delivered' }],
  ['opened', { kind: 'activity', activity: 'opened' }],
  ['clicked', { kind: 'activity', activity: 'clicked' }],
]);
/** The names of the fields, without those of topics and properties. */
export const COLUMN_FIELDS: readonly string[] = [...COLUMNS.keys()];
const TOPIC = 'topics.';
const PROPERTY = 'properties.';
const KEY = new RegExp(PROPERTY_KEY);

/** Returns the field of that name, or undefined. It does not check that the topic of a field exists. */
export function readField(name: string): Field | undefined {
  if (name.startsWith(TOPIC)) return { kind: 'topic', topicId: name.slice(TOPIC.length) };
  if (!name.startsWith(PROPERTY)) return COLUMNS.get(name);
  const key = name.slice(PROPERTY.length);
  return KEY.test(key) ? { kind: 'property', key } : undefined;
}

/** Returns the field that an unknown name probably means: one in another spelling, or the property with that key. */
export function suggestField(name: string): string | undefined {
  const column = findMeant(name, COLUMN_FIELDS);
  return column ?? (KEY.test(name) ? `${PROPERTY}${name}` : undefined);
}

const TIMES = ['before', 'after', 'within_days'] as const satisfies readonly Comparison[];
const TEXTS = [
  'eq',
  'ne',
  'gt',
  'gte',
  'lt',
  'lte',
  'contains',
  'not_contains',
  'starts_with',
  'ends_with',
  'in',
  'not_in',
  'exists',
  'not_exists',
] as const satisfies readonly Comparison[];

export const COMPARISONS: readonly Comparison[] = [...TEXTS, ...TIMES, 'not_within_days'];

export const COMPARISONS_OF: Readonly<Record<Field['kind'], readonly Comparison[]>> = {
  text: TEXTS,
  flag: ['eq', 'ne'],
  topic: ['eq', 'ne'],
  time: TIMES,
  activity: ['eq', 'ne', 'within_days', 'not_within_days'],
  property: [...TEXTS, ...TIMES],
};
