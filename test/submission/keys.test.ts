/** An application logs in with an API key, and its messages are emails of the API. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTenantPlan } from '../../src/tenants/store.ts';
import { fillApprovals } from '../approvals/approving.ts';
import { SANDBOX, SIMULATOR } from '../emails/fixtures.ts';
import { SENDER_DOMAIN } from '../support/spool.ts';
import { openSubmissionWorld, plain, submit } from './submission-world.ts';

const world = await openSubmissionWorld();
const { app, tenantId } = world;
const FROM = `orders@${SENDER_DOMAIN}`;
const MESSAGE = [
  `From: Orders <${FROM}>`,
  'To: Bob <bob@receiver.example>',
  'Cc: =?utf-8?Q?C=C3=A9line?= <celine@receiver.example>',
  'Reply-To: help@sender.example',
  'Subject: =?utf-8?Q?Your_order_=C3=A9_?=',
  ' =?ISO-2022-JP?B?GyRCJUYlOSVIGyhC?=',
  ' =?ISO-2022-JP?B?GyRCJUYlOSVIGyhC?=',
  'X-Service-Tag: campaign: spring',
  'X-Service-Tag: kind:order',
  '',
  'Thank you',
  '',
].join('\r\n');
const mail = { from: FROM, message: MESSAGE };

async function newKey(fields: Record<string, unknown>): Promise<string> {
  const body = { name: 'smtp', permission: 'full_access', ...fields };
  const created = await world.request('POST', '/v1/api-keys', { key: world.liveKey, body });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  return created.body.token;
}

function idOf(reply: string): string {
  return /em_[0-9a-z]{26}/.exec(reply)?.[0] ?? assert.fail(reply);
}

test('a message becomes an email, whose id the reply has', async () => {
  // Emails of the plan that has no maximum are not counted.
  await app.db.commit(setTenantPlan, { tenant: tenantId, plan: 'free' });
  const client = await world.logIn('anything', world.liveKey);
  const to = ['bob@receiver.example', 'celine@receiver.example', 'dan@receiver.example'];
  const id = idOf(await submit(client, { ...mail, to }));
  const email = await world.email(id);
  assert.equal(email.from, `Orders <${FROM}>`);
  assert.deepEqual(
    [email.to, email.cc, email.bcc],
    [['Bob <bob@receiver.example>'], ['Céline <celine@receiver.example>'], ['dan@receiver.example']],
  );
  assert.equal(email.subject, 'Your order é テストテスト');
  assert.deepEqual(email.replyTo, ['help@sender.example']);
  assert.deepEqual(email.tags, { campaign: 'spring', kind: 'order' });
  assert.equal(email.messageId, `<${id}@${SENDER_DOMAIN}>`);
  assert.equal(email.status, 'queued');
  const { body: own } = await world.request('GET', `/v1/emails?apiKeyId=${email.apiKeyId}`, {
    key: world.liveKey,
  });
  assert.deepEqual(
    own.data.map((one: { id: string }) => one.id),
    [id],
  );
  assert.deepEqual([email.html, email.text?.trim()], [null, 'Thank you']);
  const message = await world.queued(id);
  assert.equal(message.returnPath, null);
  assert.doesNotMatch(await world.raw(message), /X-Service/);
  const usage = await app.db.read.selectFrom('usage').selectAll().execute();
  assert.deepEqual(
    usage.map(({ emails }) => emails),
    [1],
  );
  await app.db.commit(setTenantPlan, { tenant: tenantId, plan: 'unlimited' });
});

test('a client cannot choose notifications, which do not go to it', async () => {
  const client = await world.logIn('x', world.liveKey);
  assert.doesNotMatch(await client.ask('EHLO client.example\r\n'), /^250[- ]DSN\r$/m);
  assert.match(await client.ask(`MAIL FROM:<${FROM}> RET=HDRS\r\n`), /^555 5\.5\.4 /);
  assert.match(await client.ask(`MAIL FROM:<${FROM}>\r\n`), /^250 /);
  assert.match(await client.ask('RCPT TO:<bob@receiver.example> NOTIFY=NEVER\r\n'), /^555 5\.5\.4 /);
  const person = await world.logIn();
  assert.match(await person.ask('EHLO client.example\r\n'), /^250-DSN\r$/m);
});

test('mail of a key that requires approval is accepted and waits, from the moment of the mark on', async () => {
  const name = { name: 'agent', permission: 'full_access' };
  const made = await world.request('POST', '/v1/api-keys', { key: world.liveKey, body: name });
  const client = await world.logIn('agent', made.body.token);
  const sent = async () => world.email(idOf(await submit(client, { ...mail, to: ['bob@receiver.example'] })));
  assert.equal((await sent()).approval, null);
  const mark = (requiresApproval: string | null) =>
    world.request('PATCH', `/v1/api-keys/${made.body.id}`, {
      key: world.liveKey,
      body: { requiresApproval },
    });
  assert.equal((await mark('broadcasts')).status, 200);
  assert.equal((await sent()).approval, null);
  await mark('broadcasts_and_emails');
  const email = await sent();
  assert.deepEqual(
    [email.approval.state, email.recipients[0].status, email.recipients[0].holdReason],
    ['pending', 'held', 'approval'],
  );
  const body = { hash: email.approval.hash };
  const path = `/v1/emails/${email.id}/approve`;
  assert.equal((await world.request('POST', path, { key: made.body.token, body })).status, 403);
  assert.equal((await world.request('POST', path, { key: world.liveKey, body })).status, 200);
  assert.equal((await world.email(email.id)).recipients[0].status, 'queued');
});

test('a message that finds too much mail waiting for approval is refused for now', async () => {
  const client = await world.logIn('agent', await newKey({ requiresApproval: 'broadcasts_and_emails' }));
  const full = fillApprovals(world, { tenantId, mode: 'live' });
  assert.match(
    await submit(client, { ...mail, to: ['bob@receiver.example'] }),
    /^452 4\.7\.0 .*wait for approval/,
  );
  full.empty();
  assert.match(await submit(client, { ...mail, to: ['bob@receiver.example'] }), /^250 /);
});

test('the limits of a key apply: its permission, its domain and its addresses', async () => {
  const refused = async (token: string) => {
    const client = await world.open();
    return client.ask(`AUTH PLAIN ${plain('x', token)}\r\n`);
  };
  assert.match(await refused(await newKey({ permission: 'read_only' })), /^535 5\.7\.8 /);
  assert.match(await refused(await newKey({ allowedIps: ['192.0.2.1'] })), /^535 5\.7\.8 .* 127\.0\.0\.1/);
  assert.match(await refused(`${world.liveKey.slice(0, -1)}_`), /^535 5\.7\.8 /);
  await world.addDomain(world.liveKey, 'second.example');
  const domains = await world.request('GET', '/v1/domains', { key: world.liveKey });
  const { id } = domains.body.data.find(({ name }: { name: string }) => name === 'second.example');
  const limited = await world.logIn('x', await newKey({ domainId: id, permission: 'sending_access' }));
  assert.match(await submit(limited, mail), /^550 5\.7\.1 This API key cannot send from sender\.example/);
  const own = { from: 'a@second.example', message: MESSAGE.replace(FROM, 'a@second.example') };
  assert.match(await submit(limited, own), /^250/);
  assert.match(await submit(limited, { ...own, message: MESSAGE }), /^550 5\.7\.1 /);
});

test('the number of recipients that a key may name is told after its login', async () => {
  const client = await world.logIn('x', world.liveKey);
  assert.match(await client.ask('EHLO client.example\r\n'), /^250-LIMITS RCPTMAX=50\r$/m);
  const person = await world.logIn();
  assert.match(await person.ask('EHLO client.example\r\n'), /^250-LIMITS RCPTMAX=100\r$/m);
});

test('wrong keys of an address are limited and logged', async (t) => {
  const info = t.mock.method(app.log, 'info');
  const address = '127.0.0.9';
  const attempt = async (count: number, token: string) => {
    const client = await world.open(address);
    const replies: string[] = [];
    for (let index = 0; index < count; index++)
      replies.push((await client.ask(`AUTH PLAIN ${plain('x', token)}\r\n`)).slice(0, 9));
    client.socket.destroy();
    return new Set(replies);
  };
  const wrong = `${world.liveKey.slice(0, -1)}_`;
  assert.deepEqual(await attempt(10, wrong), new Set(['535 5.7.8']));
  assert.deepEqual(await attempt(10, wrong), new Set(['535 5.7.8']));
  assert.deepEqual(await attempt(1, world.liveKey), new Set(['454 4.7.0']));
  const logged = info.mock.calls.filter(({ arguments: [, text] }) => /API key has failed/.test(`${text}`));
  assert.equal(logged.length, 20);
});

test('an address of the sandbox anywhere in a message keeps it here', async () => {
  const client = await world.logIn('x', world.liveKey);
  const sandbox = `dev@${SANDBOX}`;
  for (const from of [
    { from: FROM, message: `Sender: ${sandbox}\r\n${MESSAGE}` },
    { from: sandbox, message: MESSAGE },
  ]) {
    assert.match(await submit(client, from), /^550 5\.7\.1 sandbox\./);
    assert.match(await submit(client, { ...from, to: `delivered@${SIMULATOR}` }), /^250/);
  }
});

test('a tag without its key is refused by its form', async () => {
  const client = await world.logIn('x', world.liveKey);
  const message = MESSAGE.replace('campaign: spring', 'spring');
  assert.match(
    await submit(client, { ...mail, message }),
    /^550 5\.6\.0 A tag is a key and a value, such as /,
  );
});

test('the sessions of a key end when it is revoked, or expires', async () => {
  const client = await world.logIn('x', await newKey({}));
  const expiresAt = new Date(world.clock.now() + 60_000).toISOString();
  const passing = await world.logIn('x', await newKey({ expiresAt }));
  const lasting = await world.logIn('x', world.liveKey);
  const keys = await world.request('GET', '/v1/api-keys', { key: world.liveKey });
  const { id } = keys.body.data[1];
  await world.request('DELETE', `/v1/api-keys/${id}`, { key: world.liveKey });
  assert.match(await client.ask('NOOP\r\n'), /^421 4\.7\.0 /);
  assert.match(await passing.ask('NOOP\r\n'), /^250 /);
  await world.clock.advance(60_000);
  assert.match(await passing.ask('NOOP\r\n'), /^421 4\.7\.0 /);
  assert.match(await submit(lasting, mail), /^250 /);
});

test('test keys deliver nothing, and the sandbox writes to the simulator', async () => {
  const test = await world.logIn('x', world.testKey);
  const id = idOf(await submit(test, mail));
  assert.equal((await world.queued(id)).mode, 'test');
  const live = await world.logIn('x', world.liveKey);
  const sandbox = { from: `app@${SANDBOX}`, message: MESSAGE.replace(FROM, `app@${SANDBOX}`) };
  assert.match(await submit(live, { ...sandbox, to: 'bob@receiver.example' }), /^550 5\.7\.1 /);
  assert.match(await submit(live, { ...sandbox, to: `delivered@${SIMULATOR}` }), /^250/);
});

test('a message that is handed over again is sent once', async () => {
  const client = await world.logIn('x', world.liveKey);
  const withKey = (date: string, text = 'Thank you') =>
    `X-Service-Idempotency-Key: order-1\r\nDate: ${date}\r\n${MESSAGE.replace('Thank you', text)}`;
  const first = idOf(await submit(client, { ...mail, message: withKey('Mon, 1 Jan 2024 00:00:00 +0000') }));
  const again = idOf(await submit(client, { ...mail, message: withKey('Tue, 2 Jan 2024 00:00:00 +0000') }));
  assert.equal(again, first);
  assert.match(
    await submit(client, { ...mail, message: withKey('Mon, 1 Jan 2024 00:00:00 +0000', 'Other') }),
    /^550 5\.5\.0 This Idempotency-Key/,
  );
  const parameters = ' HOLDFOR=60';
  const held = {
    ...mail,
    parameters,
    message: withKey('Mon, 1 Jan 2024 00:00:00 +0000').replace('order-1', 'order-2'),
  };
  const once = idOf(await submit(client, held));
  await world.clock.advance(5);
  assert.equal(idOf(await submit(client, held)), once);
  assert.match(await submit(client, { ...held, parameters: ' HOLDFOR=90' }), /^550 5\.5\.0 /);
  const emails = await app.db.read
    .selectFrom('emails')
    .select('id')
    .where('id', '=', first as 'em_')
    .execute();
  assert.equal(emails.length, 1);
});

test('a malformed tag and a tenant beyond its rate are refused', async () => {
  const client = await world.logIn('x', world.liveKey);
  assert.match(
    await submit(client, { ...mail, message: MESSAGE.replace('campaign: spring', 'no separator') }),
    /^550 5\.6\.0 /,
  );
});
