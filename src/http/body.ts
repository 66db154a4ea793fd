/**
 * Reading a request body into one buffer, made once when its length is known. Refused before a byte is read: what is over
 * the route's limit, and what the process has no room for now. `json-body.ts` makes a value of the bytes.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock, Timer } from '../system/clock.ts';
import { AppError } from '../system/errors.ts';
import { watchPace } from './body-pace.ts';
import type { ByteBudget, Reservation } from './byte-budget.ts';
import { awaitsContinue, letContinue } from './expect-continue.ts';

/** What a chunked body is given first, and then twice as much each time. */
const FIRST_BYTES = 64 * 1024;
/** A large body is read and answered in about a second. */
const RETRY_AFTER_SECONDS = 2;
/** Of a body that was refused: read and thrown away, so that its sender reads the answer instead of a reset. */
export const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;

const bodyField = Symbol('body');

declare module 'fastify' {
  interface FastifyRequest {
    /** A field, because what a WeakMap holds survives scavenges, and all of the request with it. */
    [bodyField]: Body | undefined;
  }
}

export type HoldOptions = {
  budget: ByteBudget;
  /** Whose share of the budget a body counts to. Asked once it is known who calls. */
  holderOf: (request: FastifyRequest) => string;
  /** There was no room. */
  onRefusal: () => void;
  clock: Clock;
};

/**
 * Takes room for each body before it is read, and gives it back when the request is over: answered, and the answer sent or
 * its connection gone. A peer that leaves while its request is worked on does not make the bytes go away.
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

/** Undefined for a chunked body, whose length nobody knows (RFC 9112 7.1). */
function readDeclaredBytes({ headers }: FastifyRequest): number | undefined {
  if (headers['transfer-encoding'] !== undefined) return undefined;
  return Number(headers['content-length'] ?? 0);
}

/**
 * The body of a request that went through `holdBodies`; without bytes when it has none.
 *
 * @throws AppError payload_too_large, unavailable, request_timeout, validation_error for a length that was not kept
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
      reject(new AppError('request_timeout', 'The body came too slowly'));
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
      reject(new AppError('validation_error', 'The body broke off'));
    });
  });
}

/**
 * Room for what is made of the body, until the request is over or, before it is answered, what this answers is called.
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

/** One body: its room in the budget, and what of it has come. */
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

  /** To be cancelled when all of the body is there. */
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
 * For a request that is refused before its body was read: the connection stays good, because the rest is read and thrown
 * away. Closing instead would reset it under a sender that has not yet read the answer. Of a body that came too slowly
 * nobody waits for the rest: the connection ends with the answer.
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
 * The connection that its peer wants closed (RFC 9112 9.6) ends when all of the body has come. Node would end it with the
 * answer.
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
  return new AppError('validation_error', 'The body has not the length that Content-Length says');
}
