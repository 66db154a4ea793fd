/** One connection to a listening server, on which requests and answers are bytes: of TCP, or with TLS once `useTls` was called. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { listenHttps } from '../../src/http/transport/listen.ts';
import { createCertificateStore } from '../../src/system/certificates.ts';
import { realClock } from '../../src/system/clock.ts';
import { createMetrics } from '../../src/system/metrics.ts';
import { EC_PAIR } from '../system/certificate-pairs.ts';

export type Connection = {
  socket: Socket;
  write(bytes: string | Uint8Array): void;
  /** Resets the connection of TCP. */
  reset(): void;
  /** What came since the last answer, once it is a whole one (of a body with its length). */
  answer(): Promise<{ status: number; head: string; body: string }>;
  closed: Promise<void>;
};

/** Host that the requests of the tests name. */
const HOST = 'a';
let isTls = false;

/** Makes all servers of this process that listen from now on listen with TLS, and all connections use it. */
export function useTls(): void {
  isTls = true;
}

export async function listen(server: FastifyInstance): Promise<number> {
  await server.listen({ host: '127.0.0.1', port: 0 });
  if (isTls) return listenWithTls(server);
  const address = server.server.address();
  return typeof address === 'object' && address ? address.port : 0;
}

async function listenWithTls(server: FastifyInstance): Promise<number> {
  const listener = await listenHttps({ clock: realClock, metrics: createMetrics(realClock) }, server, {
    section: 'https',
    at: { address: '127.0.0.1', port: 0 },
    tls: { certificates: createCertificateStore([EC_PAIR]) },
    findHost: async (serverName) => serverName || HOST,
  });
  server.server.once('close', () => void listener.close());
  return Number(new URL(listener.address).port);
}

/** Opens a connection for a test that reads by itself. */
export async function connectTo(port: number): Promise<Socket> {
  return (await connectBoth(port)).socket;
}

/** Returns the socket that carries HTTP, and the one of TCP below it, which is the same without TLS. */
async function connectBoth(port: number): Promise<{ socket: Socket; below: Socket }> {
  const below = connect(port, '127.0.0.1');
  await once(below, 'connect');
  if (!isTls) return { socket: below, below };
  const socket = connectTls({ socket: below, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  return { socket, below };
}

export async function open(port: number): Promise<Connection> {
  const { socket, below } = await connectBoth(port);
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
    reset: () => void below.resetAndDestroy(),
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
