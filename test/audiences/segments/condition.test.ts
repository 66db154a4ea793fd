/** What each comparison finds, one line for each rule of segments/filter.ts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isoTime } from '../../../src/system/clock.ts';
import { NOW, openMembers } from './members.ts';
import type { ReferenceContact } from './reference.ts';

type Value = string | number | boolean;

const DAY_MS = 86_400_000;
const BLANK: ReferenceContact = {
  ...{ email: 'a@b.example', firstName: null, lastName: null, unsubscribed: false, createdAt: NOW },
  ...{ properties: {}, topics: {} },
};

async function membersOf(contacts: readonly ReferenceContact[], rule: object, topics?: Map<string, boolean>) {
  const members = openMembers(contacts, topics);
  const { found, counted } = await members.find({ op: 'and', rules: [rule] });
  members.close();
  assert.equal(counted, found.length);
  return found;
}

/** Which of `values`, each the property of one contact (undefined: it has none), a rule finds. */
async function found(cmp: string, value: unknown, values: readonly (Value | undefined)[]) {
  const contacts = values.map((one) => ({ ...BLANK, properties: one === undefined ? {} : { p: one } }));
  const rule = { field: 'properties.p', cmp, ...(value !== undefined && { value }) };
  return (await membersOf(contacts, rule)).map((index) => values[index]);
}

type Line = [cmp: string, value: unknown, finds: (Value | undefined)[], leaves: (Value | undefined)[]];

const LINES: Line[] = [
  ['eq', 'Pro', ['pro', 'PRO'], ['pros', 'xpro', '', true, 0, undefined]],
  ['eq', 'münchen', ['München', 'MÜNCHEN'], ['munchen', 'Mu\u0308nchen', 'a', 1, undefined]],
  ['eq', 'k', ['K'], ['\u212a']],
  ['eq', '', [''], ['a', 0, false, undefined]],
  ['eq', 12, [12, '12', '12.0'], ['012', '12 ', '1.2e1', 12.5, true, undefined]],
  ['eq', '12.50', [12.5, '12.5'], ['12.50.0', '12,5', undefined]],
  ['eq', 1, [1, '1'], [true]],
  ['eq', '007', ['007'], [7, '7', '0007']],
  ['eq', '1234567890123456', ['1234567890123456'], ['1234567890123457', 1234567890123456]],
  ['eq', 0.1 + 0.2, [0.1 + 0.2], [0.3, '0.3']],
  ['eq', true, [true], ['true', 1, '1', false, undefined]],
  ['eq', 'true', ['true', 'TRUE'], [true]],
  ['ne', 'a', ['b', 1, true, undefined], ['a', 'A']],
  ['ne', true, [false, 'true', 1, undefined], [true]],
  ['gt', 9, [10, '10', 9.5], [9, '9', 'a', '1e3', true, undefined]],
  ['gte', '9', [9, '9', 10, '10', 'a', 'Ä'], [8, '8', '007', ' ', true, undefined]],
  ['gt', '10', [11, '11', 'a'], ['9', 9, '10', '1', undefined]],
  ['lt', 0, [-1, '-1.5'], [0, '0', '', '-', false, undefined]],
  ['lte', 'B', ['a', 'b', 'B', '', '1'], ['c', 'ba', 'ä', 1, true, undefined]],
  ['gt', 'Ö', ['ö1', 'Ü', '😀'], ['ö', 'z', 'Ä', 1, undefined]],
  ['lt', '😀', ['\uffff', 'a'], ['😀', '😀a']],
  ['contains', '%', ['100%', '%'], ['100', 'a_b', 100, undefined]],
  ['contains', '_', ['a_b'], ['aXb', '%']],
  ['contains', '\\', ['a\\b'], ['ab']],
  ['contains', 'ÄN', ['Schwäne', 'ÄN'], ['schwane', undefined]],
  ['contains', '1', ['a1', '1'], [1, 11, true, undefined]],
  ['not_contains', '1', ['a', 1, true, undefined], ['a1']],
  ['starts_with', 'a%', ['A%b'], ['aXb', 'a', undefined]],
  ['starts_with', 'Όδ', ['όΔΟΣ'], ['ΟΔΟΣ']],
  ['starts_with', '1', ['12'], [12, '21']],
  ['ends_with', 'ΟΣ', ['ΔΡΌΜΟΣ', 'οδός'.normalize('NFC').replace('ό', 'ο')], ['ΟΣΑ']],
  ['ends_with', '.example', ['A.EXAMPLE'], ['example', 'a.example.org', undefined]],
  ['ends_with', 'long text', ['a long text'], ['text']],
  ['in', ['a', 'Ö', 5, true], ['A', 'ö', 5, '5', '5.0', true], ['b', 1, '1', false, 'true', undefined]],
  ['not_in', ['a', 5], ['b', true, undefined], ['A', '5']],
  ['in', [1], [1, '1'], [true]],
  ['exists', undefined, ['', 0, false, 'a'], [undefined]],
  ['not_exists', undefined, [undefined], ['', 0, false, 'a']],
  [
    'before',
    '2026-01-01T00:00:00Z',
    ['2025-12-31T23:59:59.999Z', '2026-01-01T01:00:00+02:00', '0001-01-01T00:00Z', '2025-12-31'],
    [
      '2026-01-01T00:00:00Z',
      '2025-02-30T00:00:00Z',
      '2026-01-01',
      '2025-02-30',
      '2025-12-31 ',
      '2025',
      'soon',
      2025,
      undefined,
    ],
  ],
  [
    'after',
    '2026-01-01T00:00:00+01:00',
    ['2025-12-31T23:00:00.001Z', '2025-12-30T23:59:00-23:59', '9999-12-31T23:59:59-23:00', '2026-06-01'],
    ['2025-12-31T23:00:00Z', '2026-13-01T00:00:00Z', '2025-12-31', 'a', true, 9e15, undefined],
  ],
  [
    'before',
    '2026-01-31',
    ['2026-01-30', '2026-01-30T23:59:59Z', '2026-01-31T00:30:00+01:00'],
    ['2026-01-31', '2026-01-31T00:00:00Z', undefined],
  ],
  [
    'after',
    '2026-01-31',
    ['2026-02-01', '2026-02-01T00:00:00Z', '2026-01-31T23:30:00-01:00'],
    ['2026-01-31', '2026-01-31T23:59:59.999Z', undefined],
  ],
  ['before', '9999-12-31T23:59:59-23:59', ['9999-12-31T23:59:59.9999Z', '9999-12-31T23:59:59+00:00'], []],
  [
    'within_days',
    7,
    [isoTime(NOW), isoTime(NOW - 7 * DAY_MS), '2026-06-15T13:59:00+02:00', '2026-06-15'],
    [isoTime(NOW + 1), isoTime(NOW - 7 * DAY_MS - 1), '2026-06-08', '2026-06-16', 7, undefined],
  ],
];

