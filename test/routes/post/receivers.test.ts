/** Real receivers on 127.0.0.1, through the daemon's own HTTP client. */
import assert from 'node:assert/strict';
import { createServer, type RequestListener, type Server } from 'node:http';
import { test } from 'node:test';
import { createTargetGuard } from '../../../src/system/blocklist.ts';
import { createFetch } from '../../../src/system/fetch.ts';
import { verifySignature } from '../../../src/webhooks/posting/signature.ts';
import { LOOPBACK_GUARD, listenOnLoopback } from '../../support/loopback.ts';
import { startWebhookReceiver } from '../../support/webhook-receiver.ts';
import { zoneDns } from '../../support/zone-dns.ts';
import { sharePostWorld } from './post-world.ts';

const inWorld = sharePostWorld();

const TEXT = 'From: Ann <ann@sender.example>\r\nSubject: Hello\r\n\r\nHi\r\n';
/** Stands for the 15 seconds of a post. */
const TIMEOUT_MS = 300;
const DNS = zoneDns('receiver.test. A 127.0.0.1');

test('a receiver gets the bytes that were signed', () =>
  inWorld(async (world) => {
    const receiver = await startWebhookReceiver();
    try {
      world.useFetch(createFetch(LOOPBACK_GUARD, DNS));
      const route = await world.addRoute({ destination: receiver.url });
      await world.deliver(TEXT, [route]);
      world.start();
      await world.until('it has arrived', () => receiver.received.length === 1);
      const [post] = receiver.received;
      const header = String(post?.headers['x-service-signature']);
      const nowSeconds = world.clock.now() / 1_000;
      assert.ok(verifySignature({ secret: route.secret, header, body: post?.body ?? '', nowSeconds }));
      assert.equal(JSON.parse(post?.body ?? '').text, 'Hi\n');
      await world.settled(1);
    } finally {
      await receiver.close();
    }
  }));

/** Returns the error of the first post to a server, while another route gets the same message. */
async function errorOf(hostile: Server): Promise<string | null> {
  const port = await listenOnLoopback(hostile);
  const receiver = await startWebhookReceiver();
  let error: string | null = null;
  try {
    await inWorld(async (world) => {
      const fetch = createFetch(LOOPBACK_GUARD, DNS);
      world.useFetch((request) => fetch({ ...request, timeoutMs: TIMEOUT_MS }));
      const bad = await world.addRoute({ destination: `http://receiver.test:${port}/` });
      const good = await world.addRoute({ destination: receiver.url });
      await world.deliver(TEXT, [bad, good]);
      world.start();
      await world.until('both are posted', async () => {
        const [first, second] = await world.tasks();
        error = first?.error ?? null;
        return second?.state === 'done' && first?.runId === null && first.attempts === 1;
      });
    });
    return error;
  } finally {
    await receiver.close();
    hostile.close();
    hostile.closeAllConnections();
  }
}

const answering = (listener: RequestListener) => createServer(listener);

for (const [what, server, error] of [
  ['never answers', answering(() => {}), /timeout/i],
  [
    'redirects to itself',
    answering((_request, response) => void response.writeHead(307, { location: '/again' }).end()),
    /^The receiver answered 307$/,
  ],
  ['resets the connection', answering((request) => void request.socket.resetAndDestroy()), /./],
] as const) {
  test(`a receiver that ${what} gets its message later, and others get it now`, async () => {
    assert.match((await errorOf(server)) ?? '', error);
  });
}

test('of a huge answer 4 KB are kept, and the post has succeeded', () =>
  inWorld(async (world) => {
    const server = answering((_request, response) => void response.end('y'.repeat(1_000_000)));
    const port = await listenOnLoopback(server);
    try {
      world.useFetch(createFetch(LOOPBACK_GUARD, DNS));
      await world.deliver(TEXT, [await world.addRoute({ destination: `http://receiver.test:${port}/` })]);
      world.start();
      const { state, responseBody } = await world.settled(1);
      assert.deepEqual([state, responseBody], ['done', 'y'.repeat(4_096)]);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  }));

test('a destination with an internal address is never connected to', () =>
  inWorld(async (world) => {
    world.useFetch(
      createFetch(createTargetGuard({ allow: [], own: [] }), zoneDns('inside.test. A 10.0.0.1')),
    );
    await world.deliver(TEXT, [await world.addRoute({ destination: 'https://inside.test/' })]);
    world.start();
    const { state, error } = await world.settled(1);
    assert.deepEqual([state, error], ['pending', 'inside.test has no public address']);
  }));
