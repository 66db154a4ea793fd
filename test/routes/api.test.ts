import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { GRACE_MS } from '../../src/domains/states.ts';
import { addDomain } from '../domains/fixtures.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp, type TestApp, type TestRequest } from '../support/test-app.ts';

const clock = createFakeClock(1_800_000_000_000);
const world = await openTestApp({ system: { clock } });
after(() => world.close());

type Tenant = Awaited<ReturnType<TestApp['addTenant']>>;
let tenants = 0;

let verifications = 0;

/**
 * A tenant of its own, with a verified domain of that name. Each verification stands longer than those before it, so that the
 * newest tenant receives the mail of the name.
 */
async function tenantWith(name = 'shop.example'): Promise<Tenant> {
  tenants += 1;
  const tenant = await world.addTenant(`tenant ${tenants}`);
  await addVerified(tenant, name);
  return tenant;
}
const addVerified = (
  { tenantId }: Tenant,
  name: string,
  id = `dom_${`${tenants}${name}`.padEnd(26, '0')}`,
) => {
  const verifiedSince = 1_000_000 - ++verifications;
  return addDomain(
    { ...world, tenantId },
    { id: id as `dom_${string}`, name, status: 'verified', verifiedSince },
  );
};

const DESTINATION = 'https://shop.example/inbound';
const PATH = '/v1/inbound/routes';
const create = ({ liveKey }: Tenant, body: object, key = liveKey) =>
  world.request('POST', PATH, { key, body: { destination: DESTINATION, ...body } });
const ask = (
  { liveKey }: Tenant,
  method: 'GET' | 'PATCH' | 'DELETE',
  path: string,
  options: TestRequest = {},
) => world.request(method, `${PATH}${path}`, { key: liveKey, ...options });
const routesIn = (tenant: Tenant) =>
  world.app.db.read
    .selectFrom('inboundRoutes')
    .selectAll()
    .where('tenantId', '=', tenant.tenantId)
    .orderBy('id')
    .execute();

test('a route is created enabled, with its secret, and answers to its id without it', async () => {
  const tenant = await tenantWith();
  const created = await create(tenant, { address: 'support@shop.example' });
  const { secret, ...shown } = created.body;
  assert.equal(created.status, 201, JSON.stringify(created.body));
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.match(shown.id, /^rt_[0-9a-z]{26}$/);
  assert.deepEqual(shown, {
    id: shown.id,
    address: 'support@shop.example',
    destination: DESTINATION,
    enabled: true,
    disabledReason: null,
    disabledAt: null,
    failingSince: null,
    suspendedUntil: null,
    waitingSince: null,
    createdAt: '2027-01-15T08:00:00.000Z',
    updatedAt: '2027-01-15T08:00:00.000Z',
  });
  const got = await ask(tenant, 'GET', `/${shown.id}`);
  assert.deepEqual([got.status, got.body], [200, shown]);
  const [row] = await routesIn(tenant);
  assert.ok(row && !JSON.stringify(row).includes(secret.slice(6)));
  assert.equal(world.app.sealer.open(row.secretSealed, [tenant.tenantId, shown.id]), secret);
});

test('a change of a route wakes its posts, which may have waited for the old destination', async (t) => {
  const tenant = await tenantWith();
  const { id } = (await create(tenant, { address: 'wakes@shop.example' })).body;
  const woken: string[] = [];
  t.after(world.app.wakeups.listen('tasks', (subjects = []) => void woken.push(...subjects)));
  for (const body of [{ destination: 'https://new.example/in' }, { enabled: true }]) {
    assert.equal((await ask(tenant, 'PATCH', `/${id}`, { body })).status, 200);
    assert.deepEqual(woken.splice(0), [`route-posts ${id}`]);
  }
});

test('each route has a secret of its own', async () => {
  const tenant = await tenantWith();
  const secrets = [
    (await create(tenant, { address: 'a@shop.example' })).body.secret,
    (await create(tenant, { address: 'b@shop.example' })).body.secret,
  ];
  assert.equal(new Set(secrets).size, 2);
});

