/**
 * Turns the filter of a segment into an SQL expression; filter.ts defines what a filter means. No part of a filter becomes
 * text of a statement: names of columns come from a closed list, and values and the JSON paths of properties are bound.
 * Expressions begin with tests that are cheap and fail for most contacts, because each read of a contact's JSON is slow.
 */
import { type RawBuilder, sql } from 'kysely';
import { foldCase, readDecimal } from '../../db/functions.ts';
import { DAY_MS, isoTime, parseDateOrTime } from '../../system/clock.ts';
import { type Activity, type Comparison, type Field, readField } from './field.ts';
import { type Filter, isGroup, type Rule, type Scalar } from './filter.ts';

/** Values that the meaning of a filter depends on. */
export type FilterContext = {
  /** Time that `within_days` counts from, in Unix milliseconds. */
  now: number;
  /** Default of each topic: true when contacts without a choice are opted in. Deleted topics are absent. */
  topicDefaults: ReadonlyMap<string, boolean>;
};

type Condition = RawBuilder<boolean>;

/** Returns a condition on a row of `contacts` that holds for the contacts of the segment. Null counts as false. */
export function segmentCondition(filter: Filter, context: FilterContext): Condition {
  const conditions = filter.rules.map((item) =>
    isGroup(item) ? segmentCondition(item, context) : ruleCondition(item, context),
  );
  return filter.op === 'and' ? all(conditions) : any(conditions);
}

function ruleCondition({ field: name, cmp, value }: Rule, context: FilterContext): Condition {
  const field = readField(name);
  if (!field) throw new Error(`a stored filter has the unknown field ${name}`);
  switch (cmp) {
    case 'ne':
      return not(testCondition(field, { cmp: 'eq', value }, context));
    case 'not_in':
      return not(testCondition(field, { cmp: 'in', value }, context));
    case 'not_contains':
      return not(testCondition(field, { cmp: 'contains', value }, context));
    case 'not_exists':
      return not(testCondition(field, { cmp: 'exists', value }, context));
    case 'not_within_days':
      return not(testCondition(field, { cmp: 'within_days', value }, context));
    default:
      return testCondition(field, { cmp, value }, context);
  }
}

type Positive = Exclude<Comparison, 'ne' | 'not_in' | 'not_contains' | 'not_exists' | 'not_within_days'>;

/** The test of a rule, without its field and its negation. */
type Test = { cmp: Positive; value: Rule['value'] };

function testCondition(field: Field, test: Test, { now, topicDefaults }: FilterContext): Condition {
  const { cmp, value } = test;
  switch (field.kind) {
    case 'flag':
      return sql`${sql.ref(field.column)} = ${value === true ? 1 : 0}`;
    case 'topic':
      return topicCondition(field.topicId, value === true, topicDefaults.get(field.topicId));
    case 'time':
      return inRange(sql.ref<number>(field.column), rangeOf(cmp, value, now));
    case 'activity':
      return cmp === 'within_days'
        ? wasActiveSince(field.activity, rangeOf(cmp, value, now).from ?? now)
        : wasActiveIn(field.activity, String(value));
    case 'text':
      return operandCondition({ value: sql.ref(field.column), type: undefined }, test, now);
    case 'property':
      return operandCondition(propertyOf(field.key), test, now);
  }
}

function topicCondition(topicId: string, wanted: boolean, byDefault: boolean | undefined): Condition {
  if (byDefault === undefined) return sql`FALSE`;
  const chosen = sql`json_extract(topics, ${pathOf(topicId)})`;
  return sql`coalesce(${chosen}, ${byDefault ? 1 : 0}) = ${wanted ? 1 : 0}`;
}

/** Tests the copy of one broadcast, by the key of its row. */
function wasActiveIn(activity: Activity, broadcastId: string): Condition {
  switch (activity) {
    case 'delivered':
      return sql`EXISTS (
        SELECT 1 FROM "broadcastRecipients" AS entry
        WHERE entry."broadcastId" = ${broadcastId} AND entry."contactId" = contacts.id AND entry.state = 'delivered'
      )`;
    // Each row is of a copy that was opened or clicked, and a click is an open as well.
    case 'opened':
      return sql`EXISTS (
        SELECT 1 FROM "broadcastEngagements" AS engagement
        WHERE engagement."broadcastId" = ${broadcastId} AND engagement."contactId" = contacts.id
      )`;
    case 'clicked':
      return sql`EXISTS (
        SELECT 1 FROM "broadcastEngagements" AS engagement
        WHERE engagement."broadcastId" = ${broadcastId} AND engagement."contactId" = contacts.id
          AND engagement."clickedAt" IS NOT NULL
      )`;
  }
}

