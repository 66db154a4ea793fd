import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  endOfString,
  findShapeViolation,
  MAX_NAME_BYTES,
  MAX_NESTING,
  MAX_STRINGS,
  MAX_VALUES,
} from '../../../src/http/json/json-shape.ts';

const excess = (text: string) => findShapeViolation(Buffer.from(text));

test('nesting is allowed up to its limit', () => {
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  assert.equal(excess(nested(MAX_NESTING)), undefined);
  assert.match(excess(nested(MAX_NESTING + 1)) ?? '', /nested deeper/);
  assert.match(excess('{"a":'.repeat(1_000_000)) ?? '', /nested deeper/);
});

test('values are counted, what stands in strings is not', () => {
  assert.equal(excess(`[${'1,'.repeat(MAX_VALUES - 2)}1]`), undefined);
  assert.match(excess(`[${'1,'.repeat(MAX_VALUES)}1]`) ?? '', /more than/);
  assert.match(excess(`[${'{},'.repeat(MAX_VALUES)}1]`) ?? '', /more than/);
  assert.equal(excess(JSON.stringify({ html: ',[{'.repeat(MAX_VALUES), text: '\\",[\\\\' })), undefined);
});

test('strings are counted even where nothing stands between them', () => {
  assert.match(excess('""'.repeat(MAX_STRINGS + 1)) ?? '', /more than/);
  const fields = Array.from({ length: MAX_VALUES / 2 - 1 }, (_, index) => `"${index}":"x"`);
  assert.equal(excess(`{${fields.join(',')}}`), undefined);
});

test('a string ends at its first quote that is not escaped, however long and whatever stands in it', () => {
  const filler = fc.constantFrom('x', '\\\\', '\\"', '\\/', 'y'.repeat(63), 'z'.repeat(64), '{', '\\\\\\"');
  fc.assert(
    fc.property(fc.array(filler, { maxLength: 40 }), (parts) => {
      const text = `"${parts.join('')}"`;
      assert.equal(endOfString(Buffer.from(`${text}, "more"`), 0), text.length - 1);
    }),
    { seed: 20260301, numRuns: 250 },
  );
});

test('an unclosed string ends with the text', () => {
  assert.equal(excess('"abc'), undefined);
  assert.equal(excess('"abc\\"'), undefined);
});

test('every small value that JSON.stringify writes is accepted', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), (json) => assert.equal(excess(json), undefined)),
    { seed: 20260301 },
  );
});

test('an object that names a member twice is found, at any depth and however the name is written', () => {
  for (const [text, name] of [
    ['{"a":1,"a":1}', 'a'],
    ['{"to":"x","cc":[{"a":{}},{"b":1,"b":2}],"subject":""}', 'b'],
    ['{"a":{"a":[]},"b":{},"a":null}', 'a'],
    ['{"a":1,"\\u0061":2}', '\\u0061'],
    ['{"é":1,"\\u00e9":2}', '\\u00e9'],
    ['{"" : 1 , "" : 2}', ''],
    [`{"${'k'.repeat(500)}":1,"${'k'.repeat(500)}":2}`, 'k'.repeat(99)],
  ] as const) {
    assert.equal(excess(text), `name \`${name}\` twice in one object`);
  }
});

test('the same name in two objects, as a value, or in another case is no repetition', () => {
  for (const text of [
    '[{"a":1},{"a":1}]',
    '{"a":{"a":{"a":1}},"b":{"a":2}}',
    '{"a":"a","b":["a","a"],"c":"b"}',
    '{"a":1,"A":2,"\\\\u0061":3}',
    '{"é":1,"\\u00c3\\u00a9":2}',
    '["a","a"]',
    '{"a":1,"\\x":2,"\\x":3}',
  ]) {
    assert.equal(excess(text), undefined, text);
  }
});

test('a field name is at most 16 KiB long', () => {
  const named = (bytes: number) => Buffer.from(JSON.stringify({ a: { ['/'.repeat(bytes)]: 1 } }));
  assert.equal(findShapeViolation(named(MAX_NAME_BYTES - 1)), undefined);
  assert.equal(findShapeViolation(named(MAX_NAME_BYTES)), 'have a field name of more than 16 KiB');
  assert.equal(
    findShapeViolation(Buffer.from(JSON.stringify({ text: 'x'.repeat(MAX_NAME_BYTES) }))),
    undefined,
  );
});