const GOOD: [given: string, kept: string][] = [
  ['Support@Shop.Example', 'support@shop.example'],
  ['*@shop.example', '*@shop.example'],
  ['*@SHOP.example', '*@shop.example'],
  [' a+b@shop.example ', 'a+b@shop.example'],
  ['"john doe"@shop.example', '"john doe"@shop.example'],
  ['"john"@shop.example', 'john@shop.example'],
  ['info@BÜCHER.example', 'info@xn--bcher-kva.example'],
  ['*@xn--bcher-kva.example', '*@xn--bcher-kva.example'],
];
test('addresses are kept in lower case, their domains as domains are named', async () => {
  const tenant = await tenantWith();
  await addVerified(tenant, 'xn--bcher-kva.example');
  for (const [address, kept] of GOOD) {
    const { status, body } = await create(tenant, { address, enabled: false });
    if (status === 409) await ask(tenant, 'DELETE', `/${body.error.details.id}`);
    const answer = status === 409 ? await create(tenant, { address, enabled: false }) : { status, body };
    assert.deepEqual([answer.status, answer.body.address, answer.body.enabled], [201, kept, false], address);
  }
});

const OK = { address: 'a@shop.example', destination: DESTINATION };
const BAD: [name: string, body: object, param: string][] = [
  ['no address', { destination: DESTINATION }, 'address'],
  ['an address that is null', { ...OK, address: null }, 'address'],
  ...[
    ...['', '*', '*@', '@shop.example', 'shop.example', 'a@shop', 'a@b@shop.example', 'a@*.example'],
    ...['a*@shop.example', '*a@shop.example', '**@shop.example', '"a*"@shop.example'],
    ...['Ann <a@shop.example>', '<a@shop.example>', 'a@shop.example, b@shop.example'],
    ...['a@shop.example\r\nBcc: x@y.example', 'a\u0000@shop.example', 'a\ud800@shop.example'],
    ...['a@192.0.2.1', 'a@[192.0.2.1]', 'a@sh\u00adop.example', `${'x'.repeat(65)}@shop.example`],
  ].map((address): [string, object, string] => [
    `the address ${JSON.stringify(address).slice(0, 40)}`,
    { ...OK, address },
    'address',
  ]),
  ['no destination', { address: 'a@shop.example' }, 'destination'],
  ...[
    ...['', '/inbound', 'http://shop.example/', 'ftp://shop.example/', 'https://', ' https://shop.example'],
    ...['https://me@shop.example/', 'https://shop.example/#a', 'https://shop.example:25/'],
    ...[
      'https://shop.example:587/',
      'https://shop.example/\ud800',
      `https://shop.example/${'x'.repeat(2_028)}`,
    ],
  ].map((destination): [string, object, string] => [
    `the destination ${JSON.stringify(destination).slice(0, 40)}`,
    { ...OK, destination },
    'destination',
  ]),
  ['enabled as text', { ...OK, enabled: 'true' }, 'enabled'],
  ['enabled as null', { ...OK, enabled: null }, 'enabled'],
];
test('an invalid route is refused with 400, when it is created and when it is changed', async () => {
  const tenant = await tenantWith();
  const { id } = (await create(tenant, { address: 'kept@shop.example' })).body;
  const before = await routesIn(tenant);
  for (const [name, body, param] of BAD) {
    const refused = await world.request('POST', PATH, { key: tenant.liveKey, body });
    const { type, param: blamed } = refused.body.error;
    assert.deepEqual([refused.status, type, blamed], [400, 'validation_error', param], name);
    if (name.startsWith('no ')) continue;
    const change = await ask(tenant, 'PATCH', `/${id}`, { body });
    assert.deepEqual([change.status, change.body.error.param], [400, param], `change: ${name}`);
  }
  for (const body of [undefined, []]) {
    assert.equal((await world.request('POST', PATH, { key: tenant.liveKey, body })).status, 400);
    assert.equal((await ask(tenant, 'PATCH', `/${id}`, { body })).status, 400);
  }
  assert.deepEqual(await routesIn(tenant), before);
});

