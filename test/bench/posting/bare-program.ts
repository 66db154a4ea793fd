/**
 * The least program that posts: one body, signed anew for each post, over kept connections of undici. It runs until it is stopped,
 * so that its processor time can be read after its last post.
 */
import { Agent } from 'undici';
import { signingKey, signPayload, signStandard } from '../../../src/webhooks/posting/signature.ts';

export type BarePostsInput = { url: string; body: string; connections: number; posts: number };

const KEYS = [signingKey(`whsec_${Buffer.alloc(32).toString('base64')}`)];

const { url, body, connections, posts } = JSON.parse(process.argv[2] ?? '') as BarePostsInput;
const agent = new Agent({ connections });
let begun = 0;

await Promise.all(Array.from({ length: connections }, postInTurn));
setInterval(() => {}, 60_000);

async function postInTurn(): Promise<void> {
  while (begun < posts) {
    begun += 1;
    const id = `evt_${begun}`;
    const timestampSeconds = Math.floor(Date.now() / 1_000);
    const answer = await agent.request({
      origin: url,
      path: '/',
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-service-signature': signPayload(KEYS, timestampSeconds, body),
        'webhook-id': id,
        'webhook-timestamp': String(timestampSeconds),
        'webhook-signature': signStandard(KEYS, { id, timestampSeconds, body }),
      },
      body,
    });
    await answer.body.dump();
  }
}
