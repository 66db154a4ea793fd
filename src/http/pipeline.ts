/**
 * Answers pipelined requests (RFC 9112 9.3.2) of a connection one at a time, in order. A few more are read ahead; then
 * the connection is not read any further, so that the client's further requests wait in its own buffers. After each
 * answer the other connections are served first.
 */
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { nextTurn } from '../system/next-turn.ts';
import { ReadAhead } from './read-ahead.ts';

/** Maximum number of requests of a connection that are read while another one is answered. Our own limit. */
export const MAX_REQUESTS_AHEAD = 2;

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const connections = new WeakMap<Socket, Connection>();

/** An HTTP server that calls `handle` for the next request of a connection when the last one was answered. */
export function createPipelineServer(options: ServerOptions, handle: Handler): Server {
  const server = createServer(options);
  server.on('connection', (socket) => connections.set(socket, new Connection(socket, server.timeout)));
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

class Connection {
  readonly #socket: Socket;
  /** How long the connection may be idle while it is not known to wait for another request. */
  readonly #timeoutMs: number;
  readonly #reading: ReadAhead;
  readonly #waiting: Turn[] = [];
  #isAnswering = false;

  constructor(socket: Socket, timeoutMs: number) {
    this.#socket = socket;
    this.#timeoutMs = timeoutMs;
    this.#reading = new ReadAhead(socket, () => this.#waiting.length < MAX_REQUESTS_AHEAD);
  }

  add(turn: Turn): void {
    this.#reading.began(turn.request, !turn.response.shouldKeepAlive);
    if (this.#isAnswering) this.#waiting.push(turn);
    else this.#start(turn);
  }

  #start({ response, run }: Turn): void {
    this.#isAnswering = true;
    // 'close' follows 'finish', when all of the answer was handed to the operating system, and the end of the connection.
    response.once('close', () => this.#end());
    run();
  }

  #end(): void {
    if (this.#waiting.length > 0) void nextTurn().then(() => this.#startNext());
    else this.#isAnswering = false;
  }

  #startNext(): void {
    // The client can no longer be answered, so its request is not executed.
    if (this.#socket.destroyed || this.#socket.writableEnded) return;
    const next = this.#waiting.shift();
    // Its time begins now: until here it was the time of the request before.
    this.#socket.setTimeout(this.#timeoutMs);
    if (next) this.#start(next);
    this.#reading.resume();
  }
}