test('http is a destination when the operator allows it', async () => {
  await using lenient = await openTestApp({ env: { POSTRIDER_WEBHOOKS_ALLOW_HTTP: 'true' } });
  await addDomain(lenient, { name: 'shop.example', status: 'verified' });
  const body = { address: 'a@shop.example', destination: 'http://127.0.0.1:3000/' };
  assert.equal((await lenient.request('POST', PATH, { key: lenient.liveKey, body })).status, 201);
});

test('the very domain must be a verified one of the tenant', async () => {
  const tenant = await tenantWith();
  const stranger = await tenantWith('stranger.example');
  await addDomain({ ...world, tenantId: tenant.tenantId }, { id: 'dom_pending', name: 'pending.example' });
  const lapsed = { status: 'temporary_failure', failingSince: clock.now() - GRACE_MS } as const;
  for (const [name, fields] of [
    ['failed.example', { status: 'failed' }],
    ['lapsed.example', lapsed],
    ['lapsing.example', { ...lapsed, failingSince: lapsed.failingSince + 1 }],
  ] as const) {
    await addDomain({ ...world, tenantId: tenant.tenantId }, { id: `dom_${name}`, name, ...fields });
  }
  const { id } = (await create(tenant, { address: 'kept@shop.example' })).body;
  const refused: [domain: string, message: RegExp][] = [
    ['pending.example', /not verified.*POST \/v1\/domains\/dom_pending\/verify/],
    ['failed.example', /not verified/],
    ['lapsed.example', /not verified/],
    ['news.shop.example', /not one of yours/],
    ['example', /./],
    ['stranger.example', /not one of yours/],
    ['simulator.mx.postrider.example', /receives no inbound mail/],
  ];
  for (const [domain, message] of refused.filter(([name]) => name.includes('.'))) {
    for (const { status, body } of [
      await create(tenant, { address: `*@${domain}` }),
      await ask(tenant, 'PATCH', `/${id}`, { body: { address: `a@${domain}` } }),
    ]) {
      const { type, param } = body.error;
      assert.deepEqual([status, type, param], [422, 'domain_not_verified', 'address'], domain);
      assert.match(body.error.message, message);
    }
  }
  assert.equal((await create(tenant, { address: '*@lapsing.example' })).status, 201);
  assert.equal((await create(stranger, { address: '*@stranger.example' })).status, 201);
});

test('an address has one route, whatever its spelling, and other tenants their own', async () => {
  const tenant = await tenantWith();
  const first = (await create(tenant, { address: 'a@shop.example' })).body;
  const second = (await create(tenant, { address: 'b@shop.example' })).body;
  for (const { status, body } of [
    await create(tenant, { address: 'A@SHOP.example' }),
    await create(tenant, { address: 'a@shop.example' }, tenant.liveKey),
    await ask(tenant, 'PATCH', `/${second.id}`, { body: { address: 'A@shop.example' } }),
  ]) {
    const { type, param, details } = body.error;
    assert.deepEqual([status, type, param, details], [409, 'already_exists', 'address', { id: first.id }]);
  }
  assert.equal((await routesIn(tenant)).length, 2);
  const other = await tenantWith();
  assert.equal((await create(other, { address: 'a@shop.example' })).status, 201, 'it receives now');
  const same = await ask(tenant, 'PATCH', `/${first.id}`, { body: { address: 'A@SHOP.EXAMPLE' } });
  assert.deepEqual([same.status, same.body.address], [200, 'a@shop.example']);
});

test('a route that is moved to another domain is one of that domain, and keeps its secret', async () => {
  const tenant = await tenantWith();
  await addVerified(tenant, 'other.example');
  const { id } = (await create(tenant, { address: 'a@shop.example' })).body;
  const sealed = (await routesIn(tenant))[0]?.secretSealed;
  const moved = await ask(tenant, 'PATCH', `/${id}`, { body: { address: '*@Other.Example' } });
  assert.deepEqual([moved.status, moved.body.address], [200, '*@other.example']);
  const [row] = await routesIn(tenant);
  assert.deepEqual([row?.domain, row?.secretSealed], ['other.example', sealed]);
  const refused = await ask(tenant, 'PATCH', `/${id}`, { body: { secret: 'x' } });
  assert.deepEqual([refused.status, refused.body.error.param], [400, 'secret']);
});

