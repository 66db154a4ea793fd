/** A receiver of webhooks on 127.0.0.1. It answers every post with 200 and records it. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export type ReceivedWebhook = {
  headers: IncomingHttpHeaders;
  /** The body as it was received and signed. */
  body: string;
  receivedAtMs: number;
};

export type WebhookReceiver = {
  url: string;
  received: ReceivedWebhook[];
  close(): Promise<void>;
};

/** Starts a receiver on a free port. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.once('error', () => {});
    request.once('end', () => {
      received.push({
        headers: request.headers,
        body: Buffer.concat(parts).toString(),
        receivedAtMs: Date.now(),
      });
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    received,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