const LATEST = {
  delivered: 'deliveredAt',
  opened: 'openedAt',
  clicked: 'clickedAt',
} as const satisfies Record<Activity, string>;

/** Tests the latest copy. A time after the start of the query is as good as one before it. */
function wasActiveSince(activity: Activity, since: number): Condition {
  return sql`EXISTS (
    SELECT 1 FROM "contactActivity" AS activity
    WHERE activity."audienceId" = contacts."audienceId" AND activity."contactId" = contacts.id
      AND ${sql.ref(`activity.${LATEST[activity]}`)} >= ${since}
  )`;
}

/**
 * The SQL value that a rule tests, and its JSON type, which tells a boolean from a number. A column has no JSON type,
 * because all of its values are text.
 */
type Operand = { value: RawBuilder<unknown>; type: RawBuilder<string> | undefined };

function propertyOf(key: string): Operand {
  const path = pathOf(key);
  return { value: sql`json_extract(properties, ${path})`, type: sql`json_type(properties, ${path})` };
}

/** Returns the JSON path of a name. The path is bound, never text of a statement, and a checked name has no quote in it. */
function pathOf(name: string): string {
  return `$."${name}"`;
}

function operandCondition(x: Operand, { cmp, value }: Test, now: number): Condition {
  switch (cmp) {
    case 'exists':
      return sql`${x.value} IS NOT NULL`;
    case 'in':
      return isIn(x, Array.isArray(value) ? value : []);
    case 'before':
    case 'after':
    case 'within_days':
      return isTimeIn(x, rangeOf(cmp, value, now));
    case 'contains':
    case 'starts_with':
    case 'ends_with':
      return textHolds(x, cmp, foldCase(String(value)));
    case 'eq':
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return compare(x, cmp, scalarOf(value));
  }
}

function scalarOf(value: Rule['value']): Scalar {
  if (value === undefined || Array.isArray(value)) throw new Error('a stored filter has no value');
  return value;
}

type Order = 'eq' | 'gt' | 'gte' | 'lt' | 'lte';

const OPERATOR = { eq: sql`=`, gt: sql`>`, gte: sql`>=`, lt: sql`<`, lte: sql`<=` } as const satisfies Record<
  Order,
  RawBuilder<unknown>
>;

function compare(x: Operand, order: Order, value: Scalar): Condition {
  if (typeof value === 'boolean') return isBoolean(x, value);
  if (typeof value === 'number') return compareNumber(x, order, value);
  const number = readDecimal(value);
  const text = foldCase(value);
  if (number === undefined) return order === 'eq' ? equalsText(x, text) : compareText(x, order, text);
  const asNumbers = compareNumber(x, order, number);
  if (order === 'eq') return asNumbers;
  // Two strings compare as strings unless both are numeric.
  return any([asNumbers, all([compareText(x, order, text), sql`plain_decimal(${x.value}) IS NULL`])]);
}

function isBoolean({ type }: Operand, value: boolean): Condition {
  return type ? sql`${type} = ${String(value)}` : sql`FALSE`;
}

function isNumber(type: RawBuilder<string>): Condition {
  return sql`${type} IN ('integer', 'real')`;
}

/** Tests text that is a decimal number. Most other text, such as a name, fails the GLOB by its first character. */
function isDecimalText({ value }: Operand, is: (decimal: RawBuilder<number>) => Condition): Condition {
  return all([
    sql`typeof(${value}) = 'text'`,
    sql`${value} GLOB '[-0-9]*'`,
    is(sql<number>`plain_decimal(${value})`),
  ]);
}

function compareNumber(x: Operand, order: Order, number: number): Condition {
  const compared = (value: RawBuilder<unknown>): Condition => sql`${value} ${OPERATOR[order]} ${number}`;
  const text = isDecimalText(x, compared);
  return x.type ? any([all([compared(x.value), isNumber(x.type)]), text]) : text;
}

/** Returns true for folded text that is plain ASCII. SQLite's own `lower` and `NOCASE` then compare it as `foldCase` does. */
function isAscii(folded: string): boolean {
  return /^[\0-\x7f]*$/.test(folded);
}

/** Holds for text beyond ASCII. No other text, and no number, can match a value that goes beyond ASCII. */
function goesBeyondAscii(value: RawBuilder<unknown>): Condition {
  return sql`length(${value}) <> octet_length(${value})`;
}

function equalsText({ value }: Operand, folded: string): Condition {
  if (isAscii(folded)) return sql`${value} = ${folded} COLLATE NOCASE`;
  return all([goesBeyondAscii(value), sql`fold_case(${value}) = ${folded}`]);
}

