import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type GivenItem, readFilter } from '../../../src/audiences/segments/filter.ts';
import { AppError, errorMessage } from '../../../src/system/errors.ts';

const rule = { field: 'email', cmp: 'eq', value: 'a@b.example' };
const group = (...rules: unknown[]) => ({ op: 'and', rules });
const property = (cmp: string, value?: unknown) => ({ field: 'properties.p', cmp, value });

function nested(depth: number): GivenItem {
  return depth === 1 ? group(rule) : group(nested(depth - 1));
}

function refusal(given: GivenItem): string | undefined {
  try {
    readFilter(given);
    return 'accepted';
  } catch (error) {
    assert.ok(error instanceof AppError && error.code === 'validation_error', String(error));
    assert.match(error.message, /^`filter/);
    return error.options.param;
  }
}

test('a filter is kept with its operators in lower case, and without what is no part of it', () => {
  const given = {
    op: 'AND',
    rules: [
      { ...rule, note: 1 },
      { op: 'Or', rules: [rule], id: 2 },
    ],
    more: true,
  };
  assert.deepEqual(readFilter(given), { op: 'and', rules: [rule, { op: 'or', rules: [rule] }] });
  const exists = { field: 'firstName', cmp: 'exists' };
  assert.deepEqual(readFilter(group({ ...exists, value: null })), group(exists));
  const zero = readFilter(group(property('eq', -0)));
  assert.equal(JSON.stringify(zero.rules[0]), '{"field":"properties.p","cmp":"eq","value":0}');
});

const FIELDS = [
  '',
  'id',
  'Email',
  'properties',
  'properties.',
  'properties.a.b',
  'properties.a"b',
  "properties.a'b",
];
const MORE_FIELDS = [
  'properties.a[0]',
  'properties.ä',
  `properties.${'a'.repeat(65)}`,
  'properties.$',
  'toString',
  7,
];
const REFUSED: [name: string, given: GivenItem, param: string][] = [
  ['no operator', { rules: [rule] }, 'filter.op'],
  ['an unknown operator', { op: 'xor', rules: [rule] }, 'filter.op'],
  ['an operator that is no string', { op: 1, rules: [rule] }, 'filter.op'],
  ['no rules', { op: 'and' }, 'filter.rules'],
  ['an empty list', group(), 'filter.rules'],
  ['rules that are no list', { op: 'and', rules: { 0: rule } }, 'filter.rules'],
  ['a rule that is text', group(rule, 'x'), 'filter.rules[1]'],
  ['a rule that is null', group(null), 'filter.rules[0]'],
  ['a rule that is a list', group([rule]), 'filter.rules[0]'],
  ['a rule that is a group too', group({ ...rule, op: 'and' }), 'filter.rules[0]'],
  ['an empty group inside', group(rule, group()), 'filter.rules[1].rules'],
  ['a group without an operator', group({ rules: [rule] }), 'filter.rules[0].op'],
  ['six levels', nested(6), 'filter.rules[0].rules[0].rules[0].rules[0].rules[0]'],
  ['51 rules', group(...Array(26).fill(rule), group(...Array(25).fill(rule))), 'filter'],
  ['no field', group({ cmp: 'eq', value: 1 }), 'filter.rules[0].field'],
  ...[...FIELDS, ...MORE_FIELDS].map((field): [string, GivenItem, string] => [
    `the field ${field}`,
    group({ field, cmp: 'exists' }),
    'filter.rules[0].field',
  ]),
  ['no comparison', group({ field: 'email', value: 'a' }), 'filter.rules[0].cmp'],
  ['an unknown comparison', group(property('like', 'a')), 'filter.rules[0].cmp'],
  ['a comparison of Object', group(property('toString', 'a')), 'filter.rules[0].cmp'],
  ['a comparison that is a number', group({ field: 'email', cmp: 1 }), 'filter.rules[0].cmp'],
  [
    'a time of an address',
    group({ field: 'email', cmp: 'before', value: '2026-01-01T00:00Z' }),
    'filter.rules[0].cmp',
  ],
  ['text in a flag', group({ field: 'unsubscribed', cmp: 'contains', value: 'a' }), 'filter.rules[0].cmp'],
  ['an order of topics', group({ field: 'topics.top_1', cmp: 'gt', value: true }), 'filter.rules[0].cmp'],
  ['equality of a time', group({ field: 'createdAt', cmp: 'eq', value: 'x' }), 'filter.rules[0].cmp'],
  [
    'a flag that is text',
    group({ field: 'unsubscribed', cmp: 'eq', value: 'true' }),
    'filter.rules[0].value',
  ],
  [
    'a topic that is a number',
    group({ field: 'topics.top_1', cmp: 'eq', value: 1 }),
    'filter.rules[0].value',
  ],
  ['a name that is a number', group({ field: 'firstName', cmp: 'eq', value: 1 }), 'filter.rules[0].value'],
  [
    'names of which one is a number',
    group({ field: 'firstName', cmp: 'in', value: ['a', 1] }),
    'filter.rules[0].value[1]',
  ],
  ...['eq', 'ne', 'gt', 'contains', 'in', 'before', 'within_days'].map((cmp): [string, GivenItem, string] => [
    `${cmp} without a value`,
    group(rule, group(property(cmp))),
    'filter.rules[1].rules[0].value',
  ]),
  ['a value that is null', group(property('eq', null)), 'filter.rules[0].value'],
  ['a value for exists', group(property('exists', true)), 'filter.rules[0].value'],
  ['a value that is a list', group(property('eq', ['a'])), 'filter.rules[0].value'],
  ['a value that is an object', group(property('eq', { a: 1 })), 'filter.rules[0].value'],
  ['an order of booleans', group(property('gt', true)), 'filter.rules[0].value'],
  ['a part that is a number', group(property('contains', 1)), 'filter.rules[0].value'],
  ['a part that is empty', group(property('starts_with', '')), 'filter.rules[0].value'],
  ['a list that is text', group(property('in', 'a')), 'filter.rules[0].value'],
  ['an empty list of values', group(property('in', [])), 'filter.rules[0].value'],
  ['101 values', group(property('not_in', Array(101).fill('a'))), 'filter.rules[0].value'],
  ['a list in a list', group(property('in', ['a', ['b']])), 'filter.rules[0].value[1]'],
  ['a NUL', group(property('eq', 'a\0')), 'filter.rules[0].value'],
  ['a lone surrogate', group(property('in', ['a\ud800'])), 'filter.rules[0].value[0]'],
  ['2,001 characters', group(property('eq', 'a'.repeat(2_001))), 'filter.rules[0].value'],
  ['an integer that loses digits', group(property('eq', 2 ** 53)), 'filter.rules[0].value'],
  ['a time without an offset', group(property('before', '2026-01-01T00:00:00')), 'filter.rules[0].value'],
  ['a date that does not exist', group(property('after', '2026-02-30')), 'filter.rules[0].value'],
  ['the 30th of February', group(property('after', '2026-02-30T00:00:00Z')), 'filter.rules[0].value'],
  ['a time that is a number', group(property('after', 1_700_000_000)), 'filter.rules[0].value'],
  ['0 days', group(property('within_days', 0)), 'filter.rules[0].value'],
  ['3,651 days', group(property('within_days', 3_651)), 'filter.rules[0].value'],
  ['half a day', group(property('within_days', 0.5)), 'filter.rules[0].value'],
  ['days as text', group(property('within_days', '7')), 'filter.rules[0].value'],
  ['32 KiB', group(...Array(20).fill(property('eq', 'a'.repeat(1_700)))), 'filter'],
];
for (const [name, given, param] of REFUSED) {
  test(`refused: ${name}`, () => assert.equal(refusal(given), param));
}

test('a field that is another spelling, or the key of a property, is told what it was to be', () => {
  const told = (field: unknown) => {
    try {
      readFilter(group({ field, cmp: 'exists' }));
    } catch (error) {
      return /did you mean `(.*)`\?$/.exec(errorMessage(error))?.[1];
    }
    return assert.fail(`${field} was accepted`);
  };
  for (const [field, meant] of [
    ['city', 'properties.city'],
    ['First_Name', 'firstName'],
    ['EMAIL', 'email'],
    ['x'.repeat(64), `properties.${'x'.repeat(64)}`],
    ['x'.repeat(65), undefined],
    ['postal code', undefined],
    ['properties.', undefined],
    [7, undefined],
  ] as const)
    assert.equal(told(field), meant, String(field));
});

test('a filter with the maximum number of rules, levels, values and characters is accepted', () => {
  const most = [
    nested(5),
    group(...Array(50).fill(rule)),
    group(property('in', Array(100).fill('a'))),
    group(property('eq', '😀'.repeat(2_000))),
    group(property('within_days', 3_650), property('eq', '')),
    group({ field: `properties.${'a'.repeat(64)}`, cmp: 'exists' }),
  ];
  for (const given of most) assert.equal(refusal(given), 'accepted');
});
