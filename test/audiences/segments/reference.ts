/**
 * What a filter of a segment means, once more and without SQL: the oracle of the property test. It shares nothing with
 * what it is to judge but the shape of a filter.
 */
import type { Filter, Rule } from '../../../src/audiences/segments/filter.ts';

type Value = string | number | boolean;

export type ReferenceContact = {
  email: string;
  firstName: string | null;
  lastName: string | null;
  unsubscribed: boolean;
  createdAt: number;
  properties: Readonly<Record<string, Value>>;
  /** Topic id to whether it opted in. */
  topics: Readonly<Record<string, boolean>>;
};

export type World = { now: number; topicDefaults: ReadonlyMap<string, boolean> };

const DAY_MS = 86_400_000;
const OPPOSITE: Readonly<Record<string, Rule['cmp']>> = {
  ne: 'eq',
  not_contains: 'contains',
  not_in: 'in',
  not_exists: 'exists',
};

export function isInSegment(filter: Filter, contact: ReferenceContact, world: World): boolean {
  const holds = (item: Rule | Filter) =>
    'rules' in item ? isInSegment(item, contact, world) : ruleHolds(item, contact, world);
  return filter.op === 'and' ? filter.rules.every(holds) : filter.rules.some(holds);
}

function ruleHolds({ field, cmp, value }: Rule, contact: ReferenceContact, world: World): boolean {
  const opposite = OPPOSITE[cmp];
  if (opposite) {
    const rule = value === undefined ? { field, cmp: opposite } : { field, cmp: opposite, value };
    return !ruleHolds(rule, contact, world);
  }
  const own = askedValue(field, contact, world);
  if (own === undefined) return false;
  if (field === 'createdAt') return isWithin(contact.createdAt, cmp, value, world.now);
  switch (cmp) {
    case 'exists':
      return true;
    case 'in':
      return (value as Value[]).some((one) => isEqual(own, one));
    case 'eq':
      return isEqual(own, value as Value);
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return isOrdered(own, cmp, value as Value);
    case 'contains':
      return typeof own === 'string' && fold(own).includes(fold(String(value)));
    case 'starts_with':
      return typeof own === 'string' && fold(own).startsWith(fold(String(value)));
    case 'ends_with':
      return typeof own === 'string' && fold(own).endsWith(fold(String(value)));
    default:
      return typeof own === 'string' && isWithin(timeOf(own), cmp, value, world.now);
  }
}

function askedValue(field: string, contact: ReferenceContact, world: World): Value | undefined {
  if (field.startsWith('properties.'))
    return new Map(Object.entries(contact.properties)).get(field.slice('properties.'.length));
  if (!field.startsWith('topics.')) return contact[field as 'email'] ?? undefined;
  const topic = field.slice('topics.'.length);
  const byDefault = world.topicDefaults.get(topic);
  return byDefault === undefined ? undefined : (contact.topics[topic] ?? byDefault);
}

function isEqual(left: Value, right: Value): boolean {
  if (typeof left === 'boolean' || typeof right === 'boolean') return left === right;
  const [a, b] = [numberOf(left), numberOf(right)];
  if (a !== undefined && b !== undefined) return a === b;
  return typeof left === 'string' && typeof right === 'string' && fold(left) === fold(right);
}

function isOrdered(left: Value, cmp: 'gt' | 'gte' | 'lt' | 'lte', right: Value): boolean {
  const order = compare(left, right);
  if (order === undefined) return false;
  return cmp === 'gt' ? order > 0 : cmp === 'gte' ? order >= 0 : cmp === 'lt' ? order < 0 : order <= 0;
}

function compare(left: Value, right: Value): number | undefined {
  if (typeof left === 'boolean' || typeof right === 'boolean') return undefined;
  const [a, b] = [numberOf(left), numberOf(right)];
  if (a !== undefined && b !== undefined) return a - b;
  if (typeof left !== 'string' || typeof right !== 'string') return undefined;
  // Octets of UTF-8 stand in the order of Unicode; units of UTF-16 do not.
  return Buffer.compare(Buffer.from(fold(left)), Buffer.from(fold(right)));
}

function numberOf(value: Value): number | undefined {
  if (typeof value !== 'string') return Number(value);
  const isPlain = /^-?\d+(\.\d+)?$/.test(value) && !/^-?0\d/.test(value);
  return isPlain && value.match(/\d/g)!.length <= 15 ? Number(value) : undefined;
}

/** Character for character: what no other character would become stays what it is. */
function fold(text: string): string {
  return [...text]
    .map((character) => {
      const lower = character.toLowerCase();
      const becomesAscii = character > '\x7f' && [...lower].some((letter) => letter <= '\x7f');
      return becomesAscii ? character : lower === 'ς' ? 'σ' : lower;
    })
    .join('');
}

function timeOf(given: string): number {
  const text = /^\d{4}-\d\d-\d\d$/.test(given) ? `${given}T00:00:00Z` : given;
  const hasOffset = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/.test(text);
  const day = Number(text.slice(8, 10));
  const isOnCalendar = new Date(`${text.slice(0, 10)}T00:00:00Z`).getUTCDate() === day;
  return hasOffset && isOnCalendar && !text.includes('T24') ? Date.parse(text) : Number.NaN;
}

function isWithin(time: number, cmp: Rule['cmp'], value: Rule['value'], now: number): boolean {
  if (cmp === 'before') return time < timeOf(String(value));
  if (cmp === 'after') return time > timeOf(String(value));
  return time >= now - Number(value) * DAY_MS && time <= now;
}
