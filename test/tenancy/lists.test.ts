/**
 * Lists, with every filter they have: two tenants with things of the same names and addresses each see their own alone,
 * page by page in both directions.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ApiOperation, Schema } from '../support/resources/operations.ts';
import { type Asked, openPopulated, type Party, pathOf } from '../support/resources/populated.ts';
import { ROWS } from '../support/resources/resources.ts';

/** Recipients of a broadcast have the ids of contacts. */
type Item = { id: string; contactId?: undefined } | { id?: undefined; contactId: string };
type ListAnswer = { data: Item[]; hasMore: boolean; nextCursor: string | null };

const SHARED = 'shared@rcpt.example';
const MODAL = ROWS.filter(({ isModal }) => isModal).map(({ prefix }): string => prefix);
/** Resources of one mode that each tenant also has in the live mode. */
const MADE_LIVE = ['em', 'wh', 'brd', 'key', 'apr'] as const;

const world = await openPopulated();
/** The log of requests grows with these tests, and repeats the ids that a tenant has asked about (test/request-log). */
const lists = world.operations.filter(({ listed }) => listed !== undefined && listed !== 'req');
const parties = [world.owner, world.stranger] as const;

before(async () => {
  for (const party of parties) {
    await post(party, '/v1/suppressions', { email: SHARED });
    await post(party, `/v1/audiences/${party.ids.aud}/contacts`, {
      ...{ email: SHARED, unsubscribed: true, properties: { plan: 'pro' } },
    });
    await post(party, '/v1/inbound/routes', {
      ...{ address: filterOf('rt', 'address', party)[0], destination: 'https://receiver.example/in' },
    });
    await post(party, '/v1/mailboxes', { address: filterOf('mbx', 'address', party)[0] });
    await world.make(party, 'em');
    for (const prefix of MADE_LIVE) await world.make(party, prefix, { mode: 'live' });
  }
});
after(() => world.close());

/** Returns the values with which a filter of a list finds something of the party. */
function filterOf(listed: string | undefined, name: string, party: Party): readonly string[] {
  const values = ROWS.find(({ prefix }) => prefix === listed)?.filters?.[name]?.(party);
  if (values === undefined) throw new Error(`what does \`${name}\` of the list of ${listed} find?`);
  return values;
}

async function post(party: Party, url: string, body: object): Promise<void> {
  const response = await world.ask(party, { method: 'POST', url, payload: JSON.stringify(body) });
  assert.equal(response.statusCode, 201, response.body);
}

const PAGING = ['limit', 'startingAfter', 'endingBefore'];
const TIMES = { createdAfter: '2000-01-01T00:00:00Z', createdBefore: '2100-01-01T00:00:00Z' };

/** Each filter of a list by itself, as queries for one party. */
function filtersOf(operation: ApiOperation, party: Party): { name: string; values: readonly string[] }[] {
  const filters = operation.query.filter(({ name }) => !PAGING.includes(name));
  return filters.map(({ name, schema }) => ({
    ...{ name, values: valuesOf(operation, name, schema)(party) },
  }));
}

function valuesOf(
  operation: ApiOperation,
  name: string,
  schema: Schema,
): (party: Party) => readonly string[] {
  const time = new Map(Object.entries(TIMES)).get(name);
  if (time !== undefined) return () => [time];
  if (schema.type === 'boolean') return () => ['true', 'false'];
  if (schema.enum) return () => (schema.enum ?? []).map(String);
  return (party) => filterOf(operation.listed, name, party);
}

async function list(party: Party, operation: ApiOperation, query: Record<string, string>, key = 'test') {
  const url = `${pathOf(operation, party)}?${new URLSearchParams(query)}`;
  const asked: Asked = { method: 'GET', url };
  const response = await world.ask(party, asked, key === 'live' ? 'live' : 'test');
  assert.equal(response.statusCode, 200, `${url} ${response.body}`);
  for (const other of parties.filter((one) => one.tenantId !== party.tenantId)) {
    for (const id of [other.tenantId, ...Object.values(other.ids)]) {
      assert.ok(!response.body.includes(id), `${url} shows ${id} of another tenant`);
    }
  }
  return response.json<ListAnswer>();
}

const idsOf = ({ data }: ListAnswer) => data.map(({ id, contactId }) => id ?? contactId);
const common = (ids: readonly string[], others: readonly string[]) => ids.filter((id) => others.includes(id));

