import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { noAccounts } from '../../src/accounts/running-accounts.ts';
import { createApiServer } from '../../src/api.ts';
import { findReceiver } from '../../src/domains/receiving/store.ts';
import { endDomain } from '../../src/domains/store.ts';
import { createAuthenticator } from '../../src/mailboxes/authenticate.ts';
import { scriptsOf } from '../../src/mailboxes/scripts/of-mailbox.ts';
import { findMailboxById, recordDamage, recordLogin, recordUsage } from '../../src/mailboxes/store.ts';
import { setTenantPlan, upsertPlan } from '../../src/tenants/store.ts';
import { addDomain } from '../domains/fixtures.ts';
import { SANDBOX } from '../emails/fixtures.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp, type TestApp, type TestMethod } from '../support/test-app.ts';
import { addMailboxDomain } from './fixtures.ts';
import { countHashes } from './passwords/counted-hashes.ts';

const clock = createFakeClock(1_800_000_000_000);
const world = await openTestApp({ system: { clock } });
const hashes = countHashes();
after(async () => {
  hashes.restore();
  await world.close();
});

type Tenant = Pick<TestApp, 'tenantId' | 'liveKey'>;

const PATH = '/v1/mailboxes';
const ask = (method: TestMethod, path: string, body?: object, { liveKey: key }: Tenant = world) =>
  world.request(method, `${PATH}${path}`, { key, ...(body && { body }) });
const create = (body: object, tenant: Tenant = world) => ask('POST', '', body, tenant);
const PASSWORD = 'correct horse';
let names = 0;
const newAddress = () => `user${++names}@${SANDBOX}`;

const authenticate = createAuthenticator(world.app);
async function login(username: string, password: string): Promise<string> {
  const result = await authenticate({ username, password, address: '192.0.2.1', protocol: 'imap' });
  return 'refused' in result ? result.refused : 'accepted';
}

test('a mailbox is created with a password that is shown once, and that opens it', async () => {
  const address = newAddress();
  const { status, body } = await create({ address });
  const { password, ...shown } = body;
  assert.equal(status, 201, JSON.stringify(body));
  assert.match(shown.id, /^mbx_[0-9a-z]{26}$/);
  assert.deepEqual(shown, {
    id: shown.id,
    address,
    kind: 'personal',
    members: [],
    displayName: null,
    passwordLogin: true,
    passwordRecovery: true,
    timeZone: null,
    aliases: [],
    scramLogin: true,
    vacation: null,
    forwardTo: [],
    keepCopy: true,
    rules: [],
    quotaBytes: 10_240 * 1024 * 1024,
    status: 'active',
    usedBytes: 0,
    messageCount: 0,
    lastLoginAt: null,
    disabledCapabilities: [],
    createdAt: '2027-01-15T08:00:00.000Z',
    updatedAt: '2027-01-15T08:00:00.000Z',
  });
  assert.deepEqual((await ask('GET', `/${shown.id}`)).body, shown);
  assert.deepEqual((await ask('GET', `?address=${address}`)).body.data, [shown]);
  const row = await findMailboxById(world.app.db.read, shown.id);
  assert.ok(!JSON.stringify(row).includes(password));
  assert.equal(await login(address, password), 'accepted');
});

test('a mailbox is created with the password and the settings that the caller chose', async () => {
  const address = newAddress();
  const settings = {
    displayName: 'Ann Lee',
    quotaBytes: 1,
    disabledCapabilities: ['idle', 'BINARY', 'IDLE'],
  };
  const { body } = await create({ address, password: PASSWORD, ...settings });
  assert.equal(body.password, null);
  const { displayName, quotaBytes, disabledCapabilities } = body;
  assert.deepEqual([displayName, quotaBytes, disabledCapabilities], ['Ann Lee', 1, ['BINARY', 'IDLE']]);
  assert.equal(await login(address, PASSWORD), 'accepted');
});

test('an address in UTF-8 is stored in one form, which belongs to one mailbox', async () => {
  const { status, body } = await create({
    address: `JU\u0308RGEN@${SANDBOX}`,
    password: PASSWORD,
    aliases: [`用户@${SANDBOX}`],
  });
  assert.deepEqual([status, body.address, body.aliases], [201, `jürgen@${SANDBOX}`, [`用户@${SANDBOX}`]]);
  for (const address of [`jürgen@${SANDBOX}`, `Ju\u0308rgen@${SANDBOX}`, `用户@${SANDBOX}`])
    assert.equal((await create({ address, password: PASSWORD })).status, 409, address);
  const query = `?address=${encodeURIComponent(`Ju\u0308rgen@${SANDBOX}`)}`;
  assert.deepEqual(
    (await ask('GET', query)).body.data.map(({ id }: { id: string }) => id),
    [body.id],
  );
});

