/** A server whose answers a test writes, and which counts connections. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type ClientOptions, Postrider } from '../src/index.ts';

export type Answer = (request: IncomingMessage, response: ServerResponse, body: Buffer) => unknown;

export const KEY = 'svc_dev_0123456789secret';

export const isDeno = 'Deno' in globalThis;

export async function serve(answer: Answer, port = 0) {
  let connections = 0;
  const open = new Set<Socket>();
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    await answer(request, response, Buffer.concat(parts));
  });
  server.on('connection', (socket: Socket) => {
    connections += 1;
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: used } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${used}`;
  return {
    baseUrl,
    port: used,
    connections: () => connections,
    openConnections: () => open.size,
    client: (options: ClientOptions = {}) => new Postrider({ key: KEY, baseUrl, ...options }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

export const EMAIL = {
  from: 'a@x.test',
  to: ['b@y.test'],
  subject: 'Hi',
  text: 'Hi',
  type: 'transactional',
} as const;
