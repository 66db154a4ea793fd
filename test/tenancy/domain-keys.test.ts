/**
 * A key of one domain learns nothing of the other domains of its tenant, as of another tenant. Every operation of the
 * document is asked with such a key, as `reach` of its feature says.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { LightMyRequestResponse } from 'fastify';
import { DOMAIN_REACH } from '../../src/features.ts';
import { newId } from '../../src/system/ids.ts';
import type { ApiOperation } from '../support/resources/operations.ts';
import { type Asked, fill, openPopulated, pathOf } from '../support/resources/populated.ts';
import type { Prefix } from '../support/resources/resource.ts';
import { addFamily, BOUND, type Family } from './families.ts';
import { placesOf, requestsOf } from './places.ts';

const world = await openPopulated();
const { operations } = world;
const home = await addFamily(world, 'home.example');
const away = await addFamily(world, 'away.example');
const isBound = (prefix: Prefix) => (BOUND as readonly Prefix[]).includes(prefix);

/** Resources of the other domain as the tenant sees them, before anybody asked about them. */
const seenBefore = await seenBy(away);
after(() => world.close());

/** Answers about a domain of each operation that only reads, to a key of the whole tenant. */
async function seenBy(family: Family): Promise<Map<string, string>> {
  const seen = new Map<string, string>();
  for (const operation of operations) {
    const isOfDomain = operation.ids.length > 0 && operation.ids.every(({ prefix }) => isBound(prefix));
    if (operation.method !== 'GET' || !isOfDomain) continue;
    const asked = { method: 'GET' as const, url: pathOf(operation, family) };
    const { body } = await world.ask({ keys: family.whole }, asked, 'live');
    seen.set(operation.name, body.replace(/"lastUsedAt":[^,}]+|"(?:from|to)":"\d{4}-[^"]+",/g, ''));
  }
  return seen;
}

const askHome = (asked: Asked) => world.ask(home, asked, 'live');
const within = (reach: 'domain' | 'tenant' | 'none') =>
  operations.filter(({ name }) => DOMAIN_REACH.get(name) === reach);
const missing = (prefix: Prefix) => newId(prefix, world.testApp.app.clock.now());

/** All that a caller can see of an answer, but for what is of this very request. */
function faceOf({ statusCode, headers, body }: LightMyRequestResponse) {
  const { 'x-request-id': _, date: __, ...rest } = headers;
  return { statusCode, headers: rest, body: body.replace(/\breq_[0-9a-z]{26}\b/g, 'req_') };
}

test('the table says of every operation, and of nothing else, what a key of one domain may do', () => {
  const reaches = [...DOMAIN_REACH].filter(([, reach]) => reach !== 'mailbox').map(([name]) => name);
  assert.deepEqual(reaches.toSorted(), operations.map(({ name }) => name).toSorted());
});

for (const operation of within('domain')) {
  test(`${operation.name} answers a key of one domain about another domain as about nothing`, async () => {
    const places = placesOf(operation, home).filter(({ prefix }) => isBound(prefix));
    for (const place of places) {
      const [unknown, foreign] = [
        await askHome(place.asked(missing(place.prefix))),
        await askHome(place.asked(away.ids[place.prefix])),
      ];
      const about = `${operation.name} ${place.name}: ${foreign.statusCode} ${foreign.body.slice(0, 300)}`;
      assert.deepEqual(faceOf(foreign), faceOf(unknown), about);
      assert.ok(!foreign.body.includes(away.ids[place.prefix]), about);
      const expected = { path: 404, body: 400, query: 200 }[place.kind];
      assert.equal(foreign.statusCode, expected, about);
    }
  });
}

/** Actions that bring a new broadcast into the state in which the operation works. */
const FIRST: Readonly<Record<string, readonly string[]>> = {
  pauseBroadcast: ['send'],
  resumeBroadcast: ['send', 'pause'],
  cancelBroadcast: ['send'],
};
const ONCE = ['cancelEmail', 'sendBroadcast', ...Object.keys(FIRST), 'updateInboundRoute'];
/** Operations that would take the domain of the key away. The last test asks them. */
const ENDING = ['verifyDomain', 'deleteDomain'];

