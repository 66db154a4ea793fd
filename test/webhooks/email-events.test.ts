/** The events of section 6, from an email that is sent to the post that an endpoint gets. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Report, verdictForAll } from '../../src/queue/outcome/outcome.ts';
import type { HttpRequest } from '../../src/system/fetch.ts';
import { startWork } from '../../src/system/worker.ts';
import { startTasks } from '../../src/tasks/engine.ts';
import { createFanOutWork } from '../../src/webhooks/fan-out.ts';
import { createWebhookKind } from '../../src/webhooks/posts.ts';
import { SIMULATOR } from '../emails/fixtures.ts';
import { attemptWith, deliverBy, openSpool, SENDER_DOMAIN } from '../support/spool.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Specification 6. */
const TYPES = [
  ...['email.queued', 'email.sent', 'email.delivered', 'email.bounced', 'email.complained'],
  ...['email.opened', 'email.clicked', 'email.delivery_delayed'],
];

const posts: HttpRequest[] = [];
const spool = await openSpool({
  system: {
    async fetch(request) {
      posts.push(request);
      return { status: 200, headers: {}, body: Buffer.alloc(0), truncated: false };
    },
  },
});
const { app, liveKey: key } = spool;
const works = [startWork(app, createFanOutWork(app)), startTasks(app, [createWebhookKind(app)])];
after(async () => {
  for (const work of works) await Promise.all([work.stop(0), spool.clock.advance(0)]);
  await spool.close();
});

type Event = { type: string; createdAt: string; data: Record<string, unknown> };

const endpoint = await spool.request('POST', '/v1/webhooks', {
  key,
  body: { url: 'https://receiver.example/hook', events: TYPES },
});

/** The posts about this email, as soon as there are as many as that. */
async function eventsOf(emailId: string, count: number): Promise<Event[]> {
  let found: Event[] = [];
  await waitUntil(async () => {
    await spool.clock.advance(0);
    const events = posts.map(({ body }) => JSON.parse(String(body)) as Event);
    found = events.filter(({ data }) => data['emailId'] === emailId);
    return found.length >= count;
  }, `there are ${count} posts`);
  return found;
}

/** What every payload has, and its type. */
function assertPayload({ createdAt, data }: Event, emailId: string, to: string): void {
  assert.equal(new Date(createdAt).toISOString(), createdAt);
  assert.deepEqual([data['emailId'], data['to'], data['from']], [emailId, to, `ada@${SENDER_DOMAIN}`]);
}

test('an endpoint may ask for every event of section 6, and needs no description', () => {
  const { events, description } = endpoint.body;
  assert.deepEqual([endpoint.status, events, description], [201, TYPES, null]);
});

for (const [local, last] of [
  ['delivered', 'email.delivered'],
  ['delayed', 'email.delivery_delayed'],
] as const) {
  test(`email.queued, email.sent and ${last} are posted, with emailId, to and from`, async () => {
    const to = `${local}@${SIMULATOR}`;
    const id = await spool.accept(to);
    await spool.deliverDue();
    const events = await eventsOf(id, 3);
    assert.deepEqual(events.map(({ type }) => type).sort(), ['email.queued', 'email.sent', last].sort());
    for (const event of events) assertPayload(event, id, to);
  });
}

const REPORT: Report = {
  ...{ phase: 'rcpt', mx: 'mx.rcpt.example', address: '192.0.2.1', tls: null },
  ...{ smtpCode: 550, enhancedCode: '5.1.1', text: '550 5.1.1 no such user' },
};

const CODES = [
  ['permanent', '5.1.1'],
  ['transient', '5.2.2'],
] as const;

for (const [bounce, enhancedCode] of CODES) {
  test(`email.bounced is posted of a bounce that is ${bounce}`, async () => {
    const to = `${bounce}@rcpt.example`;
    const id = await spool.accept(to);
    const [delivery] = (await spool.claim()).filter(({ message }) => message.id === id);
    assert.ok(delivery);
    const verdicts = verdictForAll(delivery, { kind: 'bounced', report: { ...REPORT, enhancedCode } });
    await deliverBy(app, delivery, async () => attemptWith(verdicts));
    const events = await eventsOf(id, 3);
    const bounced = events.find(({ type }) => type === 'email.bounced');
    assert.ok(bounced);
    assertPayload(bounced, id, to);
    assert.equal((bounced.data['bounce'] as { type: string }).type, bounce);
  });
}
