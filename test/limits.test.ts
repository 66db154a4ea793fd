/**
 * How many of a resource a tenant may have: the last one is accepted, one more is refused until another is deleted, and
 * other tenants have as many of their own.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { copyRow } from './support/resources/copy-row.ts';
import { openPopulated, type Party } from './support/resources/populated.ts';
import { fillPath, ROWS } from './support/resources/resources.ts';

const world = await openPopulated();
const { testApp } = world;
after(() => world.close());

type Limit = NonNullable<(typeof ROWS)[number]['limit']>;

/** Copies the row with this id until the tenant has `count` of them. */
function fillUp({ table, unique }: Limit, id: string, count: number): void {
  const database = new Sqlite(join(testApp.dataDir, 'postrider.db'));
  copyRow(database, { table, id, count: count - 1, unique });
  database.close();
}

for (const { path = '', body, limit } of ROWS) {
  if (!limit) continue;
  const { table, max, noun = table, parents = [] } = limit;
  test(`a tenant has at most ${max} ${noun}, deleted ones not counted, another its own`, async () => {
    const collector = await world.addParty(`collector of ${table}`, parents);
    const send = async (party: Party, method: 'POST' | 'DELETE', id = '') => {
      const request = world.wanted(party);
      const url = fillPath(path, request.ids) + id;
      const payload = method === 'POST' && { payload: JSON.stringify(body?.(request)) };
      const { statusCode, body: text } = await world.ask(party, { method, url, ...payload });
      return { status: statusCode, body: text === '' ? undefined : JSON.parse(text) };
    };
    const create = (party = collector) => send(party, 'POST');
    const first = await create();
    fillUp(limit, first.body.id, max - 1);
    assert.equal((await create()).status, 201, 'the last one');
    const { status, body: refusal } = await create();
    const { type, param, message } = refusal.error;
    assert.deepEqual([status, type, param], [400, 'validation_error', undefined]);
    assert.ok(message.startsWith(`You have ${max} ${noun}`), message);
    assert.equal((await create(world.owner)).status, 201, 'another tenant');
    assert.equal((await send(collector, 'DELETE', `/${first.body.id}`)).status, 204);
    const both = await Promise.all([create(), create()]);
    assert.deepEqual(both.map((answer) => answer.status).sort(), [201, 400], 'one place is free');
  });
}