for (const operation of within('domain').filter(({ name }) => !ENDING.includes(name))) {
  test(`${operation.name} works for a key of one domain with what belongs to it`, async () => {
    for (const asked of await ownRequests(operation)) {
      const { statusCode, body } = await askHome(asked);
      const about = `${asked.method} ${asked.url} ${asked.payload}: ${statusCode} ${body.slice(0, 500)}`;
      const isDecision = /^(approve|decline)(Email|Broadcast)$/.test(operation.name);
      // The example names no hash of mail that waits; test/tenants/approval-limit.test.ts has such mail.
      assert.ok((statusCode >= 200 && statusCode < 300) || (isDecision && statusCode === 409), about);
      assert.doesNotMatch(body, /"status":"failed"/, about);
    }
  });
}

async function ownRequests(operation: ApiOperation): Promise<Asked[]> {
  const subject = operation.ids.at(-1);
  if (!subject || !isBound(subject.prefix)) return requestsOf(operation, home);
  if (operation.method !== 'DELETE' && !ONCE.includes(operation.name)) return requestsOf(operation, home);
  const made = await home.make(subject.prefix);
  for (const action of FIRST[operation.name] ?? [])
    await askHome({ method: 'POST', url: `/v1/broadcasts/${made}/${action}` });
  return requestsOf(operation, home, { [subject.name]: made });
}

test('no list shows a key of one domain anything of another domain, and each shows its own', async () => {
  for (const operation of within('domain').filter(({ listed }) => listed !== undefined)) {
    const prefix = operation.listed ?? assert.fail();
    const { body } = await askHome({ method: 'GET', url: `${pathOf(operation, home)}?limit=100` });
    for (const id of BOUND.map((kind) => away.ids[kind])) {
      assert.ok(!body.includes(id), `${operation.name} shows ${id}`);
    }
    assert.ok(!body.includes(away.domain), `${operation.name} ${body.slice(0, 300)}`);
    if (isBound(prefix)) assert.match(body, new RegExp(home.ids[prefix]), operation.name);
  }
});

/** Filters by what belongs to the other domain. */
const awayRoute = (
  await world.ask({ keys: away.whole }, { method: 'GET', url: `/v1/inbound/routes/${away.ids.rt}` }, 'live')
).json<{ address: string }>();
const FOREIGN_FILTERS: readonly [path: string, filter: () => string][] = [
  ['emails', () => `from=${away.domain}`],
  ['domains', () => `name=${away.domain}`],
  ['inbound/routes', () => `domain=${away.domain}`],
  ['inbound/routes', () => `address=${awayRoute.address}`],
  ['inbound/messages', () => `routeId=${away.ids.rt}`],
  ['inbound/messages', () => `address=route@${away.domain}`],
  ['mailboxes', () => `domain=${away.domain}`],
];

test('a filter by another domain finds nothing', async () => {
  for (const [path, filter] of FOREIGN_FILTERS) {
    const url = `/v1/${path}?${filter()}`;
    assert.deepEqual((await askHome({ method: 'GET', url })).json().data, [], url);
    const whole = await world.ask({ keys: home.whole }, { method: 'GET', url }, 'live');
    assert.ok(whole.json<{ data: unknown[] }>().data.length > 0, `${url} finds nothing at all`);
  }
});

test('operations that no key of one domain may use are refused', async () => {
  for (const operation of within('none'))
    for (const party of [home, away]) {
      const [asked = { method: operation.method, url: pathOf(operation, party) }] = requestsOf(
        operation,
        party,
      );
      const { statusCode, body } = await askHome(asked);
      assert.deepEqual(
        [statusCode, JSON.parse(body).error.type],
        [403, 'restricted_api_key'],
        operation.name,
      );
    }
});

test('what the domains of a tenant share stays readable', async () => {
  for (const operation of within('tenant').filter(({ method }) => method === 'GET')) {
    const { statusCode, body } = await askHome({ method: 'GET', url: pathOf(operation, home) });
    assert.equal(statusCode, 200, `${operation.name} ${body}`);
  }
});

