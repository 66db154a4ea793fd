/** Stands before a daemon, refuses some requests, and lets some answers go wrong on their way. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent } from 'undici';
import { listenOnLoopback } from '../../support/loopback.ts';
import { createRandom } from '../../support/random.ts';

/** Percent of all requests. Source: issue 30. */
const PERCENT = { lost: 1, refused: 5, cut: 1 };
const SEED = 30;
const FORWARDED = ['authorization', 'content-type', 'idempotency-key'];
/** The answer of the daemon to a key that asks too often. */
const REFUSAL = {
  error: { type: 'rate_limited', message: 'Too many requests; try again later', requestId: 'req_refused' },
};
const REFUSAL_HEADERS = { 'content-type': 'application/json', 'retry-after': '1' };

export type FaultyProxy = AsyncDisposable & {
  address: string;
  counts: { requests: number; lost: number; refused: number; cut: number };
};

type Fault = keyof typeof PERCENT;
type Forward = (request: IncomingMessage) => Promise<{ status: number; type: string; body: Buffer }>;

export async function startFaultyProxy(daemonAddress: string): Promise<FaultyProxy> {
  const agent = new Agent();
  const random = createRandom(SEED);
  const counts = { requests: 0, lost: 0, refused: 0, cut: 0 };
  const forward: Forward = async (request) => {
    const headers = Object.fromEntries(FORWARDED.map((name) => [name, request.headers[name] ?? '']));
    const answer = await agent.request({
      ...{ origin: daemonAddress, path: request.url ?? '/', method: 'POST', headers },
      body: await readAll(request),
    });
    return {
      status: answer.statusCode,
      type: String(answer.headers['content-type']),
      body: Buffer.from(await answer.body.arrayBuffer()),
    };
  };
  const server = createServer(async (request, response) => {
    const fault = faultOf(random(100));
    counts.requests += 1;
    if (fault !== undefined) counts[fault] += 1;
    await (fault === undefined ? pass : FAULTS[fault])(request, response, forward);
  });
  const port = await listenOnLoopback(server);
  return {
    address: `http://127.0.0.1:${port}`,
    counts,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await agent.destroy();
    },
  };
}

function faultOf(percent: number): Fault | undefined {
  let end = 0;
  for (const [fault, share] of Object.entries(PERCENT) as [Fault, number][]) {
    end += share;
    if (percent < end) return fault;
  }
  return undefined;
}

type Serve = (request: IncomingMessage, response: ServerResponse, forward: Forward) => Promise<void>;

const pass: Serve = async (request, response, forward) => {
  const { status, type, body } = await forward(request);
  response.writeHead(status, { 'content-type': type, 'content-length': body.length }).end(body);
};

const FAULTS: Record<Fault, Serve> = {
  async lost(request, _response, forward) {
    await forward(request);
    request.socket.destroy();
  },
  async refused(request, response) {
    await readAll(request);
    response.writeHead(429, REFUSAL_HEADERS);
    response.end(JSON.stringify(REFUSAL));
  },
  async cut(request, response, forward) {
    const { status, type, body } = await forward(request);
    response.writeHead(status, { 'content-type': type, 'content-length': body.length });
    response.write(body.subarray(0, body.length / 2));
    // Let the half leave before the connection ends, so that the head arrives.
    await delay(1);
    request.socket.destroy();
  },
};

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
