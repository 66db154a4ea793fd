/**
 * Answers pipelined requests of a connection one at a time, in order (RFC 9112 section 9.3.2). A few more are read
 * ahead; then the connection is not read any further, so that the client's next requests wait in its own buffers.
 * After each response the other connections are served first.
 *
 * Few clients pipeline, and counting requests ahead costs every request about 3 %. So Node reads a connection by
 * itself until a client sends a request before it has its response. From then on all connections of that client's
 * address are read one request at a time (`read-ahead.ts`). The first chunk of such a client, at most 64 KiB, is
 * parsed as a whole.
 */
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import { nextTurn } from '../system/next-turn.ts';
import { addressBlock } from './client-address.ts';
import { ReadAhead } from './read-ahead.ts';

/** Maximum number of requests of a connection that are read while another one is answered. Our own limit. */
export const MAX_REQUESTS_AHEAD = 2;
/** Maximum number of addresses that are remembered as pipelining; each needs about 100 bytes. Our own limit. */
const MAX_PIPELINING_ADDRESSES = 10_000;

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const connections = new WeakMap<Socket, Connection>();

/**
 * Returns an HTTP server that calls `handle` for the next request of a connection once the previous one was answered.
 */
export function createPipelineServer(options: ServerOptions, handle: Handler): Server {
  const server = createServer(options);
  const clients = new Clients();
  server.on('connection', (socket) => {
    connections.set(socket, new Connection(socket, clients, server.timeout));
  });
  server.on('request', (request, response) =>
    inTurn(request, response, () => void handle(request, response)),
  );
  return server;
}

/** Calls `run`, which answers the request, when every earlier request of its connection was answered. */
export function inTurn(request: IncomingMessage, response: ServerResponse, run: () => void): void {
  const connection = connections.get(request.socket);
  if (connection) connection.add({ request, response, run });
  else run();
}

type Turn = { request: IncomingMessage; response: ServerResponse; run: () => void };

/** The clients of a server, by address: those that pipeline, and the connections of all others. */
class Clients {
  readonly #pipelining = new LRUCache<string, true>({ max: MAX_PIPELINING_ADDRESSES });
  readonly #others = new Map<string, Set<Connection>>();

  isPipelining(address: string): boolean {
    return this.#pipelining.get(address) === true;
  }

  /** Adds a connection whose requests are not counted yet. */
  add(address: string, connection: Connection): void {
    const ofAddress = this.#others.get(address) ?? new Set();
    this.#others.set(address, ofAddress.add(connection));
  }

  delete(address: string, connection: Connection): void {
    const ofAddress = this.#others.get(address);
    ofAddress?.delete(connection);
    if (ofAddress?.size === 0) this.#others.delete(address);
  }

  /** Records that the client pipelines. Every connection of its address reads one request at a time from now on. */
  pipelines(address: string): void {
    this.#pipelining.set(address, true);
    for (const connection of this.#others.get(address) ?? []) connection.readAhead();
    this.#others.delete(address);
  }
}

class Connection {
  readonly #socket: Socket;
  readonly #clients: Clients;
  readonly #address: string;
  /** Idle timeout of the connection while it is not known to wait for another request, in milliseconds. */
  readonly #timeoutMs: number;
  /** Undefined while Node reads the connection by itself. */
  #reading: ReadAhead | undefined;
  readonly #waiting: Turn[] = [];
  #latest: Turn | undefined;
  #isAnswering = false;

  constructor(socket: Socket, clients: Clients, timeoutMs: number) {
    this.#socket = socket;
    this.#clients = clients;
    this.#address = addressBlock(socket.remoteAddress ?? '');
    this.#timeoutMs = timeoutMs;
    if (clients.isPipelining(this.#address)) {
      this.readAhead();
    } else {
      clients.add(this.#address, this);
      socket.once('close', () => clients.delete(this.#address, this));
    }
  }

  /** Starts reading one request at a time. */
  readAhead(): void {
    this.#reading = new ReadAhead(this.#socket, () => this.#waiting.length < MAX_REQUESTS_AHEAD);
    if (this.#latest) this.#began(this.#latest);
  }

  add(turn: Turn): void {
    this.#latest = turn;
    if (this.#reading) this.#began(turn);
    else if (this.#isAnswering) this.#clients.pipelines(this.#address);
    if (this.#isAnswering) this.#waiting.push(turn);
    else this.#start(turn);
  }

  #began({ request, response }: Turn): void {
    this.#reading?.began(request, !response.shouldKeepAlive);
  }

  #start({ response, run }: Turn): void {
    this.#isAnswering = true;
    // 'close' follows 'finish', when the whole response was handed to the operating system, and the end of the
    // connection.
    response.once('close', () => this.#end());
    run();
  }

  #end(): void {
    if (this.#waiting.length > 0) return void nextTurn().then(() => this.#startNext());
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
