/** Test keys change routes and mailboxes at the sandbox domain alone. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addDomain } from '../domains/fixtures.ts';
import { SANDBOX } from '../emails/fixtures.ts';
import { openTestApp, type TestMethod } from '../support/test-app.ts';
import { addMailbox } from './fixtures.ts';

const world = await openTestApp();
after(() => world.close());
const DOMAIN = 'people.example';
await addDomain(world, { name: DOMAIN, status: 'verified', productType: 'both' });

const ask = (method: TestMethod, path: string, body?: object, key = world.testKey) =>
  world.request(method, `/v1${path}`, { key, ...(body && { body }) });
const askLive = (method: TestMethod, path: string, body?: object) => ask(method, path, body, world.liveKey);

async function refusedParam(method: TestMethod, path: string, body?: object): Promise<string | undefined> {
  const answer = await ask(method, path, body);
  assert.deepEqual(
    [answer.status, answer.body.error?.type],
    [403, 'restricted_api_key'],
    `${method} ${path}`,
  );
  assert.match(answer.body.error.message, new RegExp(SANDBOX.replaceAll('.', '\\.')));
  return answer.body.error.param;
}

const DESTINATION = 'https://shop.example/in';

test('a test key makes, moves, changes and deletes routes at the sandbox domain alone', async () => {
  const wanted = (address: string) => ({ address, destination: DESTINATION });
  for (const address of [`a@${DOMAIN}`, `*@${DOMAIN}`, 'a@unknown.example'])
    assert.equal(await refusedParam('POST', '/inbound/routes', wanted(address)), 'address');
  const made = await ask('POST', '/inbound/routes', wanted(`a@${SANDBOX}`));
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const own = `/inbound/routes/${made.body.id}`;
  assert.equal((await ask('PATCH', own, { enabled: false })).status, 200);
  assert.equal(await refusedParam('PATCH', own, { address: `a@${DOMAIN}` }), 'address');
  const { body } = await askLive('POST', '/inbound/routes', wanted(`a@${DOMAIN}`));
  const live = `/inbound/routes/${body.id}`;
  assert.equal((await ask('GET', live)).status, 200, 'it reads the others');
  for (const change of [
    { destination: 'https://thief.example/' },
    { enabled: false },
    { address: `b@${SANDBOX}` },
  ])
    assert.equal(await refusedParam('PATCH', live, change), undefined);
  await refusedParam('DELETE', live);
  assert.deepEqual((await askLive('GET', live)).body.destination, DESTINATION);
  assert.equal((await ask('DELETE', own)).status, 204);
  assert.equal((await ask('DELETE', '/inbound/routes/rt_1')).status, 404);
});

const PASSWORD = 'correct horse';
const IMPORT = { host: 'imap.example.com', user: 'ann', password: 'secret' };

test('a test key makes mailboxes and aliases at the sandbox domain alone', async () => {
  assert.equal(await refusedParam('POST', '/mailboxes', { address: `a@${DOMAIN}` }), 'address');
  const aliases = [`role@${SANDBOX}`, `role@${DOMAIN}`];
  assert.equal(await refusedParam('POST', '/mailboxes', { address: `a@${SANDBOX}`, aliases }), 'aliases[1]');
  const { body, status } = await ask('POST', '/mailboxes', { address: `a@${SANDBOX}`, password: PASSWORD });
  assert.equal(status, 201);
  const own = `/mailboxes/${body.id}`;
  assert.equal(await refusedParam('PATCH', own, { aliases: [`*@${DOMAIN}`] }), 'aliases[0]');
  assert.equal((await ask('PATCH', own, { aliases: [`role@${SANDBOX}`] })).status, 200);
  assert.equal((await ask('POST', `${own}/app-passwords`, { name: 'Phone' })).status, 201);
  assert.equal((await ask('POST', `${own}/imports`, IMPORT)).status, 201);
  assert.equal((await ask('DELETE', own)).status, 204);
});

/** Requests that change something of a mailbox. */
async function changes(path: string): Promise<[TestMethod, string, object?][]> {
  const { body: password } = await askLive('POST', `${path}/app-passwords`, { name: 'Phone' });
  const { body: running } = await askLive('POST', `${path}/imports`, IMPORT);
  return [
    ['PATCH', path, { password: PASSWORD }],
    ['PATCH', path, { forwardTo: ['thief@rcpt.example'] }],
    ['DELETE', path],
    ['POST', `${path}/app-passwords`, { name: 'Thief' }],
    ['DELETE', `${path}/app-passwords/${password.id}`],
    ['POST', `${path}/imports`, IMPORT],
    ['DELETE', `${path}/imports/${running.id}`],
  ];
}

test('a test key changes no mailbox with an address at another domain, its own or an alias, and reads it', async () => {
  const person = await addMailbox(world, { address: `ann@${DOMAIN}` });
  const aliased = await addMailbox(world, { address: `bob@${SANDBOX}`, aliases: [`bob@${DOMAIN}`] });
  for (const { id } of [person, aliased]) {
    const path = `/mailboxes/${id}`;
    for (const [method, url, body] of await changes(path)) await refusedParam(method, url, body);
    assert.equal((await ask('GET', path)).status, 200);
    assert.equal((await ask('GET', `${path}/app-passwords`)).body.data.length, 1);
  }
});

test('a test key does not change a member of a shared mailbox at another domain, whose password opens that one', async () => {
  const member = await addMailbox(world, { address: `member@${SANDBOX}` });
  const members = [member.address];
  const shared = { address: `support@${DOMAIN}`, kind: 'shared', members };
  const { body } = await askLive('POST', '/mailboxes', shared);
  const path = `/mailboxes/${member.id}`;
  for (const [method, url, change] of await changes(path)) await refusedParam(method, url, change);
  assert.equal((await askLive('PATCH', `/mailboxes/${body.id}`, { members: [] })).status, 200);
  assert.equal((await ask('PATCH', path, { password: PASSWORD })).status, 200);
});

test('a mailbox that is not there is not found, whatever the key', async () => {
  for (const key of [world.testKey, world.liveKey])
    for (const [method, path, body] of [
      ['PATCH', '', {}],
      ['DELETE', '', undefined],
      ['POST', '/app-passwords', { name: 'Phone' }],
      ['POST', '/imports', IMPORT],
    ] as const)
      assert.equal(
        (await ask(method, `/mailboxes/mbx_1${path}`, body, key)).status,
        404,
        `${method} ${path}`,
      );
});
