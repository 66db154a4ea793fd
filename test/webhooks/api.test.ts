import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openTestApp, type TestApp } from '../support/test-app.ts';

const world = await openTestApp();
after(() => world.close());

const URL_OK = 'https://example.com/hooks';
const create = (body: unknown, key = world.testKey, app: TestApp = world) =>
  app.request('POST', '/v1/webhooks', { key, body });

test('an endpoint is created enabled, with its secret, and answers to its id without it', async () => {
  const created = await create({
    url: URL_OK,
    events: ['email.delivered', 'email.bounced', 'email.delivered'],
    description: 'Büro',
  });
  assert.equal(created.status, 201);
  const { secret, ...shown } = created.body;
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.match(shown.id, /^wh_[0-9a-z]{26}$/);
  assert.match(shown.createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual(shown, {
    ...{ id: shown.id, url: URL_OK, events: ['email.delivered', 'email.bounced'], description: 'Büro' },
    ...{
      status: 'enabled',
      disabledReason: null,
      disabledAt: null,
      failingSince: null,
      suspendedUntil: null,
      waitingSince: null,
      domainId: null,
      format: 'default',
    },
    ...{ previousSecretExpiresAt: null, createdAt: shown.createdAt, updatedAt: shown.createdAt },
  });
  const got = await world.request('GET', `/v1/webhooks/${shown.id}`);
  assert.deepEqual([got.status, got.body], [200, shown]);
  const listed = await world.request('GET', '/v1/webhooks');
  assert.deepEqual(listed.body.data, [shown]);
});

test('a description of null is none, as an update has it', async () => {
  const created = await create({ url: URL_OK, events: ['email.sent'], description: null });
  assert.deepEqual([created.status, created.body.description], [201, null]);
});

test('the secret is kept sealed to its tenant and row', async () => {
  const { id, secret } = (await create({ url: URL_OK, events: ['email.sent'] })).body;
  const rows = world.app.db.read.selectFrom('webhookEndpoints').selectAll();
  const row = await rows.where('id', '=', id).executeTakeFirstOrThrow();
  assert.ok(!JSON.stringify(row).includes(secret.slice(6)));
  assert.equal(world.app.sealer.open(row.secretSealed, [world.tenantId, id]), secret);
  assert.throws(() => world.app.sealer.open(row.secretSealed, [world.tenantId, 'wh_other']));
});

const events = ['email.sent'];
const BAD: [name: string, body: unknown, param: string | undefined][] = [
  ['no body', undefined, undefined],
  ['a body that is a list', [], undefined],
  ['no url', { events }, 'url'],
  ['a url that is a number', { url: 5, events }, 'url'],
  ['an empty url', { url: '', events }, 'url'],
  ['a relative url', { url: '/hooks', events }, 'url'],
  ['a url without slashes', { url: 'https:example.com', events }, 'url'],
  ['a url with white space around', { url: ` ${URL_OK}`, events }, 'url'],
  ['a url with a line break', { url: 'https://example.com/\r\nx', events }, 'url'],
  ['a url with a NUL', { url: 'https://example.com/\u0000', events }, 'url'],
  ['http', { url: 'http://example.com/', events }, 'url'],
  ['another scheme', { url: 'file:///etc/passwd', events }, 'url'],
  ['no host', { url: 'https://', events }, 'url'],
  ['a host that cannot be', { url: 'https://exa mple.com/', events }, 'url'],
  ['a port that cannot be', { url: 'https://example.com:65536/', events }, 'url'],
  ['a user name', { url: 'https://me@example.com/', events }, 'url'],
  ['a password', { url: 'https://:secret@example.com/', events }, 'url'],
  ['a fragment', { url: `${URL_OK}#top`, events }, 'url'],
  ['an empty fragment', { url: `${URL_OK}#`, events }, 'url'],
  ['2049 characters', { url: `https://example.com/${'x'.repeat(2029)}`, events }, 'url'],
  ...[25, 110, 143, 465, 587, 993, 995, 2525].map((port): [string, unknown, string] => [
    `the mail port ${port}`,
    { url: `https://example.com:${port}/`, events },
    'url',
  ]),
  ['no events', { url: URL_OK }, 'events'],
  ['events that are text', { url: URL_OK, events: 'email.sent' }, 'events'],
  ['an empty list of events', { url: URL_OK, events: [] }, 'events'],
  ['an unknown event', { url: URL_OK, events: ['email.sent', 'email.lost'] }, 'events[1]'],
  ['an event that is null', { url: URL_OK, events: [null] }, 'events[0]'],
  ['an event named like a property', { url: URL_OK, events: ['constructor'] }, 'events[0]'],
  ['a description that is a number', { url: URL_OK, events, description: 1 }, 'description'],
  ['a long description', { url: URL_OK, events, description: 'x'.repeat(201) }, 'description'],
  ['a url with half a character', { url: 'https://example.com/\ud800', events }, 'url'],
  ['a description with half a character', { url: URL_OK, events, description: 'a\ud800' }, 'description'],
  ['a description with a control character', { url: URL_OK, events, description: 'a\u0007' }, 'description'],
];

for (const [name, body, param] of BAD) {
  test(`refused with 400: ${name}`, async () => {
    const answer = await create(body);
    assert.deepEqual([answer.status, answer.body.error.type], [400, 'validation_error']);
    assert.equal(answer.body.error.param, param);
  });
}

const GOOD = [
  `https://example.com/${'x'.repeat(2028)}`,
  'https://example.com:8443/a?b=c',
  'HTTPS://EXAMPLE.COM',
  'https://bücher.example/ä',
  'https://192.0.2.1/',
];
for (const url of GOOD) {
  test(`accepted and shown as given: ${url.slice(0, 40)}`, async () => {
    const answer = await create({ url, events });
    assert.deepEqual([answer.status, answer.body.url], [201, url]);
  });
}

test('http is accepted when the operator allows it', async () => {
  await using lenient = await openTestApp({ env: { POSTRIDER_WEBHOOKS_ALLOW_HTTP: 'true' } });
  const answer = await create({ url: 'http://127.0.0.1:3000/', events }, lenient.testKey, lenient);
  assert.equal(answer.status, 201);
  const other = await create({ url: 'ftp://127.0.0.1/', events }, lenient.testKey, lenient);
  assert.equal(other.status, 400);
});
