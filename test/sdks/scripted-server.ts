/**
 * A server of the API that answers as a case of sdk/contract/wire.json says, also wrongly. Each case has a port of its own. The suites of the
 * client libraries make cases by HTTP and ask what has arrived.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { freePort, listenOnLoopback } from '../support/loopback.ts';
import type { Answer, Fault, Misbehaviour, SeenRequest, WireCase } from './cases.ts';
import { compareRequests } from './compare.ts';

const DRIP_MS = 100;
/** Size of the JSON that the answer `gzip-bomb` becomes. */
const BOMB_BYTES = 256 * 1024 * 1024;
/** The answer `huge` ends here, so that a client that reads everything fails by its test and not by memory. */
const HUGE_BYTES = 512 * 1024 * 1024;
const CHUNK = Buffer.alloc(64 * 1024, 'a');
const CUT_LENGTH = 1_000;

export type ScriptedServer = AsyncDisposable & { address: string };

/** Starts the server that makes cases: `POST /cases`, `GET /cases/ID`. */
export async function startScriptedServer(): Promise<ScriptedServer> {
  const running = new Map<string, Running>();
  const control = createServer((request, response) => {
    handle(running, request).then(
      (answer) => send(response, 200, answer),
      (error: unknown) => send(response, 400, { error: String(error) }),
    );
  });
  const port = await listenOnLoopback(control);
  return {
    address: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      for (const { server } of running.values()) stop(server);
      stop(control);
    },
  };
}

type Running = { server: Server; wire: WireCase; seen: SeenRequest[]; connections: number };

async function handle(running: Map<string, Running>, request: IncomingMessage): Promise<unknown> {
  const [, folder, id] = (request.url ?? '').split('/');
  if (folder !== 'cases') throw new Error(`There is nothing at ${request.url}.`);
  if (request.method === 'POST' && id === undefined) {
    const made = await startCase(JSON.parse((await readAll(request)).toString()) as WireCase);
    const madeId = randomUUID();
    running.set(madeId, made.running);
    return { id: madeId, baseUrl: made.address };
  }
  const one = running.get(id ?? '');
  if (!one) throw new Error(`There is no case ${id}.`);
  running.delete(id ?? '');
  stop(one.server);
  const problems = compareRequests(one.wire.requests, one.seen);
  return { requests: one.seen, connections: one.connections, problems };
}

async function startCase(wire: WireCase): Promise<{ running: Running; address: string }> {
  const server = createServer();
  const running: Running = { server, wire, seen: [], connections: 0 };
  const numbers = new WeakMap<Socket, number>();
  server.on('connection', (socket: Socket) => {
    numbers.set(socket, running.connections++);
    socket.on('error', () => {});
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    void serve(running, { request, response, connection: numbers.get(request.socket) ?? -1 });
  });
  if (wire.opensAfterMs === undefined) {
    const port = await listenOnLoopback(server);
    return { running, address: `http://127.0.0.1:${port}` };
  }
  const port = await freePort();
  void delay(wire.opensAfterMs).then(() => server.listen(port, '127.0.0.1'));
  return { running, address: `http://127.0.0.1:${port}` };
}

type Served = { request: IncomingMessage; response: ServerResponse; connection: number };

async function serve(running: Running, { request, response, connection }: Served): Promise<void> {
  response.on('error', () => {});
  const at = performance.now();
  const url = new URL(request.url ?? '/', 'http://server.test');
  // The next request may arrive while this body is read, and its place is that of its head.
  const place = running.seen.length;
  const seen: SeenRequest = {
    method: request.method ?? '',
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    ),
    body: '',
    at,
    connection,
  };
  running.seen.push(seen);
  try {
    seen.body = (await readAll(request)).toString();
  } catch {
    // The client went away within its body, which a case may expect.
    return;
  }
  const { answers } = running.wire;
  const answer = answers[Math.min(place, answers.length - 1)];
  if (!answer) return send(response, 500, { problem: 'The case has no answer.' });
  if ('fault' in answer) await FAULTS[answer.fault](response, answer.status);
  else reply(response, answer);
}

function reply(response: ServerResponse, answer: Exclude<Answer, Misbehaviour>): void {
  const { status, headers = {}, body } = answer;
  const isText = typeof body === 'string' || body === undefined;
  const shown = isText ? {} : { 'content-type': 'application/json' };
  response.writeHead(status, { ...shown, ...headers });
  response.end(isText ? body : JSON.stringify(body));
}

const FAULTS: Record<Fault, (response: ServerResponse, status?: number) => void | Promise<void>> = {
  close: (response) => void response.socket?.destroy(),
  'cut-head': (response) => writeAndClose(response, 'HTTP/1.1 200 OK\r\nContent-Ty'),
  'cut-body': (response, status = 200) =>
    writeAndClose(
      response,
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\nContent-Length: ${CUT_LENGTH}\r\n\r\n{"id":"em_`,
    ),
  hang: () => {},
  'hang-body': (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': CUT_LENGTH });
    response.write('{"id":"em_');
  },
  drip,
  huge: (response) => writeMuch(response, {}),
  'gzip-bomb'(response) {
    bomb ??= gzipSync(
      Buffer.concat([Buffer.from('{"id":"'), Buffer.alloc(BOMB_BYTES, 'a'), Buffer.from('"}')]),
    );
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(bomb);
  },
};

let bomb: Buffer | undefined;

function writeAndClose({ socket }: ServerResponse, text: string): void {
  socket?.write(text, () => socket.destroy());
}

async function drip(response: ServerResponse): Promise<void> {
  const body = JSON.stringify({ id: 'em_drip', padding: 'a'.repeat(CUT_LENGTH) });
  response.writeHead(200, { 'content-type': 'application/json' });
  for (const byte of body) {
    if (response.destroyed) return;
    response.write(byte);
    await delay(DRIP_MS);
  }
  response.end();
}

/** Writes as fast as the client reads, until it goes away. */
async function writeMuch(response: ServerResponse, headers: Record<string, string>): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  response.write('{"id":"');
  const closed = once(response, 'close');
  for (let sent = 0; sent < HUGE_BYTES && !response.destroyed; sent += CHUNK.length) {
    if (!response.write(CHUNK)) await Promise.race([once(response, 'drain'), closed]);
  }
  response.end('"}');
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function stop(server: Server): void {
  server.close();
  server.closeAllConnections();
}
