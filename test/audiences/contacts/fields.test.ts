import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type ContactBody,
  contactAddress,
  findAddress,
  type PropertyValue,
  readContactFields,
} from '../../../src/audiences/contacts/fields.ts';
import { mergeContact, newContact, readProperties } from '../../../src/audiences/contacts/merge.ts';
import { AppError } from '../../../src/system/errors.ts';
import { anyCharacter } from '../../support/any-character.ts';

const SEED = 20_260_302;
const NOW = 1_800_000_000_000;
const KEY = { id: 'ct_1', tenantId: 'ten_1', audienceId: 'aud_1', email: 'ada@example.com' } as const;
const NOBODY = newContact(KEY, { fields: {}, now: NOW, topicIds: new Set() });

function refusal(run: () => unknown): { code: string; param: string | undefined } {
  try {
    run();
  } catch (error) {
    if (error instanceof AppError) return { code: error.code, param: error.options.param };
    throw error;
  }
  assert.fail('nothing was refused');
}

function stored(properties: Record<string, PropertyValue | null>, before = NOBODY) {
  const fields = readContactFields({ properties });
  return mergeContact(before, { fields, now: NOW + 1, topicIds: new Set() });
}

test('fields that the caller leaves out are absent from the result', () => {
  assert.deepEqual(readContactFields({}), {});
  const all: ContactBody = {
    email: ' Ada@EXAMPLE.com ',
    firstName: 'Ada',
    lastName: null,
    unsubscribed: false,
    properties: { a: 1 },
    topics: [],
  };
  assert.deepEqual(readContactFields(all), { ...all, email: 'Ada@EXAMPLE.com', topics: {} });
});

const ADDRESSES: [spelling: string, address: string | undefined][] = [
  ['Ada@Example.COM', 'ada@example.com'],
  [' ada@example.com ', 'ada@example.com'],
  ['ada@BÜCHER.example', 'ada@xn--bcher-kva.example'],
  ['"ada"@example.com', 'ada@example.com'],
  ['"a b"@example.com', '"a b"@example.com'],
  ['"a<b>"@example.com', undefined],
  ['=?utf-8?q?a?=@example.com', undefined],
  ['<ada@example.com>', undefined],
  ['Ada <ada@example.com>', undefined],
  ['ada@example.com, bob@example.com', undefined],
  ['ada@localhost', undefined],
  ['ada@[192.0.2.1]', undefined],
  ['Äda@example.com', 'äda@example.com'],
  ['a\u202eda@example.com', undefined],
  ['ada@exam\0ple.com', undefined],
  ['ada@example.com\n', undefined],
  ['ada@\ud800.example', undefined],
  [`${'a'.repeat(65)}@example.com`, `${'a'.repeat(65)}@example.com`],
  [`${'a'.repeat(243)}@example.com`, undefined],
  ['', undefined],
];
for (const [spelling, address] of ADDRESSES) {
  test(`the address ${JSON.stringify(spelling)} is ${address ?? 'none'}`, () => {
    assert.equal(findAddress(spelling), address);
    if (address !== undefined) assert.equal(contactAddress(spelling), address);
    else
      assert.deepEqual(
        refusal(() => readContactFields({ email: spelling })),
        { code: 'validation_error', param: 'email' },
      );
  });
}

