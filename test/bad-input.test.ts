/**
 * Whatever comes in as the body of a request, of any shape: an answer in the envelope that a program can read, which names
 * the field, and never a 500. The routes are those of the document, so a new one is tried by being there.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { BODY_LIMIT_BYTES } from '../src/http/server.ts';
import { blamable, fieldsOf, spoiled } from './bad-input/fields.ts';
import { WRONG, WRONG_BELOW } from './bad-input/hostile.ts';
import { type Answer, openBadInput, type Route, run } from './bad-input/world.ts';

const DEEP_LEVELS = 20_000;
const ROUNDS = 80;
/** More than any route takes; a batch takes most (decisions.md, values). */
const TOO_LARGE_BYTES = 51 * 1024 * 1024;

const world = await openBadInput();
const { ask } = world;
after(() => world.close());

/** 400 for the body of a route; accepted values may be accepted. */
function mayRefuse({ status }: Answer, about: string): void {
  assert.ok([200, 201, 202, 400, 404, 409, 422].includes(status), `${status} ${about}`);
}

/** The field of the first level that a refusal blames. */
function blamed({ body }: Answer): string {
  return (body.error?.param ?? '').replace(/[[.].*/s, '');
}

test('there is a route for every operation with a body', () => {
  const withBody = world.populated.operations.filter(({ body }) => body?.type === 'application/json');
  assert.ok(withBody.length > 25);
  assert.equal(world.routes.filter(({ api }) => api === 'public').length, withBody.length);
});

for (const route of world.routes) {
  const { name, api, method, url, valid, mayLack } = route;

  test(`${name} bears any JSON`, async () => {
    await run(
      fc.asyncProperty(fc.json({ maxDepth: 4 }), async (payload) => {
        const { status } = await ask(api, { method, url, payload });
        const isEnough = mayLack !== undefined && payload.startsWith('{');
        assert.ok((isEnough ? route.successes : [400]).includes(status), `${status} ${payload}`);
      }),
      ROUNDS,
    );
  });

  test(`${name} bears anything in any field, and names the field`, async () => {
    for (const steps of fieldsOf(route)) {
      for (const value of steps.length === 1 ? WRONG : WRONG_BELOW) {
        const payload = JSON.stringify(spoiled(valid, steps, value));
        const answer = await ask(api, { method, url, payload });
        const about = `${steps.join('.')}: ${payload.slice(0, 200)} ${answer.text}`;
        mayRefuse(answer, about);
        if (answer.status === 400) assert.ok(blamable(steps).includes(blamed(answer)), about);
        if (answer.status === 200 && route.isBatch) assertItems(answer, steps[2]);
      }
    }
  });

  test(`${name} bears several bad fields at once`, () => bearSeveral(route));
  test(`${name} bears bodies that are no sound JSON, or too much of it`, () => bearUnsound(route));

  test(`${name} takes JSON alone`, async () => {
    const payload = JSON.stringify(valid);
    for (const type of ['text/plain', 'text/csv', 'multipart/form-data', 'x', '']) {
      const { status, body } = await ask(api, { method, url, payload, headers: { 'content-type': type } });
      assert.deepEqual([status, body.error?.type], [415, 'unsupported_media_type'], type);
    }
  });

  test(`${name} refuses a body of 51 MiB with 413`, async () => {
    const payload = Buffer.alloc(TOO_LARGE_BYTES, ' ');
    const { status, body } = await ask(api, { method, url, payload });
    assert.ok(payload.length > BODY_LIMIT_BYTES);
    assert.deepEqual([status, body.error?.type], [413, 'payload_too_large']);
  });
}

/** What is wrong with an item is said of it, in the words of any refusal, which name its field. */
function assertItems({ text }: Answer, field: string | number | undefined): void {
  const { data } = JSON.parse(text) as { data: { error?: { type: string; message: string } }[] };
  assert.ok(data.length > 0, text);
  for (const { error } of data) {
    if (error === undefined) continue;
    assert.match(error.type, /^[a-z_]+$/, text);
    assert.notEqual(error.message, '', text);
    if (error.type === 'validation_error' && field !== undefined)
      assert.ok(error.message.includes(`${field}`), text);
  }
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

async function bearUnsound(route: Route): Promise<void> {
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
  for (const payload of refused) {
    for (const headers of [{}, { 'idempotency-key': 'bad' }]) {
      const { status } = await ask(api, { method, url, payload, headers });
      assert.equal(status, 400, String(payload).slice(0, 200));
    }
  }
  for (const payload of [undefined, '']) {
    const { status, body } = await ask(api, { method, url, ...(payload !== undefined && { payload }) });
    if (mayLack === 'body') assert.ok(route.successes.includes(status), `${status}`);
    else assert.deepEqual([status, body.error?.message], [400, 'A JSON body is required']);
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
