/** Webhooks by the client of Resend, and what its function for receivers makes of the posts. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import type { Resend } from 'resend';
import { EVENT_TYPES, type EventType } from '../../../src/events/store.ts';
import type { HttpRequest } from '../../../src/system/fetch.ts';
import { sampleData } from '../../../src/webhooks/sample.ts';
import { ended, shareWorld, until, type WebhookWorld } from '../../webhooks/webhook-world.ts';
import { clientsOf, dataOf, refusalOf } from './client.ts';

const inWorld = shareWorld();
let clients: ReturnType<typeof clientsOf> | undefined;
async function clientIn({ test }: WebhookWorld) {
  clients ??= clientsOf(test);
  return (await clients)();
}

const ENDPOINT = 'https://receiver.example/resend';

/** Verifies a post as a receiver does. The client compares its time with the clock of the machine. */
function verify(resend: Resend, webhookSecret: string, { headers = {}, body }: HttpRequest, nowMs: number) {
  mock.timers.enable({ apis: ['Date'], now: nowMs });
  try {
    const field = (name: string) => String(headers[`svix-${name}`]);
    const signed = { id: field('id'), timestamp: field('timestamp'), signature: field('signature') };
    return resend.webhooks.verify({ payload: String(body), headers: signed, webhookSecret }) as {
      type: string;
      created_at: string;
      // biome-ignore lint/suspicious/noExplicitAny: the test checks the shape of the data.
      data: any;
    };
  } finally {
    mock.timers.reset();
  }
}

test('an endpoint is created, shown, listed, changed, given another secret, and removed', () =>
  inWorld(async (world) => {
    const resend = await clientIn(world);
    const events = ['email.bounced', 'contact.updated', 'domain.updated'] as const;
    const created = await dataOf(resend.webhooks.create({ endpoint: ENDPOINT, events: [...events] }));
    const { id } = created;
    assert.deepEqual([created.object, created.signing_secret.slice(0, 6)], ['webhook', 'whsec_']);
    const row = (await world.test.request('GET', `/v1/webhooks/${id}`)).body;
    assert.deepEqual(row.events, [
      'email.bounced',
      'contact.updated',
      'contact.unsubscribed',
      'domain.verified',
      'domain.failed',
    ]);
    assert.equal(row.format, 'resend');
    const shown = await dataOf(resend.webhooks.get(id));
    const listed = {
      id,
      created_at: shown.created_at,
      status: 'enabled',
      endpoint: ENDPOINT,
      events: [...events],
    };
    assert.deepEqual(shown, { object: 'webhook', ...listed });
    assert.deepEqual(await dataOf(resend.webhooks.list()), {
      object: 'list',
      has_more: false,
      data: [listed],
    });

    const change = { status: 'disabled', events: ['email.sent'] } as const;
    const changed = resend.webhooks.update(id, { status: change.status, events: [...change.events] });
    assert.deepEqual(await dataOf(changed), { object: 'webhook', id });
    const { status, events: left } = await dataOf(resend.webhooks.get(id));
    assert.deepEqual({ status, events: left }, change);
    const rotated = await dataOf(resend.webhooks.rotateSigningSecret(id));
    assert.notEqual(rotated.signing_secret, created.signing_secret);
    assert.deepEqual(await dataOf(resend.webhooks.remove(id)), { object: 'webhook', id, deleted: true });
    assert.match(await refusalOf(resend.webhooks.get(id)), /^404 not_found: Webhook endpoint not found$/);

    for (const [request, message] of [
      [
        { endpoint: ENDPOINT, events: ['email.scheduled'] },
        /`events` has an event that this server does not post; it posts email.queued, /,
      ],
      [{ endpoint: ENDPOINT }, /^422 missing_required_field: `events` is required$/],
      [
        { endpoint: 'ftp://x', events: ['email.sent'] },
        /^422 validation_error: `endpoint` must be an absolute URL/,
      ],
    ] as const)
      assert.match(await refusalOf(resend.webhooks.create(request as never)), message);
  }));

