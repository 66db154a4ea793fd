import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayHaveLongNumbers, parseExactly } from '../../../src/http/json/exact-numbers.ts';
import { MAX_VALUES } from '../../../src/http/json/json-shape.ts';

const LONG = '9007199254740993';

test('long numbers of the caller keep their digits as text, and others stay numbers', () => {
  const text = `{"variables":{"id":${LONG},"n":-12345678901234567890,"exact":9007199254740992,"x":1.5,"s":"${LONG}"},"limit":${LONG},"emails":[{"variables":{"a":0.12345678901234567}}],"properties":{"nested":1000000000000000000000}}`;
  assert.ok(mayHaveLongNumbers(text));
  assert.deepEqual(parseExactly(text), {
    variables: { id: LONG, n: '-12345678901234567890', exact: 9007199254740992, x: 1.5, s: LONG },
    limit: Number(LONG),
    emails: [{ variables: { a: '0.12345678901234567' } }],
    properties: { nested: '1000000000000000000000' },
  });
});

test('a name like `__proto__` stays a name', () => {
  const { variables } = parseExactly(`{"variables":{"__proto__":${LONG}}}`) as { variables: object };
  assert.deepEqual(Object.entries(variables), [['__proto__', LONG]]);
});

test('texts without long numbers are not parsed twice', () => {
  for (const text of ['{"a":1234567890}', '{"a":"1234567890123456789"}', '[]'])
    assert.ok(!mayHaveLongNumbers(text));
});

test('a body full of long numbers takes milliseconds', () => {
  const numbers = Array.from({ length: MAX_VALUES }, () => LONG);
  const members = numbers.map((number, index) => `"k${index}":${number}`);
  for (const text of [`{"a":[${numbers.join()}]}`, `{"variables":{${members.join()}}}`]) {
    const started = process.cpuUsage();
    parseExactly(text);
    const { user, system } = process.cpuUsage(started);
    assert.ok(user + system < 2_000_000, `${(user + system) / 1000} ms`);
  }
});