for (const [cmp, value, finds, leaves] of LINES) {
  const shown = value === undefined ? '' : ` ${JSON.stringify(value)}`;
  test(`${cmp}${shown} finds ${finds.map((one) => JSON.stringify(one) ?? 'none').join(', ')}`, async () => {
    assert.deepEqual(await found(cmp, value, [...leaves, ...finds]), finds);
  });
}

test('a JSON null is a property that is missing', async () => {
  const contact = { ...BLANK, properties: { p: null as unknown as string } };
  for (const cmp of ['not_exists', 'ne', 'not_contains']) {
    const rule = { field: 'properties.p', cmp, ...(cmp === 'not_exists' ? {} : { value: 'a' }) };
    assert.deepEqual(await membersOf([contact], rule), [0], cmp);
  }
  assert.deepEqual(await membersOf([contact], { field: 'properties.p', cmp: 'exists' }), []);
});

test('columns of the contact are asked like properties', async () => {
  const contacts = [
    { ...BLANK, email: 'Ada@Example.com', firstName: 'Ädä', lastName: '12' },
    { ...BLANK, email: 'bob@example.org', unsubscribed: true, createdAt: NOW - 3 * DAY_MS },
  ];
  const lines: [rule: object, finds: number[]][] = [
    [{ field: 'email', cmp: 'eq', value: 'ada@example.COM' }, [0]],
    [{ field: 'email', cmp: 'ends_with', value: '.ORG' }, [1]],
    [{ field: 'email', cmp: 'exists' }, [0, 1]],
    [{ field: 'firstName', cmp: 'eq', value: 'äDÄ' }, [0]],
    [{ field: 'firstName', cmp: 'ne', value: 'äDÄ' }, [1]],
    [{ field: 'firstName', cmp: 'not_exists' }, [1]],
    [{ field: 'lastName', cmp: 'gt', value: '9' }, [0]],
    [{ field: 'lastName', cmp: 'in', value: ['x', '12.0'] }, [0]],
    [{ field: 'unsubscribed', cmp: 'eq', value: true }, [1]],
    [{ field: 'unsubscribed', cmp: 'ne', value: true }, [0]],
    [{ field: 'createdAt', cmp: 'within_days', value: 2 }, [0]],
    [{ field: 'createdAt', cmp: 'within_days', value: 3 }, [0, 1]],
    [{ field: 'createdAt', cmp: 'before', value: isoTime(NOW) }, [1]],
    [{ field: 'createdAt', cmp: 'after', value: isoTime(NOW - 3 * DAY_MS) }, [0]],
  ];
  for (const [rule, finds] of lines)
    assert.deepEqual(await membersOf(contacts, rule), finds, JSON.stringify(rule));
});

