/** Tests the real thread that posts webhooks, in a daemon whose main thread cannot connect to anything. */
import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import { after, type TestContext, test } from 'node:test';
import { createApiServer } from '../../src/api.ts';
import { createLog } from '../../src/system/log.ts';
import { createPart } from '../../src/thread-app.ts';
import { WEBHOOK_PART } from '../../src/webhooks/part.ts';
import { verifySignature } from '../../src/webhooks/posting/signature.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { openTestApp } from '../support/test-app.ts';
import { waitUntil } from '../support/wait-until.ts';

const DRAIN_MS = 30_000;
/** Minimum time between two messages with wake-ups (system/thread/wakeups.ts). */
const WAKEUP_MS = 10;
/** Time from the first death of a thread to its next start (system/thread.ts). */
const RESTART_MS = 1_000;
const SIGNATURE = 'x-service-signature';

// The thread has the real time, so the clock of the main thread begins there.
const clock = createFakeClock(Date.now());
const logged: { msg: string; [field: string]: unknown }[] = [];

const opened = await openTestApp({
  system: { clock, log: createLog('info', { write: (line) => void logged.push(JSON.parse(line)) }) },
  env: {
    POSTRIDER_WEBHOOKS_ALLOW_HTTP: 'true',
    POSTRIDER_OUTBOUND_ALLOW_TARGETS: '127.0.0.0/8',
    POSTRIDER_LOG_LEVEL: 'info',
  },
});
after(() => opened.close());

type Received = { headers: Record<string, string>; body: string; answer(status: number): void };

