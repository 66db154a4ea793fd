/**
 * Answers pipelined requests of a connection one at a time, in order (RFC 9112 section 9.3.2). A few more are read
 * ahead; then the connection is not read any further, so that the client's next requests wait in its own buffers.
 * After each response the other connections are served first.
 *
 * Few clients pipeline, and to read one request at a time (`read-ahead.ts`) costs every request some 3 %. So Node reads
 * all connections by itself until some client sends a request before it has its last answer. From then on all
 * connections, open and new, are read one request at a time for a while. The one chunk of at most 64 KiB that begins
 * such a while is parsed as a whole.
 */
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../system/clock.ts';
import { nextSlice } from '../../system/slices.ts';
import { ReadAhead } from './read-ahead.ts';

/** Maximum number of requests of a connection that are read while another one is answered. */
export const MAX_REQUESTS_AHEAD = 2;
/** Time for which every connection is read one request at a time after a client has pipelined. */
export const READ_AHEAD_MS = 10 * 60_000;

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const connections = new WeakMap<Socket, Connection>();
/** The functions that serve the connections of each server, without the limits that a listener puts before it. */
const handlers = new WeakMap<Server, readonly ((socket: Socket) => void)[]>();

/** Returns an HTTP server that calls `handle` for the next request of a connection when the last one was answered. */
export function createPipelineServer(
  clock: Pick<Clock, 'elapsed'>,
  options: ServerOptions,
  handle: Handler,
): Server {
  const server = createServer(options);
  const pipelining = new Pipelining(clock);
  server.on('connection', (socket) => {
    connections.set(socket, new Connection(socket, pipelining, server.timeout));
  });
  server.on('request', (request, response) =>
    runInOrder(request, response, () => void handle(request, response)),
  );
  handlers.set(server, server.listeners('connection') as ((socket: Socket) => void)[]);
  return server;
}

/** Serves a connection that another listener has accepted, such as one with TLS, as the server serves its own. */
export function serveConnection(server: Server, socket: Socket): void {
  for (const handle of handlers.get(server) ?? []) handle.call(server, socket);
}

/** Calls `run`, which answers the request, when every earlier request of its connection was answered. */
export function runInOrder(request: IncomingMessage, response: ServerResponse, run: () => void): void {
  const connection = connections.get(request.socket);
  if (connection) connection.add({ request, response, run });
  else run();
}

type Slot = { request: IncomingMessage; response: ServerResponse; run: () => void };

/** Decides for all connections of a server whether Node reads them by itself. */
class Pipelining {
  readonly #clock: Pick<Clock, 'elapsed'>;
  /** Connections that Node reads by itself. */
  readonly #direct = new Set<Connection>();
  #readAheadUntil = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock;
  }

  add(connection: Connection): void {
    if (this.#clock.elapsed() < this.#readAheadUntil) connection.readAhead();
    else this.#direct.add(connection);
  }

  delete(connection: Connection): void {
    this.#direct.delete(connection);
  }

  /** Records that a client has pipelined. */
  recordPipelining(): void {
    this.#readAheadUntil = this.#clock.elapsed() + READ_AHEAD_MS;
    for (const connection of this.#direct) connection.readAhead();
    this.#direct.clear();
  }
}

class Connection {
  readonly #socket: Socket;
  readonly #pipelining: Pipelining;
  /** Idle timeout of the connection while it is not known to wait for another request, in milliseconds. */
  readonly #timeoutMs: number;
  /** Reads the connection one request at a time. Undefined while Node reads it by itself. */
  #reading: ReadAhead | undefined;
  readonly #waiting: Slot[] = [];
  #latest: Slot | undefined;
  #isAnswering = false;

  constructor(socket: Socket, pipelining: Pipelining, timeoutMs: number) {
    this.#socket = socket;
    this.#pipelining = pipelining;
    this.#timeoutMs = timeoutMs;
    pipelining.add(this);
    socket.once('close', () => pipelining.delete(this));
  }

  /** Starts reading one request at a time. */
  readAhead(): void {
    // Node has stopped reading a connection that it is about to close, for example after CONNECT.
    if (this.#socket.listenerCount('data') === 0) return;
    this.#reading = new ReadAhead(this.#socket, () => this.#waiting.length < MAX_REQUESTS_AHEAD);
    if (this.#latest) this.#began(this.#latest);
  }

  add(slot: Slot): void {
    this.#latest = slot;
    if (this.#reading) this.#began(slot);
    else if (this.#isAnswering) this.#pipelining.recordPipelining();
    if (this.#isAnswering) this.#waiting.push(slot);
    else this.#start(slot);
  }

  #began({ request, response }: Slot): void {
    this.#reading?.began(request, !response.shouldKeepAlive);
  }

  #start({ response, run }: Slot): void {
    this.#isAnswering = true;
    // 'close' follows 'finish', when the whole response was handed to the operating system, and the end of the
    // connection.
    response.once('close', () => this.#end());
    run();
  }

  #end(): void {
    if (this.#waiting.length > 0) return void nextSlice().then(() => this.#startNext());
    this.#isAnswering = false;
    this.#latest = undefined;
  }

  #startNext(): void {
    // The client can no longer be answered, so its request is not executed.
    if (this.#socket.destroyed || this.#socket.writableEnded) return;
    const next = this.#waiting.shift();
    // The timeout of a waiting request begins now. Until here it was that of the previous request.
    this.#socket.setTimeout(this.#timeoutMs);
    if (next) this.#start(next);
    this.#reading?.resume();
  }
}