test('the list is narrowed by address and by domain, and shows no secrets', async () => {
  const tenant = await tenantWith();
  await addVerified(tenant, 'xn--bcher-kva.example');
  const addresses = ['a@shop.example', '*@shop.example', 'a@bücher.example', 'b@shop.example'];
  const routes: { id: string; createdAt: string }[] = [];
  for (const address of addresses) {
    await clock.advance(1);
    routes.unshift((await create(tenant, { address })).body);
  }
  for (const [query, picked, hasMore] of [
    ['address=A@shop.example', [3], false],
    ['address=*@shop.example', [2], false],
    ['address=c@shop.example', [], false],
    ['domain=SHOP.example', [0, 2, 3], false],
    [`domain=${encodeURIComponent('bücher.example')}`, [1], false],
    ['domain=shop.example&limit=1', [0], true],
    [`createdBefore=${routes[0]?.createdAt}&domain=shop.example`, [2, 3], false],
  ] as const) {
    const { status, body } = await ask(tenant, 'GET', `?${query}`);
    const shown = body.data.map((route: { id: string }) => route.id);
    const expected = picked.map((index) => routes[index]?.id);
    assert.deepEqual([status, shown, body.hasMore], [200, expected, hasMore], query);
    assert.ok(!JSON.stringify(body).includes('whsec_'));
  }
  for (const [query, param] of [
    ['address=shop.example', 'address'],
    ['address=', 'address'],
    ['domain=a@shop.example', 'domain'],
    ['domain=', 'domain'],
    ['domain=shop.example%20', 'domain'],
  ]) {
    const { status, body } = await ask(tenant, 'GET', `?${query}`);
    assert.deepEqual([status, body.error.param], [400, param], query);
  }
});

test('routes outlive their domain, and can still be changed, but not moved to where no domain is verified', async () => {
  const tenant = await tenantWith();
  const { secret: _, ...created } = (await create(tenant, { address: 'a@shop.example' })).body;
  const [domain] = (await world.request('GET', '/v1/domains', { key: tenant.liveKey })).body.data;
  const deleted = await world.request('DELETE', `/v1/domains/${domain.id}`, { key: tenant.liveKey });
  assert.equal(deleted.status, 204);
  assert.deepEqual((await ask(tenant, 'GET', `/${created.id}`)).body, created);
  const disabled = await ask(tenant, 'PATCH', `/${created.id}`, {
    body: { enabled: false, address: 'a@shop.example' },
  });
  assert.deepEqual([disabled.status, disabled.body.enabled], [200, false]);
  const moved = await ask(tenant, 'PATCH', `/${created.id}`, { body: { address: 'b@shop.example' } });
  assert.deepEqual([moved.status, moved.body.error.type], [422, 'domain_not_verified']);
  assert.equal((await create(tenant, { address: 'c@shop.example' })).status, 422);
  await addVerified(tenant, 'shop.example', 'dom_again');
  const again = await create(tenant, { address: 'a@shop.example' });
  assert.deepEqual([again.status, again.body.error.details], [409, { id: created.id }]);
});

const SANDBOX = 'sandbox.mx.postrider.example';

test('a route on a domain that another tenant receives for is refused when it is created, moved or enabled, and names nobody', async () => {
  const tenant = await tenantWith('ours.example');
  await addVerified(tenant, 'shared.example');
  const old = (await create(tenant, { address: 'old@shared.example' })).body;
  const disabled = (await create(tenant, { address: 'off@shared.example', enabled: false })).body;
  const elsewhere = (await create(tenant, { address: 'a@ours.example' })).body;
  const receiver = await tenantWith('shared.example');
  const before = await routesIn(tenant);
  for (const { status, body } of [
    await create(tenant, { address: 'new@shared.example' }),
    await create(tenant, { address: '*@shared.example', enabled: false }),
    await ask(tenant, 'PATCH', `/${elsewhere.id}`, { body: { address: 'b@shared.example' } }),
    await ask(tenant, 'PATCH', `/${old.id}`, { body: { address: 'b@shared.example' } }),
    await ask(tenant, 'PATCH', `/${disabled.id}`, { body: { enabled: true } }),
  ]) {
    const { type, param, message, details } = body.error;
    assert.deepEqual([status, type, param, details], [409, 'domain_in_use', 'address', undefined]);
    assert.match(message, /mail of shared\.example goes to another account/);
    assert.ok(!JSON.stringify(body).includes(receiver.tenantId));
  }
  assert.deepEqual(await routesIn(tenant), before);
  const changes = { destination: 'https://ours.example/', enabled: false };
  assert.equal((await ask(tenant, 'PATCH', `/${old.id}`, { body: changes })).status, 200);
  const moved = await ask(tenant, 'PATCH', `/${old.id}`, {
    body: { address: 'c@ours.example', enabled: true },
  });
  assert.equal(moved.status, 200, 'it leaves the domain');
  assert.equal((await create(receiver, { address: 'old@shared.example' })).status, 201);
});

