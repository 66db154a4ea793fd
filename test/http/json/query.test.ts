import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from 'typebox';
import { serve } from '../serve.ts';

const { send } = await serve({}, (server) => {
  const tags = Type.Object({
    tag: Type.Optional(Type.String()),
    many: Type.Optional(Type.Array(Type.String())),
  });
  server.get('/tagged', { schema: { querystring: tags } }, async ({ query }) => ({ got: query }));
  const body = Type.Object({ type: Type.Optional(Type.String()) });
  server.post('/maybe', { config: { bodyOptional: true }, schema: { body } }, async (request) => ({
    got: request.body,
  }));
});

async function refusal(url: string): Promise<[number, string | undefined, string | undefined]> {
  const { status, body } = await send({ method: 'GET', url });
  return [status, body.error?.param, body.error?.message];
}

test('a parameter that is given twice is refused by its name, of whatever type it is', async () => {
  for (const [url, name] of [
    ['/things?limit=1&limit=2', 'limit'],
    ['/things?startingAfter=a&startingAfter=a', 'startingAfter'],
    ['/tagged?tag=a&tag=b', 'tag'],
    ['/tagged?many=a&many=b', 'many'],
  ] as const) {
    assert.deepEqual(await refusal(url), [400, name, `\`${name}\` may be given only once`]);
  }
});

test('a parameter that nobody knows is ignored, also twice', async () => {
  const { status, body } = await send({ method: 'GET', url: '/things?limit=3&utm=1&utm=2&__proto__=x' });
  assert.equal(status, 200);
  assert.equal(body.got.limit, 3);
});

test('a parameter in another spelling is told the right one', async () => {
  for (const [spelling, meant] of [
    ['starting_after', 'startingAfter'],
    ['ending-before', 'endingBefore'],
    ['Limit', 'limit'],
    ['createdafter', 'createdAfter'],
  ] as const) {
    assert.deepEqual(await refusal(`/things?${spelling}=x`), [
      ...([400, spelling] as const),
      `\`${spelling}\` is not a parameter; did you mean \`${meant}\`?`,
    ]);
  }
});

test('a parameter out of its range is refused in words', async () => {
  for (const limit of ['0', '101', '-1', '9e9']) {
    assert.deepEqual(await refusal(`/things?limit=${limit}`), [
      ...([400, 'limit'] as const),
      '`limit` must be between 1 and 100',
    ]);
  }
  for (const limit of ['', 'x', '1.5', 'null', 'true']) {
    assert.deepEqual(await refusal(`/things?limit=${limit}`), [
      ...([400, 'limit'] as const),
      '`limit` must be a whole number',
    ]);
  }
});

test('an optional body that is absent counts as empty, and one that is present is checked', async () => {
  const ask = async (payload?: string) => {
    const headers = { 'content-type': 'application/json' };
    const { status, body } = await send({
      ...{ method: 'POST', url: '/maybe' },
      ...(payload !== undefined && { headers, payload }),
    });
    return [status, body.got ?? body.error.message];
  };
  assert.deepEqual(await ask(), [200, {}]);
  assert.deepEqual(await ask(''), [200, {}]);
  assert.deepEqual(await ask('{"type":"a"}'), [200, { type: 'a' }]);
  assert.deepEqual(await ask('{"type":5}'), [400, '`type` must be a string']);
  assert.deepEqual(await ask('null'), [400, 'The body must be an object']);
});