const TOPIC = `top_${'0'.repeat(26)}`;
const long = 'x'.repeat(2_001);
const BAD: [name: string, body: ContactBody, param: string][] = [
  ['a first name of 201 characters', { firstName: 'ä'.repeat(201) }, 'firstName'],
  ['a last name with a line break', { lastName: 'a\nb' }, 'lastName'],
  ['a name with a NUL', { firstName: '\0' }, 'firstName'],
  ['a name with a lone surrogate', { firstName: 'a\udc00' }, 'firstName'],
  ['a property value of 2,001 characters', { properties: { a: long } }, 'properties.a'],
  ['a property value with a control character', { properties: { a: 'b\u007f' } }, 'properties.a'],
  ['a property value with a lone surrogate', { properties: { a: '\ud800b' } }, 'properties.a'],
  ['a property that is 1e400', { properties: JSON.parse('{"a":1e400}') }, 'properties.a'],
  ['a property that is not a number', { properties: { a: Number.NaN } }, 'properties.a'],
  [
    'an integer that lost its last digit',
    { properties: JSON.parse('{"a":9007199254740993}') },
    'properties.a',
  ],
  ['an integer far beyond', { properties: { a: -1e300 } }, 'properties.a'],
  ['a property that is a list', { properties: JSON.parse('{"a":[1]}') }, 'properties.a'],
  [
    'a property that is an object',
    { properties: JSON.parse('{"__proto__":{"b":1}}') },
    'properties.__proto__',
  ],
  ['an empty key', { properties: { '': 1 } }, 'properties'],
  ['a key of 65 characters', { properties: { ['k'.repeat(65)]: 1 } }, 'properties'],
  ['a key with a quote and a bracket', { properties: { 'a"]': 1 } }, 'properties'],
  ['a key that ends in a line break', { properties: { 'a\n': 1 } }, 'properties'],
  ['a key outside ASCII', { properties: { größe: 1 } }, 'properties'],
  ['a topic id that is none', { topics: [{ id: 'top_x', subscription: 'opt_in' }] }, 'topics[0].id'],
  [
    'a topic id of another kind',
    { topics: [{ id: `tpl_${'0'.repeat(26)}`, subscription: 'opt_in' }] },
    'topics[0].id',
  ],
  [
    'a topic named twice',
    { topics: (['opt_in', 'opt_out'] as const).map((subscription) => ({ id: TOPIC, subscription })) },
    'topics[1].id',
  ],
];
for (const [name, body, param] of BAD) {
  test(`refused: ${name}`, () => {
    assert.deepEqual(
      refusal(() => readContactFields(body)),
      { code: 'validation_error', param },
    );
  });
}

test('the longest names and values are taken, an astral character counted once', () => {
  const body: ContactBody = {
    firstName: '😀'.repeat(200),
    lastName: 'é'.repeat(200),
    properties: { ['K_9'.padEnd(64, 'k')]: '😀'.repeat(2_000) },
  };
  assert.deepEqual(readContactFields(body), body);
});

test('topics become choices', () => {
  const other = `top_${'1'.repeat(26)}`;
  const topics = [
    { id: other, subscription: 'opt_out' as const },
    { id: TOPIC, subscription: 'opt_in' as const },
  ];
  assert.deepEqual(readContactFields({ topics }), { topics: { [other]: false, [TOPIC]: true } });
});

const key = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '0', '42', 'a', 'b'),
  fc.stringMatching(/^[A-Za-z0-9_]{1,64}$/),
);
const text = fc.oneof(
  fc.constantFrom('', '%', '_', '\\', "' OR 1=1 --", '"', '$.a', '{{a}}', '=1+1', 'true', '\u2028'),
  fc.string({ unit: 'grapheme', maxLength: 50 }).filter((value) => !/\p{Cc}/u.test(value)),
);
const value = fc.oneof(
  text,
  fc.boolean(),
  fc.maxSafeInteger(),
  fc.constantFrom(-0, 0, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 0.1, 1e-300, 5e-324, 1 / 3),
  fc.double({ noNaN: true, min: -1e15, max: 1e15 }),
);
/** As a parser makes them: own properties whatever their names. */
const properties = fc
  .array(fc.tuple(key, value), { maxLength: 30 })
  .map((entries) => Object.fromEntries(entries) as Record<string, PropertyValue>);