test('the next tenant may create and enable routes once the receiving domain is deleted', async () => {
  const next = await tenantWith('handed.example');
  const waiting = (await create(next, { address: 'off@handed.example', enabled: false })).body;
  const receiver = await tenantWith('handed.example');
  const enable = () => ask(next, 'PATCH', `/${waiting.id}`, { body: { enabled: true } });
  assert.equal((await enable()).status, 409);
  const [domain] = (await world.request('GET', '/v1/domains', { key: receiver.liveKey })).body.data;
  await world.request('DELETE', `/v1/domains/${domain.id}`, { key: receiver.liveKey });
  assert.deepEqual((await enable()).body.enabled, true);
  assert.equal((await create(next, { address: 'new@handed.example' })).status, 201);
});

test('an address at the sandbox domain belongs to the first tenant with a route for it, which needs no domain', async () => {
  const [one, other] = [await world.addTenant('sandbox one'), await world.addTenant('sandbox other')];
  const first = await create(one, { address: `Mine@${SANDBOX.toUpperCase()}` });
  assert.deepEqual([first.status, first.body.address], [201, `mine@${SANDBOX}`]);
  const own = await create(one, { address: `mine@${SANDBOX}` });
  assert.deepEqual([own.status, own.body.error.details], [409, { id: first.body.id }]);
  const theirs = (await create(other, { address: `theirs@${SANDBOX}` })).body;
  for (const { status, body } of [
    await create(other, { address: `mine@${SANDBOX}` }),
    await ask(other, 'PATCH', `/${theirs.id}`, { body: { address: `mine@${SANDBOX}` } }),
  ]) {
    const { type, param, details } = body.error;
    assert.deepEqual([status, type, param, details], [409, 'already_exists', 'address', undefined]);
    assert.ok(!JSON.stringify(body).includes(first.body.id));
  }
  assert.equal((await ask(other, 'GET', `/${first.body.id}`)).status, 404);
  for (const enabled of [false, true]) {
    assert.equal((await ask(one, 'PATCH', `/${first.body.id}`, { body: { enabled } })).status, 200);
  }
  const listed = (await ask(one, 'GET', `?domain=${SANDBOX}`)).body.data;
  assert.deepEqual(
    listed.map(({ id }: { id: string }) => id),
    [first.body.id],
  );
  await ask(one, 'DELETE', `/${first.body.id}`);
  assert.equal((await create(other, { address: `mine@${SANDBOX}` })).status, 201, 'it is free again');
});

test('no tenant takes every address of the sandbox domain, or one that proves control of it', async () => {
  const tenant = await world.addTenant('sandbox names');
  const { id } = (await create(tenant, { address: `kept@${SANDBOX}` })).body;
  for (const [localPart, message] of [
    ['*', /all accounts share/],
    ...['Postmaster', '"admin"', 'administrator', 'hostmaster', 'webmaster', 'abuse', 'security', 'noc'].map(
      (name) => [name, /belongs to the operator/] as const,
    ),
  ] as const) {
    for (const { status, body } of [
      await create(tenant, { address: `${localPart}@${SANDBOX}` }),
      await ask(tenant, 'PATCH', `/${id}`, { body: { address: `${localPart}@${SANDBOX}` } }),
    ]) {
      assert.deepEqual([status, body.error.type, body.error.param], [400, 'validation_error', 'address']);
      assert.match(body.error.message, message);
    }
  }
});
