/**
 * Whatever comes in as the body of a request, of any shape: an answer in the envelope that a program can read, which names
 * the field, and never a 500. The routes are those of the document, so a new one is tried by being there.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { blamable, fieldsOf, type Steps, spoiled, takesList } from './bad-input/fields.ts';
import { HOSTILE, WRONG_BELOW, WRONG_LISTS, WRONG_TYPES } from './bad-input/hostile.ts';
import { turn } from './bad-input/turns.ts';
import { type Answer, mayRefuse, openBadInput, type Route, run } from './bad-input/world.ts';

const ROUNDS = 10;

const world = await openBadInput();
const { ask } = world;
after(() => world.close());

/**
 * What a field is tried with. One validator judges the types of all fields, and a PATCH reads its fields as the POST
 * does: there, the fields take turns with the values.
 */
function wrongFor(route: Route, steps: Steps, place: number): unknown[] {
  if (steps.length > 1 || !Object.hasOwn(route.valid, steps[0])) return turn(WRONG_BELOW, place, 4);
  const texts = route.method === 'PATCH' ? turn(HOSTILE, place, 3) : HOSTILE;
  const lists = takesList(route, steps[0]) ? turn(WRONG_LISTS, place, 3) : [];
  return [...turn(WRONG_TYPES, place, 2), ...texts, ...lists];
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
