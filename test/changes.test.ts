/**
 * PATCH of every resource: the fields that it names are changed and answered, the others stay, a change to the present
 * values is none, and what cannot be changed is refused by its name.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createFakeClock } from './support/fake-clock.ts';
import { openPopulated } from './support/resources/populated.ts';
import { fillPath, ROWS } from './support/resources/resources.ts';
import type { TestMethod } from './support/test-app.ts';

const clock = createFakeClock(1_800_000_000_000);
const world = await openPopulated({ clock }, { POSTRIDER_REGIONS: 'sg,eu' });
after(() => world.close());

async function send(method: TestMethod, url: string, body?: object) {
  const payload = body && { payload: JSON.stringify(body) };
  const { statusCode, body: text } = await world.ask(world.owner, { method, url, ...payload });
  return { status: statusCode, body: text === '' ? '' : JSON.parse(text) };
}

async function ask(method: TestMethod, path: string, body?: object) {
  const answer = await send(method, path, body);
  assert.ok(answer.status < 300, `${method} ${path} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

for (const { path, body, change: changeOf, linked = [] } of ROWS) {
  if (path === undefined || changeOf === undefined) continue;
  const request = world.wanted(world.owner);
  const url = fillPath(path, request.ids);
  const change = changeOf(request);
  const fields = Object.keys(change);

  async function create() {
    const sent = body?.(world.wanted(world.owner));
    const { secret: _, password: __, ...record } = await ask('POST', url, sent);
    await clock.advance(1_000);
    return { record, item: `${url}/${record.id}` };
  }

  test(`PATCH ${path}/{id} changes all fields at once or each alone, and leaves the others`, async () => {
    const { record, item } = await create();
    const present = Object.fromEntries(fields.map((field) => [field, record[field]]));
    for (const nothing of [{}, { unknown: 1 }, present])
      assert.deepEqual(await ask('PATCH', item, nothing), record, 'nothing is changed');
    let expected = record;
    for (const step of [change, ...fields.map((field) => ({ [field]: record[field] }))]) {
      await clock.advance(1_000);
      expected = { ...expected, ...step, updatedAt: new Date(clock.now()).toISOString() };
      assert.deepEqual(await ask('PATCH', item, step), expected);
      assert.partialDeepStrictEqual(await ask('GET', item), expected);
      await clock.advance(1_000);
      assert.deepEqual(await ask('PATCH', item, step), expected, 'the same again');
    }
    await ask('DELETE', item);
  });

  test(`PATCH ${path}/{id} for each field at the same time makes all changes`, async () => {
    const { record, item } = await create();
    await Promise.all(fields.map((field) => ask('PATCH', item, { [field]: change[field] })));
    const { updatedAt: _, ...expected } = { ...record, ...change };
    assert.partialDeepStrictEqual(await ask('GET', item), expected);
    await ask('DELETE', item);
  });

  test(`PATCH ${path}/{id} refuses fields that cannot be changed, and does nothing of the rest`, async () => {
    const { item } = await create();
    const before = await ask('GET', item);
    const fixed = Object.keys(before).filter((field) => !fields.includes(field) && !linked.includes(field));
    for (const field of fixed) {
      const answer = await send('PATCH', item, { ...change, [field]: null });
      const reason = `${field} is neither in change nor in linked of its row, so its change must be refused`;
      assert.deepEqual([answer.status, answer.body.error?.param], [400, field], reason);
    }
    assert.deepEqual(await ask('GET', item), before);
    await ask('DELETE', item);
  });
}
