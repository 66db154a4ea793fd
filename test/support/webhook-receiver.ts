/** An application's end of a webhook: answers 200 on 127.0.0.1 and remembers what was posted to it. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export type ReceivedWebhook = {
  headers: IncomingHttpHeaders;
  /** Exactly what was signed. */
  body: string;
  receivedAtMs: number;
};

export type WebhookReceiver = {
  url: string;
  received: ReceivedWebhook[];
  close(): Promise<void>;
};

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
