/**
 * Reads a request body into one buffer, which is allocated once when the length is known. A body above the route's
 * limit, or one for which the process has no memory at the moment, is refused before a byte is read. `json-body.ts`
 * parses the bytes.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock, Timer } from '../../system/clock.ts';
import { AppError } from '../../system/errors.ts';
import type { ByteBudget, Reservation } from '../../system/guards/byte-budget.ts';
import { awaitsContinue, letContinue } from './expect-continue.ts';

/** Initial buffer for a chunked body; it doubles each time it fills up. */
const FIRST_BYTES = 64 * 1024;
/** Time to retry after. A large body is read and answered in about a second. */
const RETRY_AFTER_SECONDS = 2;
/**
 * Maximum number of bytes of a refused body that are read and discarded, so that its sender reads the response
 * instead of a connection reset.
 */
export const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;

const bodyField = Symbol('body');

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * State of the body. It is a field, because entries of a WeakMap survive minor garbage collections, and the
     * request with them.
     */
    [bodyField]: Body | undefined;
  }
}

type HoldOptions = {
  budget: ByteBudget;
  /** Returns the holder whose share a body counts to. It is called once the caller is known. */
  holderOf: (request: FastifyRequest) => string;
  /** Is called for each body that was refused because the budget is used up. */
  onRefusal: () => void;
  clock: Clock;
};

/**
 * Reserves memory for each body before it is read, and releases it when the request is over: its response was sent,
 * or its connection closed and its handler finished. A client that disconnects during the request does not free the
 * bytes.
 */
export function holdBodies(
  server: FastifyInstance,
  { budget, holderOf, onRefusal, clock }: HoldOptions,
): void {
  server.decorateRequest(bodyField, undefined);
  server.addHook('preParsing', (request, reply, payload, done) => {
    const declaredBytes = readDeclaredBytes(request);
    if (declaredBytes === 0) return done(null, payload);
    const { bodyLimit } = request.routeOptions;
    if (declaredBytes !== undefined && declaredBytes > bodyLimit) return done(tooLarge());
    const reservation = budget.open(holderOf(request));
    const body = new Body({ reservation, onRefusal, clock, declaredBytes, limitBytes: bodyLimit });
    if (!body.reserveBytes(declaredBytes ?? FIRST_BYTES)) return done(budgetExhausted());
    request[bodyField] = body;
    reply.raw.once('close', () => body.closed());
    done(null, payload);
  });
  server.addHook('onSend', (request, _reply, payload, done) => {
    request[bodyField]?.answered();
    done(null, payload);
  });
}

/**
 * Returns the length that the head declares; undefined for a chunked body, whose length is unknown (RFC 9112 section
 * 7.1).
 */
function readDeclaredBytes({ headers }: FastifyRequest): number | undefined {
  if (headers['transfer-encoding'] !== undefined) return undefined;
  return Number(headers['content-length'] ?? 0);
}

/**
 * Reads the body of a request that went through `holdBodies`. The buffer is empty when the request has no body.
 * @throws AppError payload_too_large, unavailable, request_timeout, or validation_error when the length differs from
 * the declared one
 */
export function readBody(request: FastifyRequest, payload: IncomingMessage): Promise<Buffer> {
  const body = request[bodyField];
  if (!body) return Promise.resolve(Buffer.alloc(0));
  letContinue(request.raw);
  return new Promise((resolve, reject) => {
    let over = false;
    const end = (): void => {
      over = true;
      pace.cancel();
    };
    const pace = body.watchPace(() => {
      end();
      reject(new AppError('request_timeout', 'The body arrived too slowly'));
    });
    payload.on('data', (chunk: Buffer) => {
      if (over) return;
      try {
        body.append(chunk);
      } catch (error) {
        end();
        reject(error);
      }
    });
    payload.on('end', () => {
      end();
      if (body.isShort()) reject(lengthNotKept());
      else resolve(body.bytes());
    });
    payload.on('close', () => {
      if (over) return;
      end();
      reject(new AppError('validation_error', 'The connection closed before the whole body arrived'));
    });
  });
}

/**
 * Reserves memory for data that is derived from the body. It is released at the end of the request, or earlier by the
 * returned function, which must be called before the response.
 * @throws AppError unavailable
 */
export function reserveBytes(request: FastifyRequest, bytes: number): () => void {
  const body = request[bodyField];
  if (body?.reserveBytes(bytes) === false) throw budgetExhausted();
  return () => body?.giveBack(bytes);
}

type BodyOptions = {
  reservation: Reservation;
  onRefusal: () => void;
  clock: Clock;
  declaredBytes: number | undefined;
  limitBytes: number;
};

/** One body: its reservation, and the bytes that have arrived. */
class Body {
  readonly #options: BodyOptions;
  #isTooSlow = false;
  #isAnswered = false;
  #isClosed = false;
  #held: Buffer | undefined;
  #length = 0;

  constructor(options: BodyOptions) {
    this.#options = options;
  }

