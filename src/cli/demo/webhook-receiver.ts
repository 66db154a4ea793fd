/** The webhook receiver of the demo. It does what a customer's program does, including the check of the signature. */
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

export type WebhookReceiver = {
  url: string;
  events: Arrivals<ReceivedEvent>;
  /** Sets the secret of the endpoint. Posts that arrive earlier count as not correctly signed. */
  expectSecret(secret: string): void;
  close(): Promise<void>;
};

/** Starts the receiver on a free port of 127.0.0.1. */
export async function startWebhookReceiver(signatureHeader: string): Promise<WebhookReceiver> {
  const events = createArrivals<ReceivedEvent>();
  let secret = '';
  const server = createServer(async (request, response) => {
    const body = await readBody(request);
    const signature = String(request.headers[signatureHeader.toLowerCase()] ?? '');
    const nowSeconds = Math.floor(realClock.now() / 1000);
    const signatureValid = verifySignature({ secret, header: signature, body, nowSeconds });
    events.add({ ...readEvent(body), signature, signatureValid, body });
    response.writeHead(204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the webhook receiver has no port');
  return {
    url: `http://127.0.0.1:${address.port}/events`,
    events,
    expectSecret: (known) => {
      secret = known;
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