/** Requests that name a domain in an address, with that address. */
const ADDRESSED: readonly [operation: string, body: (address: string) => object][] = [
  ['createInboundRoute', (address) => ({ address, destination: 'https://receiver.example/in' })],
  [
    'createInboundRoute',
    (address) => ({ address: address.replace(/.*@/, '*@'), destination: 'https://r.example/' }),
  ],
  ['updateInboundRoute', (address) => ({ address })],
  [
    'createBroadcast',
    (from) => ({
      ...fill({ audienceId: home.ids.aud }, home),
      from,
      subject: 's',
      html: '{{{unsubscribe_url}}}',
    }),
  ],
  ['updateBroadcast', (from) => ({ from })],
  ['sendEmail', (from) => ({ from, to: 'bob@rcpt.example', subject: 's', text: 't', type: 'transactional' })],
  ['createAudience', (from) => ({ name: 'Readers', optIn: { from, templateId: home.ids.tpl } })],
];

test('an address at another domain is refused alike, whether or not the tenant has the domain', async () => {
  for (const [name, bodyOf] of ADDRESSED) {
    const operation = operations.find((one) => one.name === name) ?? assert.fail(name);
    const ask = async (domain: string) => {
      const payload = JSON.stringify(bodyOf(`new@${domain}`));
      const answer = await askHome({ method: operation.method, url: pathOf(operation, home), payload });
      return { ...faceOf(answer), body: answer.body.replaceAll(domain, 'DOMAIN').replace(/req_\w+/, '') };
    };
    const refused = await ask(away.domain);
    assert.deepEqual(
      [refused.statusCode, JSON.parse(refused.body).error.type],
      [403, 'restricted_api_key'],
      name,
    );
    const { 'content-length': _, ...headers } = refused.headers;
    for (const other of ['post.example', 'nobody.example']) {
      const {
        headers: { 'content-length': __, ...rest },
        ...answer
      } = await ask(other);
      assert.deepEqual({ ...answer, headers: rest }, { ...refused, headers }, `${name} ${other}`);
    }
  }
});

test('an endpoint that a key of one domain makes has that domain, whatever the request says, and keeps it', async () => {
  const body = { url: 'https://receiver.example/hook', events: ['email.received'] };
  const create = (more: object) =>
    askHome({ method: 'POST', url: '/v1/webhooks', payload: JSON.stringify({ ...body, ...more }) });
  const made = (await create({})).json();
  assert.equal(made.domainId, home.ids.dom);
  assert.equal((await create({ domainId: home.ids.dom })).json().domainId, home.ids.dom);
  const wider = await create({ domainId: null });
  assert.deepEqual([wider.statusCode, wider.json().error.param], [403, 'domainId']);
  for (const key of [home.keys, home.whole])
    for (const domainId of [null, away.ids.dom]) {
      const payload = JSON.stringify({ domainId });
      const changed = await world.ask(
        { keys: key },
        { method: 'PATCH', url: `/v1/webhooks/${made.id}`, payload },
        'live',
      );
      assert.deepEqual([changed.statusCode, changed.json().error.param], [400, 'domainId']);
    }
});

/** Operations that only read, which a key must be allowed to write for, because they show what is private to a person. */
const PRIVATE = ['getRecoveryAddress'];

test('a reading key of one domain is answered the same about another domain', async () => {
  const key = await world.testApp.newKey({
    mode: 'live',
    permission: 'read_only',
    domainId: home.ids.dom as `dom_${string}`,
  });
  for (const operation of within('domain').filter(({ method, ids }) => method === 'GET' && ids.length > 0)) {
    if (!isBound(operation.ids[0]?.prefix ?? 'aud')) continue;
    const ask = (family: Family) =>
      world.ask(
        { keys: { live: key, test: key } },
        { method: 'GET', url: pathOf(operation, family) },
        'live',
      );
    const [foreign, own] = PRIVATE.includes(operation.name) ? [403, 403] : [404, 200];
    assert.equal((await ask(away)).statusCode, foreign, operation.name);
    assert.equal((await ask(home)).statusCode, own, operation.name);
  }
});

test('no request of a key of one domain has changed anything of another domain', async () => {
  assert.ok(seenBefore.size > 15);
  assert.deepEqual(await seenBy(away), seenBefore);
});

test('a key of one domain checks and deletes that domain alone', async () => {
  const verified = await askHome({ method: 'POST', url: `/v1/domains/${home.ids.dom}/verify` });
  assert.equal(verified.statusCode, 200, verified.body);
  const deleted = await askHome({ method: 'DELETE', url: `/v1/domains/${home.ids.dom}` });
  assert.equal(deleted.json().error.type, 'domain_in_use', 'mail is scheduled from it');
});