test('usage and logins are shown', async () => {
  const { id } = (await create({ address: newAddress() })).body;
  await world.app.db.commit(recordUsage, { id, usedBytes: 5_000, messageCount: 2, lastModseq: 1 });
  await world.app.db.commit(recordLogin, { id, now: clock.now() });
  const { usedBytes, messageCount, lastLoginAt } = (await ask('GET', `/${id}`)).body;
  assert.deepEqual([usedBytes, messageCount, lastLoginAt], [5_000, 2, '2027-01-15T08:00:00.000Z']);
});

const OK = { address: `ok@${SANDBOX}`, password: PASSWORD };
const BAD: [name: string, body: object, params: string[]][] = [
  ...[
    ...['', 'a', '@people.example', 'a@b@people.example', `Ann <a@${SANDBOX}>`, `<a@${SANDBOX}>`],
    ...[`pаypal@${SANDBOX}`, `a\u202eb@${SANDBOX}`, `☺@${SANDBOX}`, `ａｎｎ@${SANDBOX}`, `jü+x@${SANDBOX}`],
    ...[`a+b@${SANDBOX}`, `*@${SANDBOX}`, `postmaster@${SANDBOX}`, `Admin@${SANDBOX}`],
  ].map((address): (typeof BAD)[number] => [`the address "${address}"`, { ...OK, address }, ['address']]),
  ['a short password', { ...OK, password: 'short' }, ['password']],
  ['a password with a control character', { ...OK, password: `${PASSWORD}\n` }, ['password']],
  ['no quota', { ...OK, quotaBytes: 0 }, ['quotaBytes']],
  ['half a byte', { ...OK, quotaBytes: 1.5 }, ['quotaBytes']],
  ['a line in a name', { ...OK, displayName: 'a\nb' }, ['displayName']],
  ['no capability', { ...OK, disabledCapabilities: ['IDLE', 'XYZ'] }, ['disabledCapabilities[1]']],
  [
    'a capability that is needed',
    { ...OK, disabledCapabilities: ['imap4rev1'] },
    ['disabledCapabilities[0]'],
  ],
  ['two wrong fields', { address: 'a', password: 'b' }, ['address', 'password']],
];
test('an invalid mailbox is refused with 400 before its password is hashed, when it is created and changed', async () => {
  const { id } = (await create({ address: newAddress() })).body;
  hashes.take();
  for (const [name, body, params] of BAD) {
    const refused = await create(body);
    const issues = refused.body.error?.issues?.map(({ path }: { path: string }) => path);
    assert.deepEqual([refused.status, issues], [400, params], name);
    const { address: _, ...change } = body as typeof OK;
    if (params.includes('address')) continue;
    const again = await ask('PATCH', `/${id}`, change);
    assert.deepEqual([again.status, again.body.error?.param], [400, params[0]], name);
  }
  assert.deepEqual(hashes.take(), []);
});

test('the domain must be a verified one of the tenant, and for mailboxes', async () => {
  const tenant = await world.addTenant('of domains');
  const mine = { ...world, ...tenant };
  const refusal = async (address: string) => {
    const { status, body } = await create({ address }, tenant);
    return [status, body.error?.type];
  };
  assert.deepEqual(await refusal('a@shop.example'), [422, 'domain_not_verified']);
  const domain = await addDomain(mine, { name: 'shop.example', status: 'pending', productType: 'both' });
  assert.deepEqual(await refusal('a@shop.example'), [422, 'domain_not_verified']);
  assert.deepEqual(await refusal('a@simulator.mx.postrider.example'), [422, 'domain_not_verified']);
  await addDomain(mine, { name: 'news.example', status: 'verified', productType: 'api' });
  assert.deepEqual(await refusal('a@news.example'), [409, 'invalid_state']);
  assert.equal(domain.productType, 'both');
  for (const productType of ['mailbox', 'both']) {
    await addDomain(mine, { name: `${productType}.example`, status: 'verified', productType });
    assert.equal((await create({ address: `a@${productType}.example` }, tenant)).status, 201, productType);
  }
});

test('an address has one mailbox, whatever its spelling and its tenant', async () => {
  await addMailboxDomain(world, 'one.example');
  const first = await create({ address: 'Ann@One.example' });
  assert.equal(first.body.address, 'ann@one.example');
  const again = await create({ address: 'ANN@one.example' });
  const { type, param, details } = again.body.error;
  assert.deepEqual(
    [again.status, type, param, details],
    [409, 'already_exists', 'address', { id: first.body.id }],
  );
  const address = newAddress();
  await create({ address });
  const other = await world.addTenant('of the same address');
  const foreign = await create({ address }, other);
  assert.deepEqual([foreign.status, foreign.body.error.details], [409, undefined]);
});

