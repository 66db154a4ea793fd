/**
 * Refuses requests with the error envelope of the API that Node by itself would refuse without a body: invalid or
 * incomplete HTTP, too large heads, unknown expectations, and requests without a host.
 */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Clock } from '../../system/clock.ts';
import { AppError, type ErrorCode, errorCode } from '../../system/errors.ts';
import { newId } from '../../system/ids.ts';
import { runInOrder } from './pipeline.ts';
import { problemOf } from './refusal.ts';

type Malformed = { status: number; type: ErrorCode; message: string };
type Answer = { status: number; headers: Readonly<Record<string, string | number>>; body: string };
type WallClock = Pick<Clock, 'now'>;

/**
 * Maximum number of bytes that are read after the answer to data that is no request. What was sent with it must be read, because closing would
 * reset the connection before the sender has read the answer.
 */
const MAX_BYTES_AFTER_ANSWER = 1024 * 1024;

/** Returns Fastify's `clientErrorHandler`. It answers data that never becomes a request. */
export function answerMalformed(clock: WallClock) {
  /** Number of bytes that had been read of a connection when it was answered. */
  const answeredAt = new WeakMap<Socket, number>();
  return (error: Error, socket: Socket): void => {
    const bytes = answeredAt.get(socket);
    if (bytes !== undefined && !socket.destroyed && socket.bytesRead - bytes < MAX_BYTES_AFTER_ANSWER) return;
    if (!socket.writable || errorCode(error) === 'ECONNRESET') return void socket.destroy();
    // A server ignores what follows a request with `Connection: close`, and answers the requests before (RFC 9112 section 9.6).
    if (errorCode(error) === 'HPE_CLOSED_CONNECTION') return;
    answeredAt.set(socket, socket.bytesRead);
    socket.end(textOf(answerTo(describeMalformed(error), clock)));
  };
}

/** Returns the response to a connection beyond the limits. It is sent before any request was read. */
export function refuseConnection(clock: WallClock): string {
  const message = 'Too many connections; close some and try again shortly';
  return textOf(answerTo({ status: 503, type: 'unavailable', message }, clock));
}

function textOf({ status, headers, body }: Answer): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
}

/** Refuses every `Expect` other than `100-continue` (RFC 9110 section 10.1.1). */
export function refuseExpectations(server: FastifyInstance, clock: WallClock): void {
  server.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const message = 'The only expectation this server meets is 100-continue';
    const refusal: Malformed = { status: 417, type: 'validation_error', message };
    runInOrder(request, response, () => refuseRequest(clock, response, refusal));
  });
}

/** Returns the refusal of a request without exactly one Host header (RFC 9112 section 3.2). HTTP/1.0 may have none. */
export function requireHost({ raw: { httpVersion, rawHeaders } }: FastifyRequest): AppError | undefined {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  if (hosts === 1 || (hosts === 0 && httpVersion !== '1.1')) return undefined;
  return new AppError('validation_error', 'The request must have one Host header');
}

/** Answers a request that no app sees, and closes the connection with the answer. */
export function refuseRequest(clock: WallClock, response: ServerResponse, refusal: Malformed): void {
  const { status, headers, body } = answerTo(refusal, clock);
  response.writeHead(status, headers).end(body);
}

function answerTo({ status, type, message }: Malformed, clock: WallClock): Answer {
  const requestId = newId('req', clock.now());
  const body = JSON.stringify(problemOf(type, message, requestId));
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': requestId,
    Connection: 'close',
  };
  return { status, headers, body };
}

function describeMalformed(error: Error): Malformed {
  const type = 'validation_error';
  switch (errorCode(error)) {
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, type, message: 'The request head is too large' };
    // The client may repeat the request after a 408, but not after a 400 (RFC 9110 section 15.5.9).
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, type: 'request_timeout', message: 'The request took too long to arrive' };
    default:
      return { status: 400, type, message: 'The request is not valid HTTP' };
  }
}
