import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type TSchema, Type } from 'typebox';
import { meantAmong, nearMissesOf } from '../../../src/http/json/near-misses.ts';
import { PLAIN_TEXT } from '../../../src/http/json/plain-text.ts';
import { serve } from '../serve.ts';

const name = Type.String({ minLength: 2, maxLength: 5 });
const schema = Type.Object({
  any: Type.Optional(Type.Unknown()),
  name: Type.Optional(name),
  required: Type.Optional(Type.Object({ inner: Type.Object({ deep: Type.String() }) })),
  nullable: Type.Optional(Type.Union([Type.String({ maxLength: 3 }), Type.Null()])),
  either: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems: 2 })])),
  whole: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  least: Type.Optional(Type.Number({ minimum: 1 })),
  most: Type.Optional(Type.Number({ maximum: 1 })),
  flag: Type.Optional(Type.Boolean()),
  one: Type.Optional(Type.Enum(['a', 'b'])),
  fixed: Type.Optional(Type.Literal('x')),
  single: Type.Optional(Type.String({ minLength: 1, maxLength: 1 })),
  list: Type.Optional(Type.Array(Type.Object({ id: name }), { maxItems: 1 })),
  few: Type.Optional(Type.Array(Type.String(), { minItems: 2, uniqueItems: true })),
  line: Type.Optional(Type.String({ pattern: PLAIN_TEXT })),
  code: Type.Optional(Type.String({ pattern: '^[A-Z]+$', description: 'Capital letters.' })),
  bare: Type.Optional(Type.String({ pattern: '^[A-Z]+$' })),
  strict: Type.Optional(Type.Object({ a: Type.Optional(Type.String()) }, { additionalProperties: false })),
  keys: Type.Optional(
    Type.Unsafe<object>({
      type: 'object',
      propertyNames: { pattern: '^[a-z]+$', description: 'Small letters.' },
      additionalProperties: { type: 'string' },
      maxProperties: 2,
    }),
  ),
  unions: Type.Optional(Type.Array(Type.Union([Type.String(), Type.Null()]))),
  not: Type.Optional(Type.Unsafe<object>({ not: { type: 'string' }, description: 'No text.' })),
} satisfies Record<string, TSchema>);

const { send } = await serve({}, (server) => {
  server.post('/found', { schema: { body: schema } }, async () => ({}));
});

async function found(
  payload: unknown,
): Promise<{ message: string; param?: string; issues: { path: string; message: string }[] }> {
  const headers = { 'content-type': 'application/json' };
  const { status, body } = await send({
    method: 'POST',
    url: '/found',
    headers,
    payload: JSON.stringify(payload),
  });
  assert.deepEqual([status, body.error.type], [400, 'validation_error'], JSON.stringify(payload));
  return body.error;
}

const LONG = 'k'.repeat(10_000);

test('an error of a field says in words what is wrong, and where', async () => {
  for (const [body, param, words] of [
    [{ name: 5 }, 'name', 'must be a string'],
    [{ name: 'a' }, 'name', 'must have at least 2 characters'],
    [{ name: 'abcdef' }, 'name', 'must have at most 5 characters'],
    [{ required: {} }, 'required.inner', 'is required'],
    [{ required: { inner: {} } }, 'required.inner.deep', 'is required'],
    [{ required: { inner: { deep: 1 } } }, 'required.inner.deep', 'must be a string'],
    [{ required: [] }, 'required', 'must be an object'],
    [{ nullable: 5 }, 'nullable', 'must be a string or null'],
    [{ nullable: 'abcd' }, 'nullable', 'must have at most 3 characters'],
    [{ either: 5 }, 'either', 'must be a string or a list'],
    [{ either: ['a', 5] }, 'either[1]', 'must be a string'],
    [{ either: [] }, 'either', 'must not be empty'],
    [{ either: ['a', 'b', 'c'] }, 'either', 'must have at most 2 items'],
    [{ whole: 0 }, 'whole', 'must be between 1 and 100'],
    [{ whole: 101 }, 'whole', 'must be between 1 and 100'],
    [{ whole: 1.5 }, 'whole', 'must be a whole number'],
    [{ least: 0 }, 'least', 'must be at least 1'],
    [{ most: 2 }, 'most', 'must be at most 1'],
    [{ flag: 'true' }, 'flag', 'must be true or false'],
    [{ one: 'c' }, 'one', 'must be one of a, b'],
    [{ fixed: 'y' }, 'fixed', 'must be "x"'],
    [{ single: '' }, 'single', 'must not be empty'],
    [{ single: 'ab' }, 'single', 'must have at most 1 character'],
    [{ list: {} }, 'list', 'must be a list'],
    [{ list: [{ id: 'a' }] }, 'list[0].id', 'must have at least 2 characters'],
    [{ list: [{ id: 'ab' }, { id: 'ab' }] }, 'list', 'must have at most 1 item'],
    [{ few: ['a'] }, 'few', 'must have at least 2 items'],
    [{ few: ['a', 'a'] }, 'few', 'must not name anything twice'],
    [{ line: 'a\nb' }, 'line', 'must be plain text in one line, without control characters'],
    [{ code: 'a' }, 'code', 'has a form that is not allowed: Capital letters.'],
    [{ bare: 'a' }, 'bare', 'has a form that is not allowed'],
    [{ strict: { b: 1 } }, 'strict.b', 'is not a field'],
    [{ keys: { A: 'a' } }, 'keys.A', 'is not a name that is allowed here: Small letters.'],
    [{ keys: { a: 1 } }, 'keys.a', 'must be a string'],
    [{ keys: { a: '', b: '', c: '' } }, 'keys', 'must have at most 2 entries'],
    [{ not: 'text' }, 'not', 'is not valid: No text.'],
    [{ strict: { [LONG]: 1 } }, `strict.${'k'.repeat(100)}…`, 'is not a field'],
    [{ strict: { 'a/b~c': 1 } }, 'strict.a/b~c', 'is not a field'],
  ] as const) {
    const error = await found(body);
    assert.deepEqual(error.issues, [{ path: param, message: words }], JSON.stringify(body).slice(0, 200));
    assert.equal(error.message, `\`${param}\` ${words}`);
    assert.equal(error.param, param);
  }
});