test('a domain whose mail another tenant receives has no new mailboxes', async () => {
  await addMailboxDomain(world, 'two.example');
  const other = await world.addTenant('who verified later');
  await addDomain(
    { ...world, ...other },
    { name: 'two.example', status: 'verified', productType: 'mailbox', verifiedSince: 1 },
  );
  const { status, body } = await create({ address: 'a@two.example' }, other);
  assert.deepEqual([status, body.error.type], [409, 'domain_in_use']);
});

test('the quotas of all mailboxes of a tenant stay within its plan, and a lower one gives space to others', async () => {
  const plan = {
    name: 'small',
    monthlyEmails: null,
    requestsPerSecond: null,
    storedMegabytes: 2,
    weight: 1,
    createdAt: 0,
  };
  await world.app.db.commit(upsertPlan, plan);
  const tenant = await world.addTenant('on a small plan');
  await world.app.db.commit(setTenantPlan, { tenant: tenant.tenantId, plan: 'small' });
  const withQuota = (quotaBytes: number) => create({ address: newAddress(), quotaBytes }, tenant);
  const first = (await withQuota(1_500_000)).body;
  const { status, body } = await withQuota(600_000);
  assert.deepEqual([status, body.error.param], [400, 'quotaBytes']);
  assert.match(
    body.error.message,
    /the plan has 2 MB for all mailboxes together, of which 597152 bytes are left/,
  );
  const set = async (quotaBytes: number) =>
    (await ask('PATCH', `/${first.id}`, { quotaBytes }, tenant)).status;
  assert.deepEqual([await set(2_097_153), await set(2_097_152), await set(1_000_000)], [400, 200, 200]);
  assert.equal((await withQuota(600_000)).status, 201);
  await world.app.db.commit(upsertPlan, { ...plan, storedMegabytes: 1 });
  assert.deepEqual(
    [await set(1_000_001), await set(999_999)],
    [400, 200],
    'a smaller plan lets quotas only shrink',
  );
  assert.equal((await create({ address: newAddress() })).status, 201, 'a tenant without a limit');
});

test('two requests at the same time make one mailbox', async () => {
  const address = newAddress();
  const both = await Promise.all([create({ address }), create({ address })]);
  assert.deepEqual(both.map(({ status }) => status).sort(), [201, 409]);
});

test('another password replaces the first, and is not shown', async () => {
  const address = newAddress();
  const { id } = (await create({ address, password: PASSWORD })).body;
  assert.equal(await login(address, PASSWORD), 'accepted');
  const { status, body } = await ask('PATCH', `/${id}`, { password: 'battery staple' });
  assert.deepEqual([status, 'password' in body], [200, false]);
  assert.equal(await login(address, PASSWORD), 'credentials');
  assert.equal(await login(address, 'battery staple'), 'accepted');
});

test('a suspended mailbox cannot be opened until it is active again, and a damaged one stays damaged', async () => {
  const address = newAddress();
  const { id } = (await create({ address, password: PASSWORD })).body;
  await ask('PATCH', `/${id}`, { status: 'suspended' });
  assert.equal(await login(address, PASSWORD), 'suspended');
  await ask('PATCH', `/${id}`, { status: 'active' });
  assert.equal(await login(address, PASSWORD), 'accepted');
  await world.app.db.commit(recordDamage, { id, now: clock.now() });
  const { status, body } = await ask('PATCH', `/${id}`, { status: 'active' });
  assert.deepEqual([status, body.error.type, body.error.param], [409, 'invalid_state', 'status']);
});

