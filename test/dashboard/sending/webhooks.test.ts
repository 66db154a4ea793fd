/** The pages of webhook endpoints: the secret shown once, tests, the log of posts, and posting again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Browser, logIn } from '../../support/browser.ts';
import { shareWorld, until, type WebhookWorld } from '../../webhooks/webhook-world.ts';
import { textsIn } from '../shown.ts';

const inWorld = shareWorld();

const WEBHOOKS = '/t/default/test/webhooks';
const HOSTILE = '<script>alert(1)</script>';

/** Adds an endpoint with the form, and returns its id and its secret. */
async function addByForm(browser: Browser, events: readonly string[] = ['email.delivered']) {
  await browser.open(`${WEBHOOKS}/new`);
  await browser.submit('add', { url: 'https://receiver.example/hook', description: HOSTILE, events });
  const [secret = ''] = textsIn(browser.page.html, 'code');
  const [, id = ''] = /\/webhooks\/(wh_\w+)/.exec(browser.page.html) ?? [];
  return { id, secret };
}

async function delivered(world: WebhookWorld, state = 'delivered') {
  await until(world, `it is ${state}`, async () => (await world.deliveries())[0]?.state === state);
}

test('a new endpoint shows its secret once, and gets the events that were chosen', () =>
  inWorld(async ({ test: testApp }) => {
    const owner = await logIn(testApp);
    const { id, secret } = await addByForm(owner, ['email.delivered', 'domain.failed']);
    assert.match(secret, /^whsec_/);
    await owner.open(`${WEBHOOKS}/${id}`);
    assert.ok(!owner.page.html.includes(secret));
    assert.ok(!owner.page.html.includes(HOSTILE));
    const { body } = await testApp.request('GET', `/v1/webhooks/${id}`);
    assert.deepEqual(body.events, ['email.delivered', 'domain.failed']);
    await owner.submit('change', { url: 'https://other.example/', events: ['email.sent'] });
    const { body: changed } = await testApp.request('GET', `/v1/webhooks/${id}`);
    assert.deepEqual([changed.url, changed.events], ['https://other.example/', ['email.sent']]);
  }));

test('an endpoint shows the shape of its posts', () =>
  inWorld(async ({ test: testApp }) => {
    const owner = await logIn(testApp);
    for (const [format, text] of [
      ['default', 'Own'],
      ['resend', 'As the webhooks of Resend'],
    ] as const) {
      const endpoint = { url: 'https://receiver.example/', events: ['email.sent'], format };
      const { body } = await testApp.request('POST', '/v1/webhooks', { body: endpoint });
      await owner.open(`${WEBHOOKS}/${body.id}`);
      assert.ok(owner.page.html.includes(`Shape of the posts</dt><dd>${text}</dd>`), format);
    }
  }));

test('a refused endpoint keeps the choices that were made', () =>
  inWorld(async ({ test: testApp }) => {
    const owner = await logIn(testApp);
    await owner.open(`${WEBHOOKS}/new`);
    const refused = await owner.submit('add', { url: 'https://mail.example:25/', events: ['email.bounced'] });
    assert.equal(refused.status, 422);
    assert.match(
      refused.html,
      /<input[^>]*type="url"[^>]*aria-invalid="true"|aria-invalid="true"[^>]*type="url"/,
    );
    assert.match(refused.html, /value="email.bounced" checked/);
    assert.ok(!/value="email.sent" checked/.test(refused.html));
  }));

