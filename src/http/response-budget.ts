/**
 * How many bytes of responses the process holds at the same time. A client that does not read leaves them in memory, so
 * they count from before they are made until the operating system has taken them. A route that knows the size of its
 * content reserves it before it reads the content; every other response counts when it is there. What finds no room is
 * refused. A connection that takes nothing of its response for a while is closed.
 */
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../system/errors.ts';
import { type ByteBudget, createByteBudget, type Reservation } from './byte-budget.ts';

const responseField = Symbol('response');

declare module 'fastify' {
  interface FastifyContextConfig {
    /** For a route that changes something and answers with much: the most its response has, reserved before the change. */
    responseBytes?: number;
  }
  interface FastifyRequest {
    /** A field, because what a WeakMap holds survives scavenges, and all of the request with it. */
    [responseField]: Response | undefined;
  }
}

/** Responses to callers with a valid key and to everybody else are apart: strangers take no memory from tenants. */
export type ResponseBudgets = { authenticated: ByteBudget; unauthenticated: ByteBudget };

const MIB = 1024 * 1024;
/** Maximum part of a budget that one tenant, or one address, has. */
const HOLDER_SHARE = 1 / 4;
/** Eight emails of the largest size, 4 MiB of HTML and text, of each of four tenants. */
const AUTHENTICATED = { largeBytes: 128 * MIB, smallBytes: 16 * MIB, share: HOLDER_SHARE };
/** The reference page has 1.5 MiB: five of each of four addresses. */
const UNAUTHENTICATED = { largeBytes: 32 * MIB, smallBytes: 4 * MIB, share: HOLDER_SHARE };
/** A response of this size is not counted: a connection has one at a time, and the buffer of its socket takes it. */
const MAX_UNCOUNTED_BYTES = 16 * 1024;
/** Counted for a response that is a stream: what is read ahead of its file. */
const STREAM_BYTES = 512 * 1024;
/** A connection that has taken no byte of its response for this long is closed. Our own limit. */
export const MAX_STALL_MS = 30_000;
const RETRY_AFTER_SECONDS = 2;

export function createResponseBudgets(): ResponseBudgets {
  return {
    authenticated: createByteBudget(AUTHENTICATED),
    unauthenticated: createByteBudget(UNAUTHENTICATED),
  };
}

export type ResponseOptions = {
  /** Whose share of which budget a response counts to. */
  openReservation: (request: FastifyRequest) => Reservation;
  onRefusal: () => void;
  stallMs: number;
};

/** For every route that is registered after this. */
export function holdResponses(server: FastifyInstance, options: ResponseOptions): void {
  server.decorateRequest(responseField, undefined);
  server.addHook('preHandler', (request, reply, done) => {
    request[responseField] = new Response(request, reply, options);
    const bytes = request.routeOptions.config.responseBytes;
    if (bytes === undefined) return done();
    try {
      reserveResponse(request, bytes);
      done();
    } catch (error) {
      done(error as Error);
    }
  });
  server.addHook('onSend', (request, reply, payload, done) => {
    // Node's timer goes on as long as the operating system takes bytes, however few at a time.
    // It closes the connection when it finds the same bytes waiting a second time, hence the half.
    if (reply.raw.socket instanceof Socket) reply.raw.socket.setTimeout(options.stallMs / 2);
    const isRefused = request[responseField]?.isMade(sizeOf(payload), mayRefuse(request, reply)) === false;
    if (!isRefused) return done(null, payload);
    if (payload instanceof Readable) payload.destroy();
    // They are about the content, and a cache would keep the refusal by them.
    for (const name of ['cache-control', 'etag', 'content-disposition']) reply.removeHeader(name);
    done(budgetExhausted());
  });
}

/**
 * Takes room for a response before its content is read. What is not needed is given back when the response is there.
 * @throws AppError unavailable
 */
export function reserveResponse(request: Pick<FastifyRequest, typeof responseField>, bytes: number): void {
  if (request[responseField]?.reserve(bytes) === false) throw budgetExhausted();
}

/** Returns true for reads alone: a change that was made must not be answered as refused. */
function mayRefuse({ method }: FastifyRequest, { statusCode }: FastifyReply): boolean {
  return (method === 'GET' || method === 'HEAD') && statusCode < 400;
}

function sizeOf(payload: unknown): number {
  if (typeof payload === 'string') return Buffer.byteLength(payload);
  if (payload instanceof Uint8Array) return payload.byteLength;
  return payload instanceof Readable ? STREAM_BYTES : 0;
}

class Response {
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #options: ResponseOptions;
  #reservation: Reservation | undefined;
  #heldBytes = 0;

  constructor(request: FastifyRequest, reply: FastifyReply, options: ResponseOptions) {
    this.#request = request;
    this.#reply = reply;
    this.#options = options;
  }

  reserve(bytes: number): boolean {
    if (bytes <= MAX_UNCOUNTED_BYTES || this.#isGone) return true;
    const isReserved = this.#open().take(bytes);
    if (isReserved) this.#heldBytes += bytes;
    else this.#options.onRefusal();
    return isReserved;
  }

  /** The response is there, and has this size. False: it must not be sent. */
  isMade(bytes: number, mayRefuse: boolean): boolean {
    if (this.#isGone) return true;
    const countedBytes = bytes <= MAX_UNCOUNTED_BYTES ? 0 : bytes;
    const moreBytes = countedBytes - this.#heldBytes;
    if (moreBytes > 0 && !this.#open().take(moreBytes)) {
      if (mayRefuse) {
        this.#options.onRefusal();
        return false;
      }
      this.#open().add(moreBytes);
    }
    if (moreBytes < 0) this.#reservation?.release(-moreBytes);
    this.#heldBytes = countedBytes;
    return true;
  }

  /** The connection has closed: all was given back, and nothing is sent any more. */
  get #isGone(): boolean {
    return this.#reply.raw.destroyed;
  }

  /** Given back when the operating system has taken all of the response, or the connection is gone. */
  #open(): Reservation {
    if (this.#reservation) return this.#reservation;
    const reservation = this.#options.openReservation(this.#request);
    this.#reservation = reservation;
    this.#reply.raw.once('close', () => reservation.release());
    return reservation;
  }
}

function budgetExhausted(): AppError {
  return new AppError('unavailable', 'Too many large responses that have not been read yet', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
