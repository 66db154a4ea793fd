import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listEnvelope, pageRequest } from '../../../src/http/json/page.ts';
import { AppError } from '../../../src/system/errors.ts';
import { newId } from '../../../src/system/ids.ts';
import { serve } from '../serve.ts';

const { send } = await serve();
const get = (query: string) => send({ method: 'GET', url: `/things?${query}` });
const ID = newId('em', Date.UTC(2030, 0, 1));
const OTHER = newId('em', Date.UTC(2030, 0, 2));

test('a page holds 20 items, or as many as asked for up to 100', async () => {
  assert.equal((await get('')).body.got.limit, 20);
  assert.equal((await get('limit=1')).body.got.limit, 1);
  assert.equal((await get('limit=100')).body.got.limit, 100);
  assert.equal(pageRequest({}, 'em').limit, 20);
});

test('a limit that is none is a bad request that names it', async () => {
  for (const limit of ['0', '101', '-1', '1.5', 'abc', '1e9', '', 'NaN', '10&limit=20']) {
    const { status, body } = await get(`limit=${limit}`);
    assert.equal(status, 400, limit);
    assert.equal(body.error.type, 'validation_error');
    assert.equal(body.error.param, 'limit');
  }
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
