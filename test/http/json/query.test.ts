import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from 'typebox';
import { listEnvelope, pageRequest } from '../../../src/http/json/page.ts';
import { AppError } from '../../../src/system/errors.ts';
import { newId } from '../../../src/system/ids.ts';
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

const { send: sendPage } = await serve();
const get = (query: string) => sendPage({ method: 'GET', url: `/things?${query}` });
const ID = newId('em', Date.UTC(2030, 0, 1));
const OTHER = newId('em', Date.UTC(2030, 0, 2));

test('a page holds 20 items, or as many as asked for up to 100', async () => {
  assert.equal((await get('')).body.got.limit, 20);
  assert.equal((await get('limit=1')).body.got.limit, 1);
  assert.equal((await get('limit=100')).body.got.limit, 100);
  assert.equal(pageRequest({}, 'em').limit, 20);
});

test('a page takes one cursor, in either direction, of its own list', () => {
  assert.deepEqual(pageRequest({ limit: 5, startingAfter: ID }, 'em'), { limit: 5, startingAfter: ID });
  assert.deepEqual(pageRequest({ endingBefore: ID }, 'em'), { limit: 20, endingBefore: ID });
});

function refusalOf(query: { startingAfter?: string; endingBefore?: string }): AppError {
  try {
    pageRequest(query, 'em');
  } catch (error) {
    if (error instanceof AppError) return error;
  }
  return assert.fail(`${JSON.stringify(query)} was accepted`);
}

test('two cursors are a bad request', () => {
  const { code, options } = refusalOf({ startingAfter: ID, endingBefore: OTHER });
  assert.deepEqual({ code, param: options.param }, { code: 'validation_error', param: 'endingBefore' });
});

test('a cursor of another list, or none at all, is a bad request', () => {
  for (const cursor of [newId('dom', 1), '', 'em_', 'em_1', ID.toUpperCase(), `${ID}'`]) {
    for (const param of ['startingAfter', 'endingBefore']) {
      const { code, options } = refusalOf({ [param]: cursor });
      assert.deepEqual({ code, param: options.param }, { code: 'validation_error', param });
      assert.equal(options.issues?.[0]?.path, param);
    }
  }
});

test('the envelope tells where to go on', () => {
  const items = [{ id: 'c' }, { id: 'b' }];
  const show = ({ id }: { id: string }) => id;
  assert.deepEqual(listEnvelope({}, { items, hasMore: true }, show), {
    data: ['c', 'b'],
    hasMore: true,
    nextCursor: 'b',
  });
  assert.deepEqual(listEnvelope({ startingAfter: 'd' }, { items, hasMore: false }, show).nextCursor, null);
  assert.deepEqual(listEnvelope({}, { items: [], hasMore: false }, show), {
    data: [],
    hasMore: false,
    nextCursor: null,
  });
});

test('on the way back, older items exist for certain', () => {
  const show = ({ id }: { id: string }) => id;
  const back = listEnvelope(
    { endingBefore: 'a' },
    { items: [{ id: 'c' }, { id: 'b' }], hasMore: false },
    show,
  );
  assert.deepEqual(back, { data: ['c', 'b'], hasMore: false, nextCursor: 'b' });
});
