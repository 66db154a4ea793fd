/** Any filter over any contacts: SQL finds exactly those that plain JavaScript finds. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import type { Comparison } from '../../../src/audiences/segments/field.ts';
import { type Filter, readFilter } from '../../../src/audiences/segments/filter.ts';
import { isoTime } from '../../../src/system/clock.ts';
import { NOW, openMembers } from './members.ts';
import { isInSegment, type ReferenceContact } from './reference.ts';

const TOPICS = ['top_1', 'top_2', 'top_3'];
/** Of the third there is none any more. */
const TOPIC_DEFAULTS = new Map([
  ['top_1', true],
  ['top_2', false],
]);
const KEYS = ['a', 'b', '__proto__', 'constructor', '0', 'A'];
const CONTACTS = 200;
/** The same every time; each has found what it can find long before. */
const SEED = 20260615;

/** Texts that are near to each other, and to numbers, times, booleans and patterns. */
const text = fc.oneof(
  fc.constantFrom(
    ...[
      '',
      'a',
      'A',
      'ab',
      'AB%',
      'a_b',
      'a\\b',
      '%',
      '_',
      '*',
      '?',
      '[a]',
      "'",
      '"',
      'true',
      'null',
      'ÄÖ',
      'äö',
    ],
    ...[
      'Straße',
      'STRASSE',
      'ΟΔΟΣ',
      'οδος',
      'İ',
      'i',
      'K',
      'k',
      'é',
      'e\u0301',
      '😀',
      '\uffff',
      '\ue000b',
      'ﬀ',
    ],
    ...[
      '0',
      '-0',
      '1',
      '01',
      '1.0',
      '1.50',
      '-1.5',
      '1e3',
      '+1',
      ' 1',
      '1.',
      '.5',
      '10',
      '9',
      '123456789012345',
    ],
    ...['1234567890123456', '0.1', '0.30000000000000004', '99999999999999.99', '-'],
    ...['2026-06-15T12:00:00Z', '2026-06-15T12:00:00.001+02:00', '2026-06-10T23:59:59-11:30', '2026-06-15'],
    ...[
      '2026-02-30T12:00:00Z',
      '2026-06-14T10:00Z',
      '9999-12-31T23:59:59.999-01:00',
      '0000-01-01T00:00:00+10:00',
    ],
  ),
  fc.string({ unit: fc.constantFrom('a', 'B', 'ä', 'Ä', 'ß', '%', '1', '.', '-', ' ', '😀'), maxLength: 4 }),
);
const number = fc.oneof(
  fc.constantFrom(0, 1, -1.5, 10, 9, 0.1, 0.1 + 0.2, 1e-7, 2 ** 53 - 1, 99999999999999.98),
  fc.integer({ min: -20, max: 20 }),
  fc.double({ noNaN: true, min: -1e6, max: 1e6 }).map((value) => (value === 0 ? 0 : value)),
);
const value = fc.oneof(text, number, fc.boolean());
const time = fc.integer({ min: -40, max: 5 }).map((days) => NOW + days * 21_600_000);

const contact: fc.Arbitrary<ReferenceContact> = fc.record({
  email: text,
  firstName: fc.option(text),
  lastName: fc.option(text),
  unsubscribed: fc.boolean(),
  createdAt: time,
  properties: fc
    .uniqueArray(fc.tuple(fc.constantFrom(...KEYS), value), { selector: ([key]) => key })
    .map((entries) => Object.fromEntries(entries)),
  topics: fc.dictionary(fc.constantFrom(...TOPICS), fc.boolean()),
});

const propertyField = fc.constantFrom(...KEYS).map((key) => `properties.${key}`);
const textField = fc.oneof(fc.constantFrom('email', 'firstName', 'lastName'), propertyField);
const timeField = fc.oneof(fc.constant('createdAt'), propertyField);
const someText = text.filter((one) => one !== '');
const timeText = time.map((at) => isoTime(at));

const rule = (field: fc.Arbitrary<string>, cmps: Comparison[], values: fc.Arbitrary<unknown>) =>
  fc.record({ field, cmp: fc.constantFrom(...cmps), value: values });
const rules = fc.oneof(
  rule(textField, ['eq', 'ne', 'gt', 'gte', 'lt', 'lte'], text),
  rule(propertyField, ['eq', 'ne'], value),
  rule(propertyField, ['gt', 'gte', 'lt', 'lte'], fc.oneof(text, number)),
  rule(textField, ['contains', 'not_contains', 'starts_with', 'ends_with'], someText),
  rule(textField, ['in', 'not_in'], fc.array(text, { minLength: 1, maxLength: 6 })),
  rule(propertyField, ['in', 'not_in'], fc.array(value, { minLength: 1, maxLength: 8 })),
  fc.record({ field: textField, cmp: fc.constantFrom('exists', 'not_exists') }),
  rule(timeField, ['before', 'after'], timeText),
  rule(timeField, ['within_days'], fc.integer({ min: 1, max: 12 })),
  rule(fc.constant('unsubscribed'), ['eq', 'ne'], fc.boolean()),
  rule(
    fc.constantFrom(...TOPICS).map((id) => `topics.${id}`),
    ['eq', 'ne'],
    fc.boolean(),
  ),
);
const group = (item: fc.Arbitrary<unknown>) =>
  fc.record({
    op: fc.constantFrom('and', 'or', 'AND', 'Or'),
    rules: fc.array(item, { minLength: 1, maxLength: 3 }),
  });
const filter = group(
  fc.oneof({ weight: 3, arbitrary: rules }, { weight: 1, arbitrary: group(fc.oneof(rules, group(rules))) }),
);

const population = fc.sample(contact, { numRuns: CONTACTS, seed: SEED });
const members = openMembers(population, TOPIC_DEFAULTS);
after(() => members.close());

async function agrees(given: unknown): Promise<void> {
  const wanted: Filter = readFilter(given as Filter);
  const world = { now: NOW, topicDefaults: TOPIC_DEFAULTS };
  const expected = population.flatMap((one, index) => (isInSegment(wanted, one, world) ? [index] : []));
  assert.deepEqual(await members.find(given), { found: expected, counted: expected.length });
}

test('a filter finds the contacts that plain JavaScript finds', async () => {
  await fc.assert(fc.asyncProperty(filter, agrees), { numRuns: 100, seed: SEED });
});

test('each kind of rule alone finds the contacts that the reference finds', async () => {
  const oneRule = rules.map((one) => ({ op: 'and', rules: [one] }));
  await fc.assert(fc.asyncProperty(oneRule, agrees), { numRuns: 250, seed: SEED });
});