function compareText({ value }: Operand, order: Order, folded: string): Condition {
  const isText = sql<boolean>`typeof(${value}) = 'text'`;
  const compared = (text: RawBuilder<unknown>): Condition => sql`${text} ${OPERATOR[order]} ${folded}`;
  if (isAscii(folded)) return all([compared(sql`lower(${value})`), isText]);
  const plain = all([isText, not(goesBeyondAscii(value)), compared(sql`lower(${value})`)]);
  return any([plain, all([goesBeyondAscii(value), compared(sql`fold_case(${value})`)])]);
}

function textHolds(
  { value }: Operand,
  cmp: 'contains' | 'starts_with' | 'ends_with',
  folded: string,
): Condition {
  const holds = (text: RawBuilder<unknown>): Condition => {
    const length = [...folded].length;
    if (cmp === 'contains') return sql`instr(${text}, ${folded}) > 0`;
    if (cmp === 'starts_with') return sql`substr(${text}, 1, ${length}) = ${folded}`;
    return sql`substr(${text}, ${-length}) = ${folded}`;
  };
  if (isAscii(folded)) return all([holds(sql`lower(${value})`), sql`typeof(${value}) = 'text'`]);
  return all([goesBeyondAscii(value), holds(sql`fold_case(${value})`)]);
}

/** Returns a condition with one look-up for all values of a kind, in a list that is bound as JSON. */
function isIn(x: Operand, values: readonly Scalar[]): Condition {
  const numbers = values.map((value) => (typeof value === 'string' ? readDecimal(value) : value));
  const texts = values.filter((value) => typeof value === 'string' && readDecimal(value) === undefined);
  const folded = texts.map((text) => foldCase(String(text)));
  const among = (value: RawBuilder<unknown>, list: readonly Scalar[]): Condition =>
    sql`${value} IN (SELECT value FROM json_each(${JSON.stringify(list)}))`;
  const decimals = numbers.filter((number) => typeof number === 'number');
  const plain = folded.filter(isAscii);
  const others = folded.filter((text) => !isAscii(text));
  return any([
    ...(plain.length > 0 ? [among(sql`(${x.value}) COLLATE NOCASE`, plain)] : []),
    ...(others.length > 0
      ? [all([goesBeyondAscii(x.value), among(sql`fold_case(${x.value})`, others)])]
      : []),
    ...(decimals.length > 0 && x.type ? [all([among(x.value, decimals), isNumber(x.type)])] : []),
    ...(decimals.length > 0 ? [isDecimalText(x, (decimal) => among(decimal, decimals))] : []),
    ...[true, false].filter((flag) => values.includes(flag)).map((flag) => isBoolean(x, flag)),
  ]);
}

/** A range of times in Unix milliseconds, both ends included. */
type Range = { from?: number; until?: number };

function rangeOf(cmp: Positive, value: Rule['value'], now: number): Range {
  if (cmp === 'within_days') return { from: now - Number(value) * DAY_MS, until: now };
  const { first, last } = parseDateOrTime(String(value)) ?? { first: Number.NaN, last: Number.NaN };
  // Nothing of a plain date is before or after it.
  return cmp === 'before' ? { until: first - 1 } : { from: last + 1 };
}

function inRange(time: RawBuilder<number>, { from, until }: Range): Condition {
  return all([
    ...(from === undefined ? [] : [sql<boolean>`${time} >= ${from}`]),
    ...(until === undefined ? [] : [sql<boolean>`${time} <= ${until}`]),
  ]);
}

/**
 * Tests a time that is stored as text. The text begins with its date, which differs by at most a day from the date in UTC,
 * whatever its offset. A plain comparison of text therefore rejects most times outside the range before any is parsed. No
 * number looks like a date.
 */
function isTimeIn({ value }: Operand, range: Range): Condition {
  const { from, until } = range;
  return all([
    ...(from === undefined ? [] : [sql<boolean>`${value} >= ${dateOf(from - DAY_MS)}`]),
    ...(until === undefined
      ? []
      : [sql<boolean>`${value} < ${`${dateOf(Math.min(until + DAY_MS, LAST_DATE_MS))}~`}`]),
    sql`${value} GLOB '[0-9][0-9][0-9][0-9]-[0-9]*'`,
    inRange(sql<number>`timestamp_ms(${value})`, range),
  ]);
}

/** Latest date whose year has four digits, which is the last date that a text can begin with. */
const LAST_DATE_MS = Date.UTC(9999, 11, 31);

function dateOf(epochMs: number): string {
  return isoTime(epochMs).slice(0, 10);
}

function all(conditions: readonly Condition[]): Condition {
  return sql`(${sql.join(conditions, sql` AND `)})`;
}

function any(conditions: readonly Condition[]): Condition {
  return sql`(${sql.join(conditions, sql` OR `)})`;
}

/** Negates a condition. The result also holds when the condition is null, because the field has no value. */
function not(condition: Condition): Condition {
  return sql`(${condition}) IS NOT TRUE`;
}