  reserveBytes(bytes: number): boolean {
    const isReserved = this.#options.reservation.take(bytes);
    if (!isReserved) this.#options.onRefusal();
    return isReserved;
  }

  giveBack(bytes: number): void {
    this.#options.reservation.release(bytes);
  }

  answered(): void {
    this.#isAnswered = true;
    if (this.#isClosed) this.#options.reservation.release();
  }

  closed(): void {
    this.#isClosed = true;
    if (this.#isAnswered) this.#options.reservation.release();
  }

  /** Starts the check for slow bodies. The caller cancels it when the body is complete. */
  watchPace(onTooSlow: () => void): Timer {
    return watchPace(
      this.#options.clock,
      () => this.#length,
      () => {
        this.#isTooSlow = true;
        onTooSlow();
      },
    );
  }

  get isTooSlow(): boolean {
    return this.#isTooSlow;
  }

  append(chunk: Buffer): void {
    const { declaredBytes, limitBytes } = this.#options;
    const needed = this.#length + chunk.length;
    if (declaredBytes !== undefined && needed > declaredBytes) throw lengthNotKept();
    if (needed > limitBytes) throw tooLarge();
    let held = this.#held ?? this.#hold(declaredBytes ?? FIRST_BYTES);
    if (needed > held.length) held = this.#grow(held, needed);
    chunk.copy(held, this.#length);
    this.#length = needed;
  }

  #grow(held: Buffer, neededBytes: number): Buffer {
    let sizeBytes = held.length;
    while (sizeBytes < neededBytes) sizeBytes *= 2;
    sizeBytes = Math.min(sizeBytes, this.#options.limitBytes);
    if (!this.reserveBytes(sizeBytes - held.length)) throw budgetExhausted();
    const larger = this.#hold(sizeBytes);
    held.copy(larger);
    return larger;
  }

  #hold(bytes: number): Buffer {
    const held = Buffer.allocUnsafe(bytes);
    this.#held = held;
    return held;
  }

  isShort(): boolean {
    return this.#length < (this.#options.declaredBytes ?? 0);
  }

  bytes(): Buffer {
    return this.#held?.subarray(0, this.#length) ?? Buffer.alloc(0);
  }
}

/**
 * Handles the body of a request that was refused before it was read. The connection stays open, and the rest of the
 * body is read and discarded, because closing would reset it before the sender has read the response. After a body
 * that arrived too slowly the connection is closed with the response.
 */
export function discardBody(request: FastifyRequest, reply: FastifyReply): void {
  const { raw } = request;
  if (request[bodyField]?.isTooSlow) return void reply.header('connection', 'close');
  if (awaitsContinue(raw)) return;
  reply.removeHeader('connection');
  if (raw.complete) return;
  if (!reply.raw.shouldKeepAlive) endWithBody(raw, reply.raw);
  let leftBytes = MAX_DISCARDED_BYTES;
  raw.on('data', (chunk: Buffer) => {
    leftBytes -= chunk.length;
    if (leftBytes < 0) raw.destroy();
  });
}

/**
 * Closes a connection that its client wants closed (RFC 9112 section 9.6) once the whole body has arrived. Node would
 * close it with the response.
 */
function endWithBody(request: IncomingMessage, response: ServerResponse): void {
  response.shouldKeepAlive = true;
  request.once('end', () => request.socket.end());
}

function budgetExhausted(): AppError {
  return new AppError('unavailable', 'Too many large requests at the same time', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

function tooLarge(): AppError {
  return new AppError('payload_too_large', 'The request body is too large');
}

function lengthNotKept(): AppError {
  return new AppError('validation_error', 'The body does not have the length that Content-Length declares');
}

/**
 * Minimum rate of request bodies, because a body that arrives slowly keeps its reservation for long. A time limit alone
 * does not suffice: one that is long enough for the largest body lets the smallest take just as long. The rate is a tenth of the rate at which 25 MiB of attachments arrive just within the time limit of a request
 * (server.ts). Slow connections exceed it, and stalled ones do not.
 */
export const MIN_BYTES_PER_SECOND = 32 * 1024;
/** Time without a minimum rate, for a few retransmissions, or a sender that generates its body while it sends. */
export const GRACE_MS = 5_000;

/**
 * Calls `onTooSlow` once when fewer bytes have arrived than the minimum rate requires. The caller cancels the timer
 * when the body is complete.
 */
export function watchPace(clock: Clock, receivedBytes: () => number, onTooSlow: () => void): Timer {
  const beganMs = clock.elapsed();
  const check = (): void => {
    const enoughForMs = GRACE_MS + (receivedBytes() / MIN_BYTES_PER_SECOND) * 1_000;
    const leftMs = beganMs + enoughForMs - clock.elapsed();
    if (leftMs <= 0) onTooSlow();
    else timer = clock.after(leftMs, check);
  };
  let timer = clock.after(GRACE_MS, check);
  return { cancel: () => timer.cancel() };
}
