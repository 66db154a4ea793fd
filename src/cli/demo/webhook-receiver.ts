/**
 * The program of the customer in the demo: it receives webhooks, and the mail of an inbound route. Both are signed, and it
 * checks the signatures.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { realClock } from '../../system/clock.ts';
import { verifySignature } from '../../webhooks/posting/signature.ts';
import { type Arrivals, createArrivals } from './arrivals.ts';

export type ReceivedEvent = {
  type: string;
  emailId: string;
  signature: string;
  signatureValid: boolean;
  body: string;
};

/** A received message as its route got it (specification 4.11, and docs/inbound.md). */
export type RoutePost = {
  from: string;
  subject: string;
  replyText: string;
  emailId: string | null;
  auth: { spf: string; dkim: string; dmarc: string };
  signatureValid: boolean;
};

export type WebhookReceiver = {
  url: string;
  routeUrl: string;
  events: Arrivals<ReceivedEvent>;
  posts: Arrivals<RoutePost>;
  /** Sets the secret of the endpoint. Posts that arrive earlier count as not correctly signed. */
  expectSecret(secret: string): void;
  /** Sets the secret of the route. */
  expectRouteSecret(secret: string): void;
  close(): Promise<void>;
};

const ROUTE_PATH = '/inbound';

/** Starts the receiver on a free port of 127.0.0.1. */
export async function startWebhookReceiver(signatureHeader: string): Promise<WebhookReceiver> {
  const events = createArrivals<ReceivedEvent>();
  const posts = createArrivals<RoutePost>();
  const secrets = { events: '', route: '' };
  const server = createServer(async (request, response) => {
    const body = await readBody(request);
    const signature = String(request.headers[signatureHeader.toLowerCase()] ?? '');
    const nowSeconds = Math.floor(realClock.now() / 1000);
    const kind = request.url === ROUTE_PATH ? 'route' : 'events';
    const given = { secret: secrets[kind], header: signature, body, nowSeconds };
    const signatureValid = verifySignature(given);
    if (kind === 'events') events.add({ ...readEvent(body), signature, signatureValid, body });
    else posts.add({ ...(JSON.parse(body) as Omit<RoutePost, 'signatureValid'>), signatureValid });
    response.writeHead(204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the webhook receiver has no port');
  return {
    url: `http://127.0.0.1:${address.port}/events`,
    routeUrl: `http://127.0.0.1:${address.port}${ROUTE_PATH}`,
    events,
    posts,
    expectSecret: (known) => {
      secrets.events = known;
    },
    expectRouteSecret: (known) => {
      secrets.route = known;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}

/** Reads the fields of an event: `{ type, createdAt, data: { emailId, to, from } }` (specification 6). */
function readEvent(body: string): { type: string; emailId: string } {
  const event = JSON.parse(body) as { type: string; data: { emailId: string } };
  return { type: event.type, emailId: event.data.emailId };
}
