import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { LARGE_TEXT_BYTES } from '../../../src/http/json/json-body.ts';
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
