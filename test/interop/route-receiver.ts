/** A receiver of the posts of inbound routes: an HTTPS server on 127.0.0.1 that answers every post with 200 and records it. */
import type { ReceivedWebhook } from '../support/webhook-receiver.ts';
import { startTlsServer, type TlsServer } from './tls-proxy.ts';
import { until } from './until.ts';

/** The fields of a post that these tests look at (specification 4.11, and docs/inbound.md). */
export type RoutePost = {
  from: string;
  to: string[];
  subject: string;
  text: string;
  attachments: { filename: string; contentType: string; content: string }[];
  envelope: { from: string; to: string[]; helo: string };
  auth: { spf: string; dkim: string; dmarc: string; dkimDomains: string[] };
  rawHeaders: { name: string; value: string }[];
};

export type RouteReceiver = TlsServer & {
  received: ReceivedWebhook[];
  /** Returns the first post whose subject is this one, once it has come. */
  waitFor(subject: string): Promise<{ webhook: ReceivedWebhook; post: RoutePost }>;
};

export async function startRouteReceiver(hostname: string): Promise<RouteReceiver> {
  const received: ReceivedWebhook[] = [];
  const server = await startTlsServer(hostname, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.once('end', () => {
      const body = Buffer.concat(parts).toString();
      received.push({ headers: request.headers, body, receivedAtMs: Date.now() });
      response.end();
    });
  });
  return {
    ...server,
    received,
    waitFor: (subject) =>
      until(`a post with the subject ${subject}`, async () => {
        for (const webhook of received) {
          const post = JSON.parse(webhook.body) as RoutePost;
          if (post.subject === subject) return { webhook, post };
        }
        return undefined;
      }),
  };
}