test('the sessions of a mailbox end with its capabilities and when it is suspended, those of its password with that, and they learn a new quota', async () => {
  const closed: string[] = [];
  const quotas: number[] = [];
  const server = await createApiServer(world.app, {
    accounts: {
      ...noAccounts,
      close: async (id) => void closed.push(id),
      endSessions: async (id, credential) => void closed.push(`${credential} of ${id}`),
      configure: async ({ quotaBytes }) => void quotas.push(quotaBytes),
    },
  });
  const { id } = (await create({ address: newAddress() })).body;
  const change = async (payload: object) => {
    closed.length = 0;
    const headers = { authorization: `Bearer ${world.testKey}` };
    await server.inject({ method: 'PATCH', url: `${PATH}/${id}`, headers, payload });
    return closed;
  };
  assert.deepEqual(await change({ displayName: 'Ann' }), []);
  const OWN = [`password of ${id}`];
  assert.deepEqual(await change({ password: PASSWORD }), OWN);
  assert.deepEqual(await change({ passwordLogin: true }), []);
  assert.deepEqual(await change({ passwordLogin: false }), OWN);
  assert.deepEqual(await change({ password: PASSWORD }), [], 'nobody has logged in with it');
  assert.deepEqual(await change({ passwordLogin: true }), []);
  assert.deepEqual(await change({ status: 'suspended' }), [id]);
  assert.deepEqual(await change({ status: 'suspended' }), []);
  assert.deepEqual(await change({ status: 'active' }), []);
  assert.deepEqual(await change({ disabledCapabilities: ['IDLE'] }), [id]);
  assert.deepEqual(await change({ disabledCapabilities: ['IDLE'] }), []);
  assert.deepEqual([await change({ quotaBytes: 123_456 }), quotas], [[], [123_456]]);
  await server.close();
});

test('a deleted mailbox cannot be opened, and its address is free at once', async () => {
  const address = newAddress();
  const { id } = (await create({ address, password: PASSWORD })).body;
  assert.equal((await ask('DELETE', `/${id}`)).status, 204);
  assert.equal((await ask('GET', `/${id}`)).status, 404);
  assert.equal(await login(address, PASSWORD), 'credentials');
  const again = await create({ address });
  assert.equal(again.status, 201);
  assert.notEqual(again.body.id, id);
});

test('the list is narrowed by address and by domain', async () => {
  await addMailboxDomain(world, 'xn--bcher-kva.example');
  const { body } = await create({ address: 'ann@bücher.example' });
  const found = async (query: string) =>
    (await ask('GET', `?${query}`)).body.data.map(({ id }: { id: string }) => id);
  assert.deepEqual(await found('domain=BÜCHER.example'), [body.id]);
  assert.deepEqual(await found('address=ANN@bücher.example'), [body.id]);
  assert.deepEqual(await found('address=ben@bücher.example'), []);
  assert.equal((await ask('GET', '?domain=-')).status, 400);
  assert.equal((await ask('GET', '?address=ann')).status, 400);
});

test('aliases are read like addresses, shown in order, found by the filter, and changed as a whole', async () => {
  await addMailboxDomain(world, 'roles.example');
  const texts = ['Sales@Roles.example', '*@roles.example', 'abc@roles.example', 'ABC@roles.example'];
  const aliases = ['*@roles.example', 'abc@roles.example', 'sales@roles.example'];
  const { status, body } = await create({
    address: 'person@roles.example',
    password: PASSWORD,
    aliases: texts,
  });
  assert.equal(status, 201, JSON.stringify(body));
  assert.deepEqual(body.aliases, aliases);
  const find = async (address: string) =>
    (await ask('GET', `?address=${encodeURIComponent(address)}`)).body.data.map(
      ({ id }: { id: string }) => id,
    );
  for (const address of [...texts, 'person@roles.example']) assert.deepEqual(await find(address), [body.id]);
  assert.deepEqual(await find('xyz@roles.example'), []);
  const patch = (change: object) => ask('PATCH', `/${body.id}`, change);
  assert.deepEqual((await patch({ displayName: 'Ann' })).body.aliases, aliases);
  assert.deepEqual((await patch({ aliases: ['new@roles.example', 'abc@roles.example'] })).body.aliases, [
    'abc@roles.example',
    'new@roles.example',
  ]);
  assert.equal((await create({ address: 'sales@roles.example', password: PASSWORD })).status, 201);
  assert.equal((await patch({ aliases: ['sales@roles.example'] })).body.error.type, 'already_exists');
  assert.equal(await login('new@roles.example', PASSWORD), 'credentials');
});