/** 0 and -0 are one number in JSON. */
function plainEntries(of: Record<string, PropertyValue>) {
  return Object.entries(of)
    .map(([name, item]) => [name, item === 0 ? 0 : item] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

test('legal properties come back as they were, whatever their keys and values', () => {
  fc.assert(
    fc.property(properties, (given) => {
      const kept = readProperties(stored(given).properties);
      assert.deepEqual(plainEntries(kept), plainEntries(given));
      assert.equal(Object.getPrototypeOf(kept), Object.prototype);
    }),
    { seed: SEED },
  );
  assert.equal(({} as Record<string, unknown>)['a'], undefined);
});

test('any value under any key is taken or refused by name, and nothing else happens', () => {
  const anyKey = fc.oneof(key, fc.string({ unit: anyCharacter }));
  const anything = fc.oneof(
    value,
    fc.anything({ maxDepth: 2 }),
    fc.string({ unit: anyCharacter }),
    fc.constant(Number.POSITIVE_INFINITY),
  );
  fc.assert(
    fc.property(anyKey, anything, (name, item) => {
      const given = Object.fromEntries([[name, item]]) as Record<string, PropertyValue>;
      try {
        const { properties: read = {} } = readContactFields({ properties: given });
        assert.deepEqual(Object.keys(read), [name]);
        assert.match(name, /^[A-Za-z0-9_]{1,64}$/);
        const kept = readProperties(stored(read).properties);
        assert.deepEqual(
          kept,
          item === null ? {} : Object.fromEntries([[name, Object.is(item, -0) ? 0 : item]]),
        );
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        assert.ok(['properties', `properties.${name}`].includes(error.options.param ?? ''));
      }
    }),
    { seed: SEED, numRuns: 100 },
  );
});

test('merging changes the named keys and no others, as a map would', () => {
  const change = fc
    .array(fc.tuple(key, fc.option(value)), { maxLength: 30 })
    .map((entries) => Object.fromEntries(entries) as Record<string, PropertyValue | null>);
  fc.assert(
    fc.property(properties, change, (given, said) => {
      const expected = new Map<string, PropertyValue>(Object.entries(given));
      for (const [name, item] of Object.entries(said)) {
        if (item === null) expected.delete(name);
        else expected.set(name, item);
      }
      const merged = readProperties(stored(said, stored(given)).properties);
      assert.deepEqual(plainEntries(merged), plainEntries(Object.fromEntries(expected)));
    }),
    { seed: SEED },
  );
});

test('saying what is known already changes nothing, not even the time', () => {
  fc.assert(
    fc.property(properties, (given) => {
      const before = stored(given);
      assert.equal(stored(given, before), before);
    }),
    { seed: SEED },
  );
});

test('a contact has at most 100 properties, counted after the merge', () => {
  const hundred = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`k${index}`, index]));
  const full = stored(hundred);
  assert.deepEqual(
    refusal(() => stored({ one: 1 }, full)),
    { code: 'validation_error', param: 'properties' },
  );
  const swapped = stored({ one: 1, k0: null }, full);
  assert.equal(Object.keys(readProperties(swapped.properties)).length, 100);
});

test('properties take at most 32 KiB of JSON in UTF-8, counted after the merge', () => {
  // Each pair takes 2,007 bytes of JSON: 16 of them and the braces 32,113.
  const most = Object.fromEntries(
    Array.from({ length: 16 }, (_, index) => [String.fromCharCode(97 + index), 'x'.repeat(2_000)]),
  );
  const almost = stored(most);
  const room = 32 * 1024 - Buffer.byteLength(almost.properties);
  const filler = 'é'.repeat(Math.floor((room - ',"z":""'.length) / 2));
  const full = stored({ z: filler }, almost);
  assert.ok(Buffer.byteLength(full.properties) >= 32 * 1024 - 1);
  assert.deepEqual(
    refusal(() => stored({ z: `${filler}é` }, almost)),
    { code: 'validation_error', param: 'properties' },
  );
});

test('an address that could be taken for another one is refused for that reason', () => {
  assert.throws(
    () => contactAddress('=?utf-8?q?a?=@example.com'),
    /^AppError: `email` must not have `=\?` before the @/,
  );
});
