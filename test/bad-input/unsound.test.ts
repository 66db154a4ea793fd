/** Bodies that are no sound JSON, or not JSON, or too much, or wrong in several fields: for each route of the document. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { MAX_BODY_BYTES } from '../../src/http/json/server.ts';
import { WRONG } from './hostile.ts';
import { turn } from './turns.ts';
import { mayRefuse, openBadInput, type Route, run } from './world.ts';

const DEEP_LEVELS = 20_000;
const ROUNDS = 15;
/** More than any route takes; a batch takes most. */
const TOO_LARGE = Buffer.alloc(51 * 1024 * 1024, ' ');

const world = await openBadInput();
const { ask } = world;
after(() => world.close());

for (const [place, route] of world.routes.entries()) {
  const { name, api, method, url, valid } = route;

  test(`${name} bears several bad fields at once`, () => bearSeveral(route));
  test(`${name} bears bodies that are no sound JSON, or too much of it`, () => bearUnsound(route, place));

  test(`${name} takes JSON alone`, async () => {
    const payload = JSON.stringify(valid);
    for (const type of ['text/plain', 'text/csv', 'multipart/form-data', 'x', '']) {
      const { status, body } = await ask(api, { method, url, payload, headers: { 'content-type': type } });
      assert.deepEqual([status, body.error?.type], [415, 'unsupported_media_type'], type);
    }
  });

  test(`${name} refuses a body of 51 MiB with 413`, async () => {
    const { status, body } = await ask(api, { method, url, payload: TOO_LARGE });
    assert.ok(TOO_LARGE.length > MAX_BODY_BYTES);
    assert.deepEqual([status, body.error?.type], [413, 'payload_too_large']);
  });
}

async function bearSeveral({ api, method, url, valid }: Route): Promise<void> {
  const anything = fc.oneof(fc.constantFrom(...WRONG), fc.anything({ maxDepth: 3 }));
  const fields = Object.fromEntries(
    Object.entries(valid).map(([field, value]) => [field, fc.oneof(fc.constant(value), anything)]),
  );
  const body = fc.record({ ...fields, extra: anything }, { requiredKeys: [] });
  await run(
    fc.asyncProperty(body, async (value) => {
      const payload = JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? `${item}` : item));
      mayRefuse(await ask(api, { method, url, payload }), payload.slice(0, 500));
    }),
    ROUNDS,
  );
}

/** A key of idempotency is looked at after the body: with each body, every third route has one. */
async function bearUnsound(route: Route, place: number): Promise<void> {
  const { api, method, url, valid, mayLack } = route;
  const good = JSON.stringify(valid);
  const withField = (text: string) => `${good.slice(0, -1)},${text}}`;
  const polluting = [
    withField('"__proto__":{"polluted":true}'),
    withField('"constructor":{"prototype":{"polluted":true}}'),
  ];
  const refused: (string | Buffer)[] = [
    ...[
      '{',
      '\0',
      'undefined',
      'NaN',
      `${good}${good}`,
      `${good.slice(0, -1)},}`,
      '"text"',
      '7',
      'null',
      '[]',
    ],
    ...(route.anyKey ? [] : polluting),
    withField(`${good.slice(1, -1)}`),
    '['.repeat(DEEP_LEVELS) + ']'.repeat(DEEP_LEVELS),
    withField(`"extra":${'{"a":'.repeat(DEEP_LEVELS)}1${'}'.repeat(DEEP_LEVELS)}`),
    withField(`"extra":${'['.repeat(DEEP_LEVELS)}${']'.repeat(DEEP_LEVELS)}`),
    Buffer.from(withField('"extra":"\xff\xfe"'), 'latin1'),
    Buffer.from([0xef, 0xbb, 0xbf, 0x80]),
    Buffer.from(good, 'utf16le'),
  ];
  for (const [index, payload] of refused.entries()) {
    for (const headers of [{}, ...turn([{ 'idempotency-key': 'bad' }], index + place, 3)]) {
      const { status } = await ask(api, { method, url, payload, headers });
      assert.equal(status, 400, String(payload).slice(0, 200));
    }
  }
  for (const payload of [undefined, '']) {
    const { status, body } = await ask(api, { method, url, ...(payload !== undefined && { payload }) });
    if (mayLack === 'body') assert.ok(route.successes.includes(status), `${status}`);
    else assert.deepEqual([status, body.error?.message], [400, wordsForNoBody(route)]);
  }
  const odd = [
    ...polluting,
    withField('"extra":1e999'),
    withField(`"extra":${'9'.repeat(10_000)}`),
    `\ufeff${good}`,
  ];
  for (const payload of odd) {
    for (const headers of [{}, { 'idempotency-key': String(payload.length) }]) {
      mayRefuse(await ask(api, { method, url, payload, headers }), payload.slice(0, 200));
    }
  }
  assert.equal(({} as { polluted?: unknown }).polluted, undefined);
}

/** The one field that would do is named. That of an operator's route is not known here. */
function wordsForNoBody({ schema }: Route): string {
  const [field, ...others] = schema?.required ?? [];
  const isEnough = field !== undefined && others.length === 0;
  return isEnough ? `A JSON body is required, with \`${field}\`` : 'A JSON body is required';
}

test('an operation that takes no body bears one', async () => {
  const { operations, owner } = world.populated;
  const bodiless = operations.filter(({ method, body }) => method !== 'GET' && !body);
  assert.ok(bodiless.length > 10);
  for (const { method, path, ids } of bodiless) {
    const url = ids.reduce((filled, { name, prefix }) => {
      const isSubject = name === ids.at(-1)?.name && method === 'DELETE';
      return filled.replace(`{${name}}`, isSubject ? `${prefix}_${'0'.repeat(26)}` : owner.ids[prefix]);
    }, path);
    for (const payload of ['{', '[]', '7', '{"a":1}', '{"__proto__":1}', '\0', '['.repeat(DEEP_LEVELS)]) {
      const { status } = await ask('public', { method, url, payload });
      assert.ok(
        [200, 202, 400, 404, 409].includes(status),
        `${status} ${method} ${url} ${payload.slice(0, 50)}`,
      );
    }
  }
});