test('posts have the shape of Resend, and the function of its client for receivers accepts them', () =>
  inWorld(async (world) => {
    const resend = await clientIn(world);
    const { id, signing_secret: secret } = await dataOf(
      resend.webhooks.create({ endpoint: ENDPOINT, events: ['email.sent'] }),
    );
    await world.setEndpoint({ events: JSON.stringify(EVENT_TYPES) });
    for (const type of EVENT_TYPES) await world.record({ type, data: sampleData(type, world.clock.now()) });
    world.start();
    await ended(world);
    assert.equal(world.posts.length, EVENT_TYPES.length);
    const posted = new Map<string, ReturnType<typeof verify>>();
    for (const post of world.posts) {
      const event = verify(resend, secret, post, world.clock.now());
      assert.equal(post.headers?.['svix-id'], post.headers?.['webhook-id']);
      assert.deepEqual(Object.keys(event), ['type', 'created_at', 'data']);
      posted.set(String(post.headers?.['x-service-event']), event);
    }
    const at = (type: EventType) => posted.get(type) ?? assert.fail(`${type} was not posted`);
    const { created_at, ...bounced } = at('email.bounced').data;
    assert.equal(at('email.bounced').type, 'email.bounced');
    assert.ok(Date.parse(created_at) < world.clock.now());
    assert.deepEqual(bounced, {
      ...{
        email_id: 'em_00000000000000000000000000',
        message_id: '<sample@example.com>',
        from: 'sender@example.com',
      },
      ...{ to: ['recipient@example.org'], subject: 'A sample', tags: { sample: 'true' } },
      bounce: {
        message: '550 5.1.1 No such mailbox The mailbox does not exist. Remove the address from your lists.',
        subType: 'NoEmail',
        type: 'Permanent',
      },
    });
    assert.equal(at('email.clicked').data.click.link, 'https://example.com/');
    assert.deepEqual(at('email.opened').data.open.ipAddress, '192.0.2.1');
    assert.equal(at('email.suppressed').data.suppressed.type, 'OnAccountSuppressionList');
    assert.deepEqual(at('email.received').data.received_for, ['support@example.com']);
    assert.deepEqual(
      [at('contact.unsubscribed').type, at('contact.unsubscribed').data.unsubscribed],
      ['contact.updated', true],
    );
    assert.deepEqual(
      [at('domain.failed').type, at('domain.failed').data.status],
      ['domain.updated', 'failed'],
    );
    assert.equal(at('suppression.added').data.origin, 'manual');
    assert.equal(at('broadcast.sent').data.status, 'sent');

    const forged = { ...(world.posts[0] as HttpRequest), body: '{}' };
    assert.throws(() => verify(resend, secret, forged, world.clock.now()));
    const delivered = await dataOf(resend.webhooks.events.list({ webhookId: id, limit: 1 }));
    const [last] = delivered.data;
    const post = world.posts.find(({ headers }) => headers?.['x-service-delivery'] === last?.id);
    assert.deepEqual([delivered.has_more, last?.status], [true, 'success']);
    const event = await dataOf(resend.webhooks.events.get({ webhookId: id, eventId: last?.id ?? '' }));
    assert.deepEqual(event.payload, JSON.parse(String(post?.body)));
    const replayed = resend.webhooks.events.replay({ webhookId: id, eventId: event.id });
    assert.deepEqual(await dataOf(replayed), { object: 'webhook_event', id: event.id });
    await until(world, 'the event is posted again', () => world.posts.length === EVENT_TYPES.length + 1);
    assert.match(
      await refusalOf(resend.webhooks.events.attempts.list({ webhookId: id, eventId: event.id })),
      /^404 not_found: The log of posts has the last attempt of each/,
    );
  }));

test('endpoints that are made under /v1 keep our shape unless they ask for the other, and none changes it', () =>
  inWorld(async (world) => {
    const { id } = await world.createEndpoint();
    await world.record();
    world.start();
    await ended(world);
    assert.deepEqual(Object.keys(JSON.parse(String(world.posts[0]?.body))), [
      'id',
      'type',
      'createdAt',
      'mode',
      'data',
    ]);
    assert.equal(world.posts[0]?.headers?.['svix-id'], undefined);
    const body = { url: ENDPOINT, events: ['email.sent'], format: 'resend' };
    const other = await world.test.request('POST', '/v1/webhooks', { body });
    assert.equal(other.body.format, 'resend');
    const tested = await world.test.request('POST', `/v1/webhooks/${other.body.id}/test`, {});
    assert.equal(tested.body.delivered, true);
    const sample = JSON.parse(String(world.posts.at(-1)?.body));
    assert.deepEqual([sample.type, sample.test], ['email.delivered', true]);
    const changed = await world.test.request('PATCH', `/v1/webhooks/${id}`, { body: { format: 'resend' } });
    assert.equal(changed.status, 400);
  }));
