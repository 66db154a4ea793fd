/**
 * Whatever comes in as the body of a request, of any shape: an answer in the envelope that a program can read, which names
 * the field, and never a 500. The routes are those of the document, so a new one is tried by being there.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { MAX_BODY_BYTES } from '../src/http/json/server.ts';
import { blamable, fieldsOf, type Steps, spoiled, takesList } from './bad-input/fields.ts';
import { HOSTILE, WRONG, WRONG_BELOW, WRONG_LISTS, WRONG_TYPES } from './bad-input/hostile.ts';
import { withoutStall } from './bad-input/stall.ts';
import { turn } from './bad-input/turns.ts';
import { type Answer, mayRefuse, openBadInput, type Route, run } from './bad-input/world.ts';

const ROUNDS = 10;

const world = await openBadInput();
const { ask } = world;
after(() => world.close());

/**
 * Returns the values that a field is tried with. One validator judges the types of all fields, and one reader their texts,
 * so the fields share the values.
 */
function wrongFor(route: Route, steps: Steps, place: number): unknown[] {
  if (steps.length > 1 || !Object.hasOwn(route.valid, steps[0])) return turn(WRONG_BELOW, place, 4);
  const texts = turn(HOSTILE, place, route.method === 'PATCH' ? 5 : 4);
  const lists = takesList(route, steps[0]) ? turn(WRONG_LISTS, place, 4) : [];
  return [...turn(WRONG_TYPES, place, 4), ...texts, ...lists];
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
    for (const [place, steps] of fieldsOf(route).entries()) {
      for (const value of wrongFor(route, steps, place)) {
        const payload = JSON.stringify(spoiled(valid, steps, value));
        const answer = await ask(api, { method, url, payload });
        const about = `${steps.join('.')}: ${payload.slice(0, 200)} ${answer.text}`;
        mayRefuse(answer, about);
        if (answer.status === 400) assert.ok(blamable(steps).includes(blamed(answer)), about);
        if (answer.status === 200 && route.isBatch) assertItems(answer, steps[2]);
      }
    }
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

const LONG_TEXT_CHARACTERS = 10_000_000;
/** Below the least limit there is. Anything quadratic in it would take minutes. */
const TEXT_CHARACTERS = 2_000_000;
const MOST_LEVELS = 1_000_000;
/** They take more than the others, for attachments. */
const LONG_BODIES = ['/v1/emails', '/v1/emails/batch'];
const MANY_ITEMS = 1_000;
const COUNTLESS_ITEMS = 1_000_000;

/** Texts, because some of them are no values that a program could hold. */
function numbers(): string[] {
  return [
    ...['9007199254740993', '-9007199254740993', '18446744073709551616', '1e400', '-1e400', '-0', '1e-400'],
    ...['9'.repeat(1_000), `0.${'1'.repeat(1_000)}`, '123456789012345678901234567890'],
  ];
}

/** Fields that take long texts share these out, because one reader of text serves them all. */
const FILLERS = ['x', '\\u0000', '\\"', '{{', '<', ' '];
const DEEP_LISTS = `${'['.repeat(MOST_LEVELS)}${']'.repeat(MOST_LEVELS)}`;
const DEEP_OBJECTS = `${'{"a":'.repeat(MOST_LEVELS)}1${'}'.repeat(MOST_LEVELS)}`;
const COUNTLESS = `[${'0,'.repeat(COUNTLESS_ITEMS)}0]`;

/** A hostile value of a field. `text` is its JSON. */
type Filling = { what: string; text: string };

/** Numbers are parsed before the fields are looked at: the fields take turns with them. */
function fillings(value: unknown, place: number): Filling[] {
  const [item] = Array.isArray(value) ? value : [value];
  const list = (text: string, count: number) => `[${Array(count).fill(text).join(',')}]`;
  const keys = Array.from({ length: MANY_ITEMS }, (_, index) => `"k${index}":"v"`);
  return [
    { what: 'a list of 1,000 like it', text: list(JSON.stringify(item), MANY_ITEMS) },
    { what: 'a list of 1,000 nulls', text: list('null', MANY_ITEMS) },
    { what: 'an object of 1,000 fields', text: `{${keys}}` },
    ...turn(numbers(), place, 3).map((text) => ({ what: text.slice(0, 30), text })),
  ];
}

function filled({ valid }: Route, field: string, text: string): string {
  const rest = Object.entries(valid).filter(([name]) => name !== field);
  const fields = [...rest.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)];
  return `{${[...fields, `${JSON.stringify(field)}:${text}`]}}`;
}

/** Statuses that answer a body that is too large for its route, wrong, or accepted. */
const EXPECTED = [200, 201, 202, 400, 404, 409, 413, 422];

async function bears({ api, method, url }: Route, payload: string, about: string): Promise<number> {
  const { status } = await world.ask(api, { method, url, payload });
  assert.ok(EXPECTED.includes(status), `${status} ${about}`);
  return status;
}

for (const [place, route] of world.routes.entries()) {
  const { name, url, valid, schema } = route;
  const fields = [...new Set([...Object.keys(valid), ...Object.keys(schema?.properties ?? {})])];

  test(`${name} bears long lists, large objects and numbers beyond any`, () =>
    withoutStall(name, async () => {
      for (const [index, field] of fields.entries()) {
        for (const { what, text } of fillings(valid[field] ?? 'x', index)) {
          await bears(route, filled(route, field, text), `${field} ${what}`);
        }
      }
    }));

  test(`${name} bears strings of megabytes`, () =>
    withoutStall(name, async () => {
      const field = fields[place % Math.min(fields.length, 2)] ?? 'x';
      await bears(route, filled(route, field, `"${'x'.repeat(TEXT_CHARACTERS)}"`), field);
      const [first = 'x'] = fields;
      // Elsewhere they are too large, and refused unread.
      const at = LONG_BODIES.indexOf(url);
      for (const filler of at < 0 ? [] : turn(FILLERS, at, LONG_BODIES.length)) {
        const text = `"${filler.repeat(LONG_TEXT_CHARACTERS / filler.length)}"`;
        await bears(route, filled(route, first, text), `${first} of ${filler}`);
      }
    }));

  test(`${name} refuses what is nested a million deep, and what has a million parts`, () =>
    withoutStall(name, async () => {
      const [field = 'x'] = fields;
      // One parser measures the bodies of all routes before they are parsed.
      for (const text of turn([undefined, DEEP_LISTS, DEEP_OBJECTS, COUNTLESS], place, 4)) {
        const payload = text === undefined ? DEEP_LISTS : filled(route, field, text);
        assert.equal(await bears(route, payload, payload.slice(0, 100)), 400, payload.slice(0, 100));
      }
    }));
}

const DEEP_LEVELS = 20_000;
/** More than any route takes; a batch takes most. */
const TOO_LARGE = Buffer.alloc(51 * 1024 * 1024, ' ');

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
        [200, 202, 400, 404, 409].includes(status) || (status === 204 && ids.length === 0),
        `${status} ${method} ${url} ${payload.slice(0, 50)}`,
      );
    }
  }
});
