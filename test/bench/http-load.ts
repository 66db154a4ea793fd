/**
 * The load: POSTs one body over kept connections, one request in flight on each, as fast as they are answered. Runs in
 * a process of its own and writes raw HTTP/1.1, so that it takes as little as possible of the processors it shares
 * with what is measured. Prints one line of JSON.
 */
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { percentile } from './percentile.ts';

export type HttpLoad = {
  port: number;
  path: string;
  /** Connects with TLS, and asks for this name. */
  serverName?: string;
  headers: Record<string, string>;
  /** Each request replaces the digits `counter` in it, where they stand last, by its own number. One that is too long for an
   * argument is in a file. */
  body: string | { file: string };
  counter: string;
  connections: number;
  requests: number;
  /** Begins no request after this many seconds. */
  seconds?: number;
  /** Goes on when a request is refused with 503, and counts it, until the program is stopped. */
  isFlood?: boolean;
};

export type HttpLoadResult = {
  /** Epoch milliseconds of the first request and of the last answer. */
  startedAtMs: number;
  endedAtMs: number;
  p50Ms: number;
  p99Ms: number;
  /** The first answer other than 200, its status and body; the load ends there. */
  refusal: string | undefined;
  /** Of this process, from the first request to the last answer. */
  cpuMs: number;
  /** Requests of a flood that were refused with 503. */
  refused: number;
};

/** The daemon asks for this pause when it refuses a request under load. */
const RETRY_AFTER_MS = 2_000;
/** `HTTP/1.1 200 OK` */
const STATUS_AT = 9;

const load = JSON.parse(process.argv[2] ?? '') as HttpLoad;
const body = typeof load.body === 'string' ? load.body : readFileSync(load.body.file, 'utf8');
const latencies = new Float64Array(load.requests);
let sent = 0;
let answered = 0;
let refusal: string | undefined;
let refused = 0;

const sockets = await Promise.all(Array.from({ length: load.connections }, open));
const startedAtMs = Date.now();
const endAtMs = startedAtMs + (load.seconds ?? Number.POSITIVE_INFINITY) * 1000;
const cpuBefore = process.cpuUsage();
await Promise.all(sockets.map(run));
const { user, system } = process.cpuUsage(cpuBefore);
const result: HttpLoadResult = {
  startedAtMs,
  endedAtMs: Date.now(),
  p50Ms: percentile(latencies.subarray(0, answered), 0.5),
  p99Ms: percentile(latencies.subarray(0, answered), 0.99),
  refusal,
  cpuMs: (user + system) / 1000,
  refused,
};
console.log(JSON.stringify(result));
process.exit(0);

function open(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const { port, serverName: servername } = load;
    const socket = servername
      ? connectTls({ port, host: '127.0.0.1', servername, rejectUnauthorized: false })
      : connect({ port, host: '127.0.0.1', noDelay: true });
    socket.once('error', reject);
    socket.once(servername ? 'secureConnect' : 'connect', () => {
      socket.setNoDelay(true);
      resolve(socket);
    });
  });
}

/** Resolves when there is nothing more to send. */
function run(socket: Socket): Promise<void> {
  const request = Buffer.from(requestText());
  const counterAt = request.lastIndexOf(load.counter);
  return new Promise((resolve, reject) => {
    let sentAt = 0;
    const next = () => {
      if (sent === load.requests || refusal !== undefined || Date.now() >= endAtMs) {
        resolve();
        return;
      }
      sent += 1;
      request.write(String(sent).padStart(load.counter.length, '0'), counterAt, 'latin1');
      sentAt = performance.now();
      socket.write(request);
    };
    readAnswers(socket, (status, text) => {
      latencies[answered] = performance.now() - sentAt;
      answered += 1;
      if (status === 503 && load.isFlood === true) {
        refused += 1;
        setTimeout(next, RETRY_AFTER_MS);
        return;
      }
      if (status !== 200) refusal ??= text;
      next();
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the server closed a connection')));
    next();
  });
}

function requestText(): string {
  const headers = {
    host: `127.0.0.1:${load.port}`,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...load.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${load.path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

/** Answers of the servers measured here are short and carry Content-Length. */
function readAnswers(socket: Socket, answer: (status: number, text: string) => void): void {
  let text = '';
  socket.on('data', (part: Buffer) => {
    text += part.toString('latin1');
    const bodyAt = text.indexOf('\r\n\r\n') + 4;
    if (bodyAt < 4) return;
    const length = /\r\ncontent-length: (\d+)/i.exec(text);
    if (!length) throw new Error(`an answer without Content-Length:\n${text}`);
    if (text.length < bodyAt + Number(length[1])) return;
    const whole = text;
    text = '';
    const status = whole.slice(STATUS_AT, STATUS_AT + 3);
    answer(Number(status), `${status} ${whole.slice(bodyAt)}`);
  });
}