test('a refusal names the fields as the form does, in the language of the page', () =>
  inWorld(async ({ test: testApp }) => {
    const owner = await logIn(testApp);
    await owner.open(`${WEBHOOKS}/new`);
    const { html: noEvents } = await owner.submit('add', { url: 'https://receiver.example/' });
    assert.match(noEvents, /role="alert"[^>]*>“Events” /);
    assert.doesNotMatch(noEvents, /`events`/);
    const { html } = await owner.submit('add', { url: 'ftp://receiver.example/', events: ['email.sent'] });
    assert.match(html, /role="alert"[^>]*>“URL” must be an absolute URL/);
    assert.match(html, /The URL begins with https:\/\/ or http:\/\//);
    const { html: german } = await owner.send(`${WEBHOOKS}/new`, {
      method: 'POST',
      body: '_action=add&url=https://receiver.example/&events=wrong',
      headers: { 'accept-language': 'de' },
    });
    assert.match(german, /role="alert"[^>]*>„Ereignisse“ \(1\) /);
  }));

test('an endpoint is paused and enabled again, and its secret is replaced', () =>
  inWorld(async ({ test: testApp }) => {
    const owner = await logIn(testApp);
    const { id, secret } = await addByForm(owner);
    await owner.open(`${WEBHOOKS}/${id}`);
    await owner.submit('status');
    assert.match(owner.page.html, /paused/);
    await owner.submit('status');
    assert.match(owner.page.html, />enabled</);
    await owner.submit('rotate', { overlapHours: '24' });
    const [next = ''] = textsIn(owner.page.html, 'code');
    assert.match(next, /^whsec_/);
    assert.notEqual(next, secret);
    const { body } = await testApp.request('GET', `/v1/webhooks/${id}`);
    assert.equal(Date.parse(body.previousSecretExpiresAt) - testApp.app.clock.now(), 86_400_000);
    await owner.open(`${WEBHOOKS}/${id}`);
    await owner.submit('delete');
    assert.equal((await testApp.request('GET', `/v1/webhooks/${id}`)).status, 404);
  }));

test('a test shows what the receiver answered', () =>
  inWorld(async (world) => {
    const owner = await logIn(world.test);
    const { id } = await addByForm(owner);
    world.answer(() => ({ status: 418 }));
    await owner.open(`${WEBHOOKS}/${id}`);
    await owner.submit('test', { type: 'email.bounced' });
    assert.match(owner.page.html, /418/);
    assert.match(owner.page.html, /It failed/);
    assert.match(String(world.posts[0]?.body), /"type":"email.bounced"/);
  }));

test('the log shows the post and its answer as text, and posts one again', () =>
  inWorld(async (world) => {
    const owner = await logIn(world.test);
    const { id } = await addByForm(owner);
    world.answer(() => ({ status: 200, body: Buffer.from(HOSTILE) }));
    await world.record();
    world.start();
    await delivered(world);
    await owner.open(`${WEBHOOKS}/${id}/deliveries`);
    assert.match(owner.page.html, /delivered/);
    const [, delivery = ''] = /deliveries\/(whd_\w+)/.exec(owner.page.html) ?? [];
    await owner.open(`${WEBHOOKS}/${id}/deliveries/${delivery}`);
    const [sent = '', answered = ''] = textsIn(owner.page.html, 'pre');
    assert.equal(JSON.parse(sent).data.emailId, 'em_1');
    assert.equal(answered.trim(), HOSTILE);
    assert.ok(!owner.page.html.includes(HOSTILE));
    assert.match(owner.page.html, /href="\/t\/default\/test\/emails\/em_1"/);
    await owner.submit('replay');
    assert.match(owner.page.html, /It is posted again/);
    await until(world, 'it is posted again', () => world.posts.length === 2);
    await owner.open(`${WEBHOOKS}/${id}/deliveries?status=failed`);
    assert.match(owner.page.html, /Nothing matches these filters/);
  }));

test('posts that failed since a time are counted first, and made again once that is confirmed', () =>
  inWorld(async (world) => {
    const owner = await logIn(world.test);
    const { id } = await addByForm(owner);
    const eventId = await world.record();
    await world.addDeliveries(
      { endpointId: id as `wh_${string}`, eventId, state: 'failed' },
      { endpointId: id as `wh_${string}`, eventId, state: 'skipped' },
    );
    const since = new Date(world.startMs - 60_000).toISOString().slice(0, 16);
    const log = `${WEBHOOKS}/${id}/deliveries`;
    assert.match((await owner.open(`${log}?since=${since}&state=`)).html, /would be made again: 2\./);
    assert.match((await owner.open(`${log}?since=${since}&state=failed`)).html, /would be made again: 1\./);
    assert.equal((await owner.open(`${log}?status=failed`)).html.match(/deliveries\/whd_/g)?.length, 1);
    await owner.open(`${log}?since=${since}&state=failed`);
    await owner.submit('replay');
    assert.match(owner.page.html, /Posts that are made again: 1/);
    const none = await owner.open(`${log}?since=2999-01-01T00:00`);
    assert.match(none.html, /No post since this time/);
    assert.doesNotMatch(none.html, /value="replay"/);
    assert.doesNotMatch((await owner.open(`${log}?since=`)).html, /would be made again/);
    const refused = await owner.open(`${log}?since=then`);
    assert.match(refused.html, /“Since \(UTC\)” must be an ISO 8601 time/);
    const viewer = await logIn(world.test, { role: 'viewer' });
    assert.doesNotMatch((await viewer.open(`${log}?since=${since}`)).html, /would be made again/);
  }));