test('no list shows a row of another tenant, whatever it is filtered by', async () => {
  const [owner, stranger] = parties;
  for (const operation of lists) {
    const foreign = idsOf(await list(stranger, operation, { limit: '100' }));
    const all = idsOf(await list(owner, operation, { limit: '100' }));
    assert.ok(foreign.length > 0 && all.length > 0, operation.name);
    assert.deepEqual(common(all, foreign), [], operation.name);
    for (const [index, { name, values }] of filtersOf(operation, owner).entries()) {
      let found = 0;
      for (const value of values) {
        const own = idsOf(await list(owner, operation, { [name]: value, limit: '100' }));
        assert.deepEqual(common(own, all), own, `${operation.name} ${name}=${value}`);
        found += own.length;
      }
      assert.ok(found > 0, `${operation.name} ${name} finds nothing: it proves nothing`);
      let foundByStranger = 0;
      for (const value of filtersOf(operation, stranger)[index]?.values ?? []) {
        const theirs = idsOf(await list(stranger, operation, { [name]: value, limit: '100' }));
        foundByStranger += theirs.length;
      }
      assert.ok(foundByStranger > 0, `${operation.name} ${name}`);
    }
  }
});

test('filters together find no more than each of them', async () => {
  for (const operation of lists) {
    for (const party of parties) {
      const filters = filtersOf(operation, party);
      for (const one of filters) {
        for (const other of filters.filter(({ name }) => name > one.name)) {
          const [value = '', second = ''] = [one.values[0], other.values[0]];
          const both = idsOf(await list(party, operation, { [one.name]: value, [other.name]: second }));
          const alone = idsOf(await list(party, operation, { [one.name]: value, limit: '100' }));
          assert.deepEqual(common(both, alone), both, `${operation.name} ${one.name} ${other.name}`);
        }
      }
    }
  }
});

test('page by page, in both directions and from a stranger’s cursor, a tenant comes by its own rows alone', async () => {
  const [owner, stranger] = parties;
  for (const operation of lists) {
    const all = idsOf(await list(owner, operation, { limit: '100' }));
    assert.deepEqual(await walk(owner, operation, {}, 'startingAfter'), all, operation.name);
    const [oldest = ''] = all.slice(-1);
    const newer = await walk(owner, operation, { endingBefore: oldest }, 'endingBefore');
    assert.deepEqual([...newer.toReversed(), oldest], all, operation.name);
    for (const cursor of idsOf(await list(stranger, operation, { limit: '100' }))) {
      const older = all.filter((id) => id < cursor);
      assert.deepEqual(await walk(owner, operation, { startingAfter: cursor }, 'startingAfter'), older);
      const after = all.filter((id) => id > cursor).toReversed();
      assert.deepEqual(await walk(owner, operation, { endingBefore: cursor }, 'endingBefore'), after);
    }
  }
});

/** More pages than any list of this test has rows, and empty ones. */
const MAX_PAGES = 50;

/** The rows of pages of one, in the order of travel. */
async function walk(
  party: Party,
  operation: ApiOperation,
  start: Record<string, string>,
  name: 'startingAfter' | 'endingBefore',
): Promise<string[]> {
  const seen: string[] = [];
  let query = start;
  for (let page = 0; page < MAX_PAGES; page++) {
    const answer = await list(party, operation, { ...query, limit: '1' });
    const [id] = idsOf(answer);
    if (id !== undefined) seen.push(id);
    if (!answer.hasMore) return seen;
    assert.ok(id, `${operation.name} has more, and nothing to go on from`);
    query = { [name]: id };
  }
  throw new Error(`${operation.name} has no end`);
}

test('lists of a live key show nothing of the test mode, and what both modes share', async () => {
  for (const operation of lists) {
    const { listed = '' } = operation;
    const isOfMode = operation.ids.some(({ prefix }) => MODAL.includes(prefix));
    if (isOfMode) continue;
    for (const party of parties) {
      const test = idsOf(await list(party, operation, { limit: '100' }));
      const live = idsOf(await list(party, operation, { limit: '100' }, 'live'));
      assert.ok(live.length > 0, operation.name);
      if (MODAL.includes(listed)) assert.deepEqual(common(live, test), [], operation.name);
      else assert.deepEqual(live, test, operation.name);
    }
  }
});