test('a body that is wrong as a whole has no field to blame', async () => {
  for (const body of [[], 7, 'x', null]) {
    const error = await found(body);
    assert.equal(error.message, 'The body must be an object');
    assert.equal(error.param, undefined);
  }
});

test('a refusal lists every wrong field, in the order of the schema, and names the first as `param`', async () => {
  const error = await found({ name: 5, either: ['a', 5, 6], whole: 0, list: [{ id: 'a' }], line: '' });
  assert.deepEqual(error.issues, [
    { path: 'name', message: 'must be a string' },
    { path: 'either', message: 'must have at most 2 items' },
    { path: 'either[1]', message: 'must be a string' },
    { path: 'either[2]', message: 'must be a string' },
    { path: 'whole', message: 'must be between 1 and 100' },
    { path: 'list[0].id', message: 'must have at least 2 characters' },
  ]);
  assert.equal(error.param, 'name');
  assert.equal(error.message, '`name` must be a string');
});

test('a misspelled field is listed with what the schema found, and before it', async () => {
  const error = await found({ Name: 'abc', FLAG: true, whole: 0 });
  assert.deepEqual(error.issues, [
    { path: 'Name', message: 'is not a field; did you mean `name`?' },
    { path: 'FLAG', message: 'is not a field; did you mean `flag`?' },
    { path: 'whole', message: 'must be between 1 and 100' },
  ]);
  assert.equal(error.param, 'Name');
});

const wrongItems = (count: number) =>
  Array.from({ length: count }, (_, index) => (index % 2 ? { id: 7 } : 7));

test('at most 20 wrong fields are listed', async () => {
  const error = await found({ unions: wrongItems(500) });
  assert.equal(error.issues.length, 20);
  assert.deepEqual(error.issues.slice(0, 2), [
    { path: 'unions[0]', message: 'must be a string or null' },
    { path: 'unions[1]', message: 'must be a string or null' },
  ]);
});

test('a body of very many values, or with a very long key, is refused for its first wrong field alone', async () => {
  const first = [{ path: 'whole', message: 'must be between 1 and 100' }];
  assert.deepEqual((await found({ unions: wrongItems(15_000), whole: 0 })).issues, first);
  assert.deepEqual((await found({ strict: { [LONG]: 1 }, whole: 0 })).issues, first);
});

test('a body of very many fields has the known ones spelled out once, not once for each', () => {
  let reads = 0;
  const names = ['from', 'to', 'replyTo', 'templateId'];
  const known = new Proxy(names, {
    get(target, key, receiver) {
      if (typeof key === 'string' && /^\d+$/.test(key)) reads++;
      return Reflect.get(target, key, receiver);
    },
  });
  const given = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`field_${index}`, 1]));
  const findNearMisses = nearMissesOf(known);
  assert.deepEqual(findNearMisses({ ...given, to: 'x' }), []);
  assert.ok(reads <= 4 * names.length, `${reads} reads`);
  const misspelled = findNearMisses({ ...given, reply_to: 'x', template_id: 'x' });
  assert.deepEqual(
    misspelled.map(({ message }) => message),
    [
      '`reply_to` is not a field; did you mean `replyTo`?',
      '`template_id` is not a field; did you mean `templateId`?',
    ],
  );
});

test('a near miss differs from a known name only in case, dashes and underscores', () => {
  const meantBy = meantAmong(['replyTo', 'from']);
  assert.deepEqual(['reply_to', 'Reply-To', 'REPLYTO', 'replyTo', 'From', 'reply', ''].map(meantBy), [
    'replyTo',
    'replyTo',
    'replyTo',
    'replyTo',
    'from',
    undefined,
    undefined,
  ]);
});