test("a topic is what the contact chose, else the topic's default, and nothing once it is deleted", async () => {
  const topics = new Map([
    ['top_in', true],
    ['top_out', false],
  ]);
  const contacts = [{}, { top_in: false, top_out: true, top_gone: true }].map((choices) => ({
    ...BLANK,
    topics: choices,
  }));
  const lines: [topic: string, cmp: string, value: boolean, finds: number[]][] = [
    ['top_in', 'eq', true, [0]],
    ['top_in', 'eq', false, [1]],
    ['top_in', 'ne', true, [1]],
    ['top_out', 'eq', true, [1]],
    ['top_out', 'eq', false, [0]],
    ['top_gone', 'eq', true, []],
    ['top_gone', 'eq', false, []],
    ['top_gone', 'ne', true, [0, 1]],
  ];
  for (const [topic, cmp, value, finds] of lines)
    assert.deepEqual(
      await membersOf(contacts, { field: `topics.${topic}`, cmp, value }, topics),
      finds,
      `${topic} ${cmp} ${value}`,
    );
});

test('groups nest, and hold as their operator says', async () => {
  const contacts = ['a', 'b', 'c'].map((p) => ({ ...BLANK, properties: { p } }));
  const members = openMembers(contacts);
  const is = (value: string) => ({ field: 'properties.p', cmp: 'eq', value });
  const finds = async (filter: object) => (await members.find(filter)).found;
  assert.deepEqual(await finds({ op: 'OR', rules: [is('a'), is('c')] }), [0, 2]);
  assert.deepEqual(await finds({ op: 'and', rules: [is('a'), is('c')] }), []);
  const nested = {
    op: 'and',
    rules: [
      { op: 'or', rules: [is('a'), is('b')] },
      { op: 'Or', rules: [is('b'), is('c')] },
    ],
  };
  assert.deepEqual(await finds(nested), [1]);
  const deepest = [1, 2, 3, 4].reduce<object>((inner) => ({ op: 'or', rules: [inner] }), {
    op: 'or',
    rules: [is('c')],
  });
  assert.deepEqual(await finds(deepest), [2]);
  members.close();
});

test('names of properties are data: none reaches another property, or the statement', async () => {
  const contacts = [
    { __proto__: 1 },
    JSON.parse('{"__proto__":"x"}'),
    { constructor: 'x' },
    { '0': 'x' },
  ].map((properties) => ({ ...BLANK, properties }));
  for (const [key, finds] of [
    ['__proto__', [1]],
    ['constructor', [2]],
    ['0', [3]],
    ['toString', []],
  ] as const)
    assert.deepEqual(await membersOf(contacts, { field: `properties.${key}`, cmp: 'exists' }), finds, key);
});

test('the most rules with the most values there may be are still one statement', async () => {
  const rules = Array.from({ length: 50 }, (_, index) => ({
    field: `properties.p${index}`,
    cmp: 'not_in',
    value: Array.from({ length: 50 }, (_, value) => `ä${value}`),
  }));
  assert.deepEqual(await membersOf([BLANK], { op: 'or', rules }), [0]);
});