async function startReceiver(context: TestContext) {
  const received: Received[] = [];
  const server = createServer(async (request, response: ServerResponse) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    received.push({
      headers: request.headers as Record<string, string>,
      body: Buffer.concat(parts).toString(),
      answer: (status) => void response.writeHead(status).end(),
    });
  });
  const port = await listenOnLoopback(server);
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${port}/`, received };
}

/** Waits for posts. Wake-ups that soon follow another one reach the thread when the clock of the main thread goes on. */
function untilPosted(received: readonly Received[], count: number): Promise<void> {
  return waitUntil(async () => {
    await clock.advance(WAKEUP_MS);
    return received.length === count;
  }, `${count} posts have arrived`);
}

/**
 * Lets the thread end because it reports nothing for a minute on the clock of the main thread, while it lives in real time itself. The
 * clock stands still from its end: the next run would be ended too, if that much time passed before it has loaded its code.
 */
async function missReports(thread: { isRunning: boolean }): Promise<void> {
  for (let passedMs = 0; passedMs < 70_000 && thread.isRunning; passedMs += RESTART_MS / 2)
    await clock.advance(RESTART_MS / 2);
  await waitUntil(() => !thread.isRunning, 'the thread has ended');
}

/** The thread, an API that uses it, and an endpoint whose receiver answers when a test tells it to. */
async function openWorld(context: TestContext) {
  const { app } = opened;
  const thread = createPart(app, WEBHOOK_PART, { inThreads: true });
  context.after(() => thread.stop(0));
  await thread.start();
  const server = await createApiServer(app, {
    webhookCalls: thread.calls,
    doThreadsRun: () => thread.isRunning,
  });
  context.after(() => server.close());
  const { url, received } = await startReceiver(context);
  const endpoint = await opened.request('POST', '/v1/webhooks', {
    body: { url, events: ['suppression.added'] },
  });
  assert.equal(endpoint.status, 201);
  const { id, secret } = endpoint.body as { id: string; secret: string };
  context.after(() => opened.request('DELETE', `/v1/webhooks/${id}`));
  return {
    ...{ thread, received, id, secret },
    /** Causes an event that is posted to the endpoint. */
    async cause(email: string) {
      const { status } = await opened.request('POST', '/v1/suppressions', { body: { email } });
      assert.equal(status, 201);
    },
    sendTest: () =>
      server.inject({
        method: 'POST',
        url: `/v1/webhooks/${id}/test`,
        headers: { authorization: `Bearer ${opened.testKey}` },
      }),
    health: async () => (await server.inject({ url: '/healthz' })).json(),
    delivery: () =>
      app.db.read
        .selectFrom('webhookDeliveries')
        .selectAll()
        .where('endpointId', '=', id as `wh_${string}`)
        .orderBy('id', 'desc')
        .executeTakeFirst(),
  };
}

test('events and tests are posted from the thread, signed with the sealed secret, and counted', async (t) => {
  const { received, secret, cause, sendTest, delivery, id } = await openWorld(t);
  await cause('posted@example.org');
  await untilPosted(received, 1);
  const [post] = received;
  assert.ok(post);
  const nowSeconds = Math.floor(Date.now() / 1_000);
  assert.ok(verifySignature({ secret, header: post.headers[SIGNATURE] ?? '', body: post.body, nowSeconds }));
  post.answer(204);
  await waitUntil(async () => (await delivery())?.state === 'delivered', 'the post is settled');

  const testing = sendTest();
  await untilPosted(received, 2);
  received[1]?.answer(202);
  assert.deepEqual([(await testing).statusCode, (await testing).json().responseStatus], [200, 202]);

  await waitUntil(async () => {
    const { text } = await opened.app.metrics.show();
    return text.includes('postrider_webhook_posts_total{outcome="delivered"} 1');
  }, 'the posts are counted');

  await cause('gone@example.org');
  await untilPosted(received, 3);
  received[2]?.answer(410);
  const message = 'webhook endpoint disabled: its receiver answered 410';
  await waitUntil(() => logged.some(({ msg }) => msg === message), 'the log says so');
  assert.equal(logged.find(({ msg }) => msg === message)?.['endpointId'], id);
});

test('the death of the thread delays posts and loses none, and all other work continues', async (t) => {
  const { thread, received, cause, sendTest, health, delivery } = await openWorld(t);
  await cause('held@example.org');
  await untilPosted(received, 1);
  const testing = sendTest();
  await untilPosted(received, 2);

  await missReports(thread);
  assert.equal((await testing).statusCode, 503);
  assert.ok(Number((await testing).headers['retry-after']) >= 1);
  assert.equal((await sendTest()).statusCode, 503);
  assert.deepEqual((await health()).warnings, ['thread_restarting']);
  await cause('meanwhile@example.org');

  await clock.advance(RESTART_MS);
  await waitUntil(() => thread.isRunning, 'the thread runs');
  // No lease is waited for: the clock of the main thread stands still, and a lease takes a minute of real time.
  await untilPosted(received, 4);
  const posted = received.slice(2).map(({ body }) => JSON.parse(body).data.email);
  assert.deepEqual(posted.toSorted(), ['held@example.org', 'meanwhile@example.org']);
  for (const { answer } of received.slice(2)) answer(200);
  const pending = () =>
    opened.app.db.read.selectFrom('webhookDeliveries').selectAll().where('state', '=', 'pending').execute();
  await waitUntil(async () => (await pending()).length === 0, 'both are delivered');
  const interrupted = logged.find(({ msg }) => msg.startsWith('tasks were interrupted'));
  assert.equal(interrupted?.['count'], 1);
  assert.equal((await delivery())?.state, 'delivered');
  assert.deepEqual((await health()).warnings, undefined);
});

test('a thread that stops settles the posts under way before it ends', async (t) => {
  const { thread, received, cause, delivery } = await openWorld(t);
  await cause('draining@example.org');
  await untilPosted(received, 1);
  const stopped = thread.stop(DRAIN_MS);
  await cause('later@example.org');
  received[0]?.answer(200);
  await stopped;
  assert.equal(received.length, 1);
  assert.deepEqual([(await delivery())?.state, (await delivery())?.attempts], ['delivered', 1]);
});
