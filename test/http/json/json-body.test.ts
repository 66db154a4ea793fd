import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { compileOnce } from '../../../src/http/json/compile-once.ts';
import { LARGE_TEXT_BYTES, mayHaveLongNumbers, parseExactly } from '../../../src/http/json/json-body.ts';
import { MAX_VALUES } from '../../../src/http/json/json-shape.ts';
import { serve } from '../serve.ts';

/** Of the event loop, between the head of a request and its parsed body. */
let turns = 0;
const { server } = await serve({}, (one) => {
  let next: NodeJS.Immediate | undefined;
  const count = (): void => {
    turns += 1;
    next = setImmediate(count);
  };
  one.addHook('onRequest', async () => {
    turns = 0;
    next = setImmediate(count);
  });
  one.addHook('preValidation', async () => clearImmediate(next));
  one.post<{ Body: { a: string } }>('/text', { bodyLimit: 2 * LARGE_TEXT_BYTES }, async ({ body }) => ({
    length: body.a.length,
  }));
});
after(() => server.close());

async function turnsFor(bytes: number): Promise<number> {
  const payload = `{"a":"${'x'.repeat(bytes - 8)}"}`;
  const headers = { 'content-type': 'application/json' };
  const response = await server.inject({ method: 'POST', url: '/text', headers, payload });
  assert.deepEqual(response.json(), { length: bytes - 8 });
  return turns;
}

test('the event loop runs other tasks between two steps over a large text', async () => {
  // The first request takes its own time.
  await turnsFor(LARGE_TEXT_BYTES - 1);
  const small = await turnsFor(LARGE_TEXT_BYTES - 1);
  assert.equal(await turnsFor(LARGE_TEXT_BYTES), small + 2);
});

test('a long number among the variables arrives with all its digits', async (t) => {
  const { server } = await serve({}, (one) =>
    one.post('/text', async ({ body }) => ({ body: JSON.stringify(body) })),
  );
  t.after(() => server.close());
  const headers = { 'content-type': 'application/json' };
  const payload = '{"variables":{"id":9007199254740993,"n":1}}';
  const response = await server.inject({ method: 'POST', url: '/text', headers, payload });
  assert.equal(response.json().body, '{"variables":{"id":"9007199254740993","n":1}}');
});

test('a name that is refused wherever it stands is said, and is no broken JSON', async (t) => {
  const { server } = await serve({}, (one) => one.post('/text', async () => ({})));
  t.after(() => server.close());
  const headers = { 'content-type': 'application/json' };
  const refusal = async (payload: string) => {
    const response = await server.inject({ method: 'POST', url: '/text', headers, payload });
    assert.equal(response.statusCode, 400);
    return response.json().error.message as string;
  };
  for (const payload of [
    '{"a":"b","__proto__":1}',
    '{"a":"b","\\u005f_proto__":1}',
    '{"a":"b","c":[{"constructor":{"prototype":1}}]}',
  ]) {
    assert.match(await refusal(payload), /^The body must not have a field named `__proto__`/, payload);
  }
  assert.doesNotMatch(await refusal('{"a":"b","__proto__":1'), /__proto__/);
});

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

test('a schema is compiled at its first use, and equal schemas are compiled once', () => {
  const compiled: object[] = [];
  const compiler = compileOnce((schema) => {
    compiled.push(schema);
    return { schema };
  });
  const text = compiler({ type: 'string' });
  const sameText = compiler({ type: 'string' });
  const number = compiler({ type: 'number' });
  assert.deepEqual(compiled, []);
  assert.equal(sameText(), text());
  assert.notEqual(number(), text());
  assert.deepEqual(compiled, [{ type: 'string' }, { type: 'number' }]);
});
