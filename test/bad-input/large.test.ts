/**
 * Bodies that are much of something, to every operation that takes one: answered, and nobody else waits for it. Found once:
 * three million tiny fields that held the event loop for half a minute.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { withoutStall } from './stall.ts';
import { turn } from './turns.ts';
import { openBadInput, type Route } from './world.ts';

const LONG_TEXT_CHARACTERS = 10_000_000;
/** Below the least limit there is. Anything quadratic in it would take minutes. */
const TEXT_CHARACTERS = 2_000_000;
const DEEP_LEVELS = 1_000_000;
/** They take more than the others, for attachments. */
const LONG_BODIES = ['/v1/emails', '/v1/emails/batch'];
const MANY_ITEMS = 1_000;
const COUNTLESS_ITEMS = 1_000_000;

const world = await openBadInput();
after(() => world.close());

/** Texts, because some of them are no values that a program could hold. */
function numbers(): string[] {
  return [
    ...['9007199254740993', '-9007199254740993', '18446744073709551616', '1e400', '-1e400', '-0', '1e-400'],
    ...['9'.repeat(1_000), `0.${'1'.repeat(1_000)}`, '123456789012345678901234567890'],
  ];
}

/** Fields that take long texts share these out, because one reader of text serves them all. */
const FILLERS = ['x', '\\u0000', '\\"', '{{', '<', ' '];
const DEEP_LISTS = `${'['.repeat(DEEP_LEVELS)}${']'.repeat(DEEP_LEVELS)}`;
const DEEP_OBJECTS = `${'{"a":'.repeat(DEEP_LEVELS)}1${'}'.repeat(DEEP_LEVELS)}`;
const COUNTLESS = `[${'0,'.repeat(COUNTLESS_ITEMS)}0]`;

/** What a field is filled with; `text`: of it, in JSON. */
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

function spoiled({ valid }: Route, field: string, text: string): string {
  const rest = Object.entries(valid).filter(([name]) => name !== field);
  const fields = [...rest.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)];
  return `{${[...fields, `${JSON.stringify(field)}:${text}`]}}`;
}

/** Of a body: too large for this route, or wrong, or taken. */
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
          await bears(route, spoiled(route, field, text), `${field} ${what}`);
        }
      }
    }));

  test(`${name} bears strings of megabytes`, () =>
    withoutStall(name, async () => {
      const field = fields[place % Math.min(fields.length, 2)] ?? 'x';
      await bears(route, spoiled(route, field, `"${'x'.repeat(TEXT_CHARACTERS)}"`), field);
      const [first = 'x'] = fields;
      // Elsewhere they are too large, and refused unread (unsound.test.ts).
      const at = LONG_BODIES.indexOf(url);
      for (const filler of at < 0 ? [] : turn(FILLERS, at, LONG_BODIES.length)) {
        const text = `"${filler.repeat(LONG_TEXT_CHARACTERS / filler.length)}"`;
        await bears(route, spoiled(route, first, text), `${first} of ${filler}`);
      }
    }));

  test(`${name} refuses what is nested a million deep, and what has a million parts`, () =>
    withoutStall(name, async () => {
      const [field = 'x'] = fields;
      // One parser measures the bodies of all routes before they are parsed.
      for (const text of turn([undefined, DEEP_LISTS, DEEP_OBJECTS, COUNTLESS], place, 4)) {
        const payload = text === undefined ? DEEP_LISTS : spoiled(route, field, text);
        assert.equal(await bears(route, payload, payload.slice(0, 100)), 400, payload.slice(0, 100));
      }
    }));
}
