/** Receives events, and prints those whose signature is right. Give the secret of the endpoint as SIGNING_SECRET. */
import { createServer } from 'node:http';
import { PostriderError, webhooks } from '@postrider/client';

const secret = process.env.SIGNING_SECRET ?? '';

const server = createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  try {
    // The body as it arrived: one that a framework has parsed and written again has another signature.
    const body = Buffer.concat(parts);
    const event = await webhooks.verify(body, request.headers['x-service-signature'], secret);
    console.log(event.type, event.data);
    response.writeHead(204).end();
  } catch (error) {
    if (!(error instanceof PostriderError)) throw error;
    response.writeHead(400).end(error.message);
  }
});
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => console.log(server.address()));
