/** An application that receives webhooks: keeps each request as it came over the wire. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { until } from './until.ts';

export type WebhookRequest = { headers: IncomingHttpHeaders; rawBody: string };

export type WebhookEvent = {
  id: string;
  type: string;
  createdAt: string;
  data: { emailId: string; to: string; from: string } & Record<string, unknown>;
};

export type WebhookReceiver = {
  url: string;
  requests: WebhookRequest[];
  /** Statuses of the next answers, in order; 200 when there is none left. */
  nextStatuses: number[];
  /** The first request for this event of this email. */
  requestFor(emailId: string, type: string): Promise<WebhookRequest>;
  close(): Promise<void>;
};

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const requests: WebhookRequest[] = [];
  const nextStatuses: number[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      requests.push({ headers: request.headers, rawBody: Buffer.concat(parts).toString('utf8') });
      response.writeHead(nextStatuses.shift() ?? 200).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}/hook`,
    requests,
    nextStatuses,
    requestFor: (emailId, type) =>
      until(`webhook ${type}`, async () =>
        requests.find((request) => {
          const event = eventOf(request);
          return event.type === type && event.data.emailId === emailId;
        }),
      ),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

export function eventOf(request: WebhookRequest): WebhookEvent {
  return JSON.parse(request.rawBody) as WebhookEvent;
}
