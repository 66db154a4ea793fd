/**
 * The signs that stand for others in SQL's LIKE and GLOB, in every filter of every list: each means itself alone. For each
 * filter there are rows that a wildcard would match, and where a value may hold such a sign, one that only itself matches.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openPopulated, pathOf } from '../support/resources/populated.ts';
import { fillPath, ROWS } from '../support/resources/resources.ts';

const world = await openPopulated();
const { owner, operations } = world;
after(() => world.close());

/** Addresses and names: the second is one that the first, as a pattern, matches. */
const PAIRS = [
  ['li_ke', 'lixke'],
  ['li%ke', 'lixyzke'],
] as const;

before(async () => {
  for (const name of PAIRS.flat()) {
    for (const { path = '', named } of ROWS) {
      if (!named) continue;
      const request = world.wanted(owner);
      await request.post(fillPath(path, request.ids), named.body(name, request));
    }
  }
});

type Item = Record<string, unknown>;

const NO_FILTERS = ['limit', 'startingAfter', 'endingBefore', 'createdAfter', 'createdBefore'];

const filters = operations.flatMap((operation) =>
  operation.listed === undefined
    ? []
    : operation.query
        .filter(({ name, schema }) => !NO_FILTERS.includes(name) && !schema.enum && schema.type !== 'boolean')
        .map(({ name }) => {
          const row = ROWS.find(({ prefix }) => prefix === operation.listed);
          return { filter: `${operation.name} ${name}`, name, operation, row };
        }),
);

/** Filters that take the beginning of a value. */
const BY_BEGINNING = ['listRequests path'];

async function find(url: string): Promise<{ status: number; items: Item[] }> {
  const response = await world.ask(owner, { method: 'GET', url });
  assert.ok([200, 400].includes(response.statusCode), `${url} ${response.body}`);
  return { status: response.statusCode, items: response.json<{ data?: Item[] }>().data ?? [] };
}

for (const { filter, name, operation, row } of filters) {
  const url = pathOf(operation, owner);
  const query = (value: string) => find(`${url}?${name}=${encodeURIComponent(value)}`);

  test(`${filter}: a wildcard finds nothing, and a part neither`, async () => {
    const value = row?.named?.filters[name]?.('lixke')[0] ?? row?.filters?.[name]?.(owner)[0];
    assert.ok(value !== undefined, `what does ${filter} find?`);
    assert.ok((await query(value)).items.length > 0, `${filter} finds nothing: it proves nothing`);
    const wildcards = [
      ...['%', '%%', '_', '*', '?', '[a-z]*', '\\%', '_'.repeat(value.length), '?'.repeat(value.length)],
      ...[`${value}%`, `%${value}`, `${value}*`, `${value.slice(0, 3)}%`, `${value.slice(0, 3)}*`],
      ...[
        `_${value.slice(1)}`,
        `?${value.slice(1)}`,
        `${value.slice(0, -1)}_`,
        `[${value[0]}]${value.slice(1)}`,
      ],
      // A part of it is not it, as it would be to a pattern that is put together of it.
      ...[...(BY_BEGINNING.includes(filter) ? [] : [value.slice(0, -1)]), value.slice(1)],
      ...[`${value}' OR '1'='1`, `${value}\u0000`, `%\u0000`],
    ];
    for (const wildcard of wildcards) {
      assert.deepEqual((await query(wildcard)).items, [], `${filter} ${JSON.stringify(wildcard)}`);
    }
  });

  const { named } = row ?? {};
  const valuesOf = named?.filters[name];
  if (named && valuesOf) {
    test(`${filter}: % and _ find themselves alone`, async () => {
      for (const [sign, decoy] of PAIRS) {
        for (const wanted of [sign, decoy]) {
          for (const value of valuesOf(wanted)) {
            const { items } = await query(value);
            assert.equal(items.length, 1, `${filter} ${value}`);
            const [found] = items;
            assert.match(`${found?.[named.field]}@`, new RegExp(`^${wanted}@`), `${filter} ${value}`);
          }
        }
      }
    });
  }
}

test('in the rules of a segment % and _ find themselves alone', async () => {
  const text = ['eq', 'contains', 'starts_with', 'ends_with'];
  for (const [sign] of PAIRS) {
    for (const cmp of text) {
      for (const field of ['email', 'properties.word']) {
        const value = cmp === 'eq' && field === 'email' ? `${sign}@rcpt.example` : wordOf(cmp, field, sign);
        const rules = [{ field, cmp, value }];
        const payload = JSON.stringify({ audienceId: owner.ids.aud, filter: { op: 'and', rules } });
        const counted = await world.ask(owner, { method: 'POST', url: '/v1/segments/count', payload });
        assert.deepEqual(counted.json(), { contactCount: 1 }, `${field} ${cmp} ${value}`);
      }
    }
  }
});

/** A part of the word that the comparison finds it by. */
function wordOf(cmp: string, field: string, word: string): string {
  if (cmp !== 'ends_with' || field !== 'email') return word;
  return `${word.slice(1)}@rcpt.example`;
}