test('an alias that a mailbox cannot have is refused by name, and an older one stays when its domain lapses', async () => {
  const address = newAddress();
  const refused = async (alias: string) => {
    const { error } = (await create({ address, password: PASSWORD, aliases: [newAddress(), alias] })).body;
    return `${error.type} ${error.param}`;
  };
  for (const alias of [
    ...['nobody', 'a+b@roles.example', 'a*@roles.example', `*@${SANDBOX}`, `postmaster@${SANDBOX}`],
    'Ann <ann@roles.example>',
  ])
    assert.equal(await refused(alias), 'validation_error aliases[1]', alias);
  assert.equal(await refused('a@simulator.mx.postrider.example'), 'domain_not_verified aliases[1]');
  assert.equal(await refused('a@unknown.example'), 'domain_not_verified aliases');
  await addDomain(world, { name: 'sending.example', status: 'verified' });
  assert.equal(await refused('a@sending.example'), 'invalid_state aliases');
  const many = Array.from({ length: 101 }, (_, index) => `many${index}@${SANDBOX}`);
  assert.equal((await create({ address, aliases: many })).status, 400);

  await addMailboxDomain(world, 'lapsing.example');
  const { id } = (await create({ address, password: PASSWORD, aliases: ['a@lapsing.example'] })).body;
  await world.app.db.commit(endDomain, {
    id: (await findReceiver(world.app.db.read, 'lapsing.example', clock.now()))?.id ?? assert.fail(),
    tenantId: world.tenantId,
    now: clock.now(),
  });
  const patch = async (aliases: string[]) => (await ask('PATCH', `/${id}`, { aliases })).status;
  assert.equal(await patch(['a@lapsing.example', `b@${SANDBOX}`]), 200);
  assert.equal(await patch(['a@lapsing.example', 'c@lapsing.example']), 422);
});

test('filters are shown as they were given, run when mail arrives, and end with the mailbox', async () => {
  const vacation = { from: null, until: '2027-02-01T00:00:00Z', subject: 'Away', text: 'I am away.' };
  const rules = [{ name: 'lists', conditions: [{ field: 'subject', value: '[list]' }], fileInto: 'Lists' }];
  const { body } = await create({ address: newAddress(), vacation, forwardTo: ['Bob@Other.example'] });
  assert.deepEqual([body.vacation, body.forwardTo, body.keepCopy], [vacation, ['Bob@other.example'], true]);
  const { read } = world.app.db;
  const scripts = async () => (await scriptsOf(read, body.id)).scripts.map(({ content }) => content);
  assert.match(
    (await scripts()).join(),
    /vacation :subject "Away" "I am away\.";[\s\S]*redirect :copy "Bob@other\.example";/,
  );
  const changed = await ask('PATCH', `/${body.id}`, { vacation: null, rules });
  assert.deepEqual(
    [changed.status, changed.body.vacation, changed.body.forwardTo],
    [200, null, ['Bob@other.example']],
  );
  assert.deepEqual(changed.body.rules, rules);
  assert.match((await scripts()).join(), /fileinto :create "Lists";/);
  const refused = await ask('PATCH', `/${body.id}`, { forwardTo: ['nobody'] });
  assert.equal(refused.status, 400);
  assert.match(JSON.stringify(refused.body), /forwardTo\[0\]/);
  await ask('PATCH', `/${body.id}`, { forwardTo: [], rules: [] });
  assert.deepEqual(await scripts(), []);
  // The value of `keepCopy` stays, and takes effect once the mailbox forwards its mail.
  assert.equal((await ask('PATCH', `/${body.id}`, { keepCopy: false })).body.keepCopy, false);
  assert.deepEqual(await scripts(), []);
  await ask('PATCH', `/${body.id}`, { forwardTo: ['bob@other.example'] });
  assert.match((await scripts()).join(), /redirect "bob@other\.example";/);
  await ask('PATCH', `/${body.id}`, { forwardTo: [] });
  await ask('PATCH', `/${body.id}`, { rules });
  await ask('DELETE', `/${body.id}`);
  assert.deepEqual(await scripts(), []);
});

test('a key of one domain changes no mailbox, with whose password it could send from others', async () => {
  const { id } = (await create({ address: newAddress(), password: PASSWORD })).body;
  await addMailboxDomain(world, 'one.example');
  const { id: domainId } =
    (await findReceiver(world.app.db.read, 'one.example', clock.now())) ?? assert.fail();
  const key = await world.newKey({ domainId });
  for (const [method, path, body] of [
    ['POST', '', { address: newAddress() }],
    ['PATCH', `/${id}`, { password: PASSWORD }],
    ['DELETE', `/${id}`, undefined],
    ['POST', `/${id}/app-passwords`, { name: 'Phone' }],
    ['DELETE', `/${id}/app-passwords/apw_1`, undefined],
    ['POST', `/${id}/imports`, { host: 'imap.example.com', user: 'ann', password: 'secret' }],
    ['DELETE', `/${id}/imports/mim_1`, undefined],
  ] as const) {
    const answer = await world.request(method, `/v1/mailboxes${path}`, { key, body });
    assert.deepEqual(
      [answer.status, answer.body.error.type],
      [403, 'restricted_api_key'],
      `${method} ${path}`,
    );
  }
  assert.equal((await world.request('GET', `/v1/mailboxes/${id}`, { key })).status, 404);
});
