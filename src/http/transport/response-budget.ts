/**
 * Limits the number of bytes of responses that the process holds at the same time. A response counts until the
 * operating system has accepted all of it, because a client that does not read leaves it in memory. A route that
 * knows the size of its content reserves it before it reads the content; every other response counts from the moment
 * it exists. A response that exceeds the budget is refused. A connection that accepts none of its response for a
 * while is closed.
 */
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../system/errors.ts';
import { type ByteBudget, createByteBudget, type Reservation } from '../../system/guards/byte-budget.ts';

const responseField = Symbol('response');

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Maximum size of the response of a route that changes something and has a large response. It is reserved before
     * the change.
     */
    responseBytes?: number;
  }
  interface FastifyRequest {
    /**
     * State of the response. It is a field, because entries of a WeakMap survive minor garbage collections, and the
     * request with them.
     */
    [responseField]: Response | undefined;
  }
}

/**
 * Responses to callers with a valid key and to all others have separate budgets, so that callers without a key take no
 * memory from tenants.
 */
export type ResponseBudgets = { authenticated: ByteBudget; unauthenticated: ByteBudget };

const MIB = 1024 * 1024;
/** Maximum share of a budget for one tenant or one address. */
const HOLDER_SHARE = 1 / 4;
/**
 * Budget of callers with a key: eight emails of the largest size, 4 MiB of HTML and text, for each of four tenants.
 */
const AUTHENTICATED = { largeBytes: 128 * MIB, smallBytes: 16 * MIB, share: HOLDER_SHARE };
/**
 * Budget of all other callers. The reference page has 1.5 MiB, so each of four addresses has memory for five of them.
 */
const UNAUTHENTICATED = { largeBytes: 32 * MIB, smallBytes: 4 * MIB, share: HOLDER_SHARE };
/**
 * Maximum size of a response that is not counted: a connection has one at a time, and the buffer of its socket holds
 * it.
 */
const MAX_UNCOUNTED_BYTES = 16 * 1024;
/** Number of bytes that count for a streamed response: the part that is read ahead of the socket. */
const STREAM_BYTES = 512 * 1024;
/** A connection that has taken no byte of its response for this long is closed. */
export const MAX_STALL_MS = 30_000;
const RETRY_AFTER_SECONDS = 2;

/** Returns empty budgets. */
export function createResponseBudgets(): ResponseBudgets {
  return {
    authenticated: createByteBudget(AUTHENTICATED),
    unauthenticated: createByteBudget(UNAUTHENTICATED),
  };
}

type ResponseOptions = {
  /** Opens a reservation for a response to this request. It counts to `payer` when a route has named one. */
  openReservation: (request: FastifyRequest, payer: string | undefined) => Reservation;
  onRefusal: () => void;
  stallMs: number;
};

/** Counts the responses of every route that is registered afterwards. */
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
    // Node's timer is reset while the operating system accepts bytes, however few at a time. It closes the connection
    // when the same bytes are still waiting at its second expiry, so it has half of the time.
    if (reply.raw.socket instanceof Socket) reply.raw.socket.setTimeout(options.stallMs / 2);
    const isRefused = request[responseField]?.isMade(sizeOf(payload), mayRefuse(request, reply)) === false;
    if (!isRefused) return done(null, payload);
    if (payload instanceof Readable) payload.destroy();
    // These headers describe the content, and with them a cache would store the refusal.
    for (const name of ['cache-control', 'etag', 'content-disposition']) reply.removeHeader(name);
    done(budgetExhausted());
  });
}

/**
 * Reserves memory for a response before its content is read. The rest is released when the response is complete.
 * @throws AppError unavailable
 */
export function reserveResponse(request: Pick<FastifyRequest, typeof responseField>, bytes: number): void {
  if (request[responseField]?.reserve(bytes) === false) throw budgetExhausted();
}

/**
 * Counts the response to a request without a key to this tenant, as if it had a key of the tenant. The caller has checked that the
 * tenant allows the request, for example by a link with a token.
 */
export function chargeResponse(request: Pick<FastifyRequest, typeof responseField>, tenantId: string): void {
  request[responseField]?.chargeTo(tenantId);
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
  #payer: string | undefined;
  #heldBytes = 0;

  constructor(request: FastifyRequest, reply: FastifyReply, options: ResponseOptions) {
    this.#request = request;
    this.#reply = reply;
    this.#options = options;
  }

  chargeTo(payer: string): void {
    this.#payer = payer;
  }

  reserve(bytes: number): boolean {
    if (bytes <= MAX_UNCOUNTED_BYTES || this.#isGone) return true;
    const isReserved = this.#open().take(bytes);
    if (isReserved) this.#heldBytes += bytes;
    else this.#options.onRefusal();
    return isReserved;
  }

  /** Counts a complete response of this size. Returns false when it must not be sent. */
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

  /** True when the connection has closed: all bytes were released, and nothing is sent any more. */
  get #isGone(): boolean {
    return this.#reply.raw.destroyed;
  }

  /**
   * Returns the reservation. It is released when the operating system has accepted the whole response, or the
   * connection has closed.
   */
  #open(): Reservation {
    if (this.#reservation) return this.#reservation;
    const reservation = this.#options.openReservation(this.#request, this.#payer);
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
