/**
 * The signs that stand for others in SQL's LIKE and GLOB, in every filter of every list: each means itself alone. For each
 * filter there are rows that a wildcard would match, and where a value may hold such a sign, one that only itself matches.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DOMAIN, SANDBOX } from '../support/populated/makers.ts';
import { openPopulated, pathOf } from '../support/populated.ts';

const world = await openPopulated();
const { owner, operations } = world;
after(() => world.close());

/** Addresses and names: the second is one that the first, as a pattern, matches. */
const PAIRS = [
  ['li_ke', 'lixke'],
  ['li%ke', 'lixyzke'],
] as const;

async function post(url: string, body: object): Promise<void> {
  const { statusCode, body: text } = await world.ask(owner, {
    method: 'POST',
    url,
    payload: JSON.stringify(body),
  });
  assert.ok(statusCode < 300, text);
}

before(async () => {
  for (const name of PAIRS.flat()) {
    const email = `${name}@rcpt.example`;
    await post('/v1/suppressions', { email });
    await post(`/v1/audiences/${owner.ids.aud}/contacts`, { email, properties: { word: name } });
    await post('/v1/templates', { name, subject: 's', html: '<p>' });
    await post('/v1/inbound/routes', { address: `${name}@${SANDBOX}`, destination: 'https://a.example/' });
    await post('/v1/mailboxes', { address: `${name}@${SANDBOX}`, password: 'correct horse' });
    await post('/v1/emails', {
      ...{ from: `${name}@${DOMAIN}`, to: `to-${email}`, subject: 's', text: 't', type: 'transactional' },
      tags: { word: name, [name]: 'key' },
    });
  }
});

type Item = Record<string, unknown>;
/** A filter that takes any text: what to ask for a name of the pairs, and whether an item of the answer is of that name. */
type TextFilter = { asks: (name: string) => readonly string[]; isOf: (item: Item, name: string) => boolean };

const isAddress = (field: string) => (item: Item, name: string) => String(item[field]).startsWith(`${name}@`);

const FILTERS: Readonly<Record<string, TextFilter>> = {
  'listEmails from': { asks: (name) => [`${name}@${DOMAIN}`], isOf: isAddress('from') },
  'listEmails to': {
    asks: (name) => [`to-${name}@rcpt.example`],
    isOf: ({ to }, name) => String(to) === `to-${name}@rcpt.example`,
  },
  'listEmails tag': { asks: (name) => [`word:${name}`, `${name}:key`], isOf: isAddress('from') },
  'listTemplates name': { asks: (name) => [name], isOf: (item, name) => item['name'] === name },
  'listSuppressions email': { asks: (name) => [`${name}@rcpt.example`], isOf: isAddress('email') },
  'listContacts email': { asks: (name) => [`${name}@rcpt.example`], isOf: isAddress('email') },
  'listInboundRoutes address': { asks: (name) => [`${name}@${SANDBOX}`], isOf: isAddress('address') },
  'listMailboxes address': { asks: (name) => [`${name}@${SANDBOX}`], isOf: isAddress('address') },
};
/** What they are compared with holds no such signs: names of domains, ids. */
const PLAIN: Readonly<Record<string, string>> = {
  'listDomains name': DOMAIN,
  'listInboundRoutes domain': SANDBOX,
  'listMailboxes domain': SANDBOX,
  'listInboundMessages address': 'sales@shop.example',
  'listInboundMessages routeId': owner.ids.rt,
  'listInboundMessages from': 'ann@sender.example',
  'listImports audienceId': owner.ids.aud,
  'listExports audienceId': owner.ids.aud,
  'listSegments audienceId': owner.ids.aud,
  'listBroadcasts audienceId': owner.ids.aud,
};
const NO_FILTERS = ['limit', 'startingAfter', 'endingBefore', 'createdAfter', 'createdBefore'];

const filters = operations.flatMap((operation) =>
  operation.listed === undefined
    ? []
    : operation.query
        .filter(({ name, schema }) => !NO_FILTERS.includes(name) && !schema.enum && schema.type !== 'boolean')
        .map(({ name }) => ({ filter: `${operation.name} ${name}`, name, operation })),
);

async function find(url: string): Promise<{ status: number; items: Item[] }> {
  const response = await world.ask(owner, { method: 'GET', url });
  assert.ok([200, 400].includes(response.statusCode), `${url} ${response.body}`);
  return { status: response.statusCode, items: response.json<{ data?: Item[] }>().data ?? [] };
}

for (const { filter, name, operation } of filters) {
  const url = pathOf(operation, owner);
  const query = (value: string) => find(`${url}?${name}=${encodeURIComponent(value)}`);

  test(`${filter}: a wildcard finds nothing, and a part neither`, async () => {
    const value = FILTERS[filter]?.asks('lixke')[0] ?? PLAIN[filter];
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
      ...[value.slice(0, -1), value.slice(1)],
      ...[`${value}' OR '1'='1`, `${value}\u0000`, `%\u0000`],
    ];
    for (const wildcard of wildcards) {
      assert.deepEqual((await query(wildcard)).items, [], `${filter} ${JSON.stringify(wildcard)}`);
    }
  });

  const known = FILTERS[filter];
  if (known) {
    test(`${filter}: % and _ find themselves alone`, async () => {
      for (const [sign, decoy] of PAIRS) {
        for (const wanted of [sign, decoy]) {
          for (const value of known.asks(wanted)) {
            const { items } = await query(value);
            assert.equal(items.length, 1, `${filter} ${value}`);
            assert.ok(
              items.every((item) => known.isOf(item, wanted)),
              `${filter} ${value}`,
            );
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
