/** One TCP connection to a listening server, on which requests and answers are bytes. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

export type Connection = {
  socket: Socket;
  write(bytes: string | Uint8Array): void;
  /** What came since the last answer, once it is a whole one (of a body with its length). */
  answer(): Promise<{ status: number; head: string; body: string }>;
  closed: Promise<void>;
};

export async function listen(server: FastifyInstance): Promise<number> {
  await server.listen({ host: '127.0.0.1', port: 0 });
  const address = server.server.address();
  return typeof address === 'object' && address ? address.port : 0;
}

export async function open(port: number): Promise<Connection> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => {});
  let text = '';
  let arrived = (): void => {};
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    arrived();
  });
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      resolve();
      arrived();
    });
  });
  return {
    socket,
    write: (bytes) => void socket.write(bytes),
    async answer() {
      for (;;) {
        const one = split(text);
        if (one) {
          text = one.rest;
          return one;
        }
        if (socket.destroyed) throw new Error(`the connection closed after ${JSON.stringify(text)}`);
        await new Promise<void>((resolve) => {
          arrived = resolve;
        });
      }
    },
    closed,
  };
}

function split(text: string) {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = text.slice(0, end);
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
  const body = text.slice(end + 4, end + 4 + length);
  if (body.length < length) return undefined;
  return { status: Number(head.split(' ')[1]), head, body, rest: text.slice(end + 4 + length) };
}

export function post(path: string, body: string, headers = ''): string {
  return `${head(path, body.length, headers)}${body}`;
}

export function head(path: string, length: number, headers = ''): string {
  return `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n${headers}\r\n`;
}
