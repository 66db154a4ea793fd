/**
 * Reads the answer to one request within limits. A server may send headers, body parts and informational responses
 * without end, so each has a bound here, and the caller bounds the total time. Chunk extensions and trailers are
 * bounded with the connection (`connection.ts`).
 */
import type { Dispatcher } from 'undici';

export type HttpResponse = {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
  /** True when the body was longer than `maxResponseBytes`. */
  truncated: boolean;
};

/** Reports that `reserveBytes` refused memory for the body. */
export class BudgetExhaustedError extends Error {
  override readonly name = 'BudgetExhaustedError';
}

/** Reports an answer that never ends and makes no progress. */
export class UnreasonableAnswerError extends Error {
  override readonly name = 'UnreasonableAnswerError';
}

/**
 * Maximum number of informational (1xx) responses before the answer. RFC 9110 section 15.2 sets none; servers send one `103
 * Early Hints`, or a `102 Processing` every few seconds, and no request takes longer than 15 seconds.
 */
export const MAX_INFORMATIONAL_RESPONSES = 5;
/**
 * Maximum number of parts a body arrives in. Each costs a few microseconds of the main thread, however small it is. 25
 * MiB in the smallest packets in use (536 bytes, RFC 1122 section 3.3.3) are 50,000 parts.
 */
const MAX_BODY_PARTS = 100_000;
/** Initial buffer for a body without Content-Length; it doubles each time it fills up. */
const FIRST_BYTES = 64 * 1024;

type AnswerLimits = {
  /** Size at which the body is cut. */
  maxBytes: number;
  /** Reserves memory for the next part of the body. The caller releases it. Returns false when none is left. */
  reserveBytes: (bytes: number) => boolean;
};

/** Receives the callbacks of undici for one request, and provides the result. */
export class AnswerReader implements Dispatcher.DispatchHandler {
  readonly answer: Promise<HttpResponse>;
  readonly #limits: AnswerLimits;
  readonly #settle: PromiseWithResolvers<HttpResponse>;
  #controller: Dispatcher.DispatchController | undefined;
  #aborted: Error | undefined;
  #informational = 0;
  #status = 0;
  #headers: HttpResponse['headers'] = {};
  #parts = 0;
  #held: Buffer = Buffer.alloc(0);
  #sizeBytes = 0;

  constructor(limits: AnswerLimits) {
    this.#limits = limits;
    this.#settle = Promise.withResolvers();
    this.answer = this.#settle.promise;
  }

  /** Ends the request. It works also while the connection is being opened. */
  abort(reason: Error): void {
    this.#aborted = reason;
    this.#settle.reject(reason);
    this.#controller?.abort(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#aborted) controller.abort(this.#aborted);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: HttpResponse['headers'],
  ): void {
    if (status >= 200) {
      this.#status = status;
      this.#headers = headers;
      return;
    }
    this.#informational += 1;
    if (this.#informational > MAX_INFORMATIONAL_RESPONSES) {
      throw new UnreasonableAnswerError(
        `the server sent more than ${MAX_INFORMATIONAL_RESPONSES} informational responses and no answer`,
      );
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, part: Buffer): void {
    const { maxBytes } = this.#limits;
    this.#parts += 1;
    if (this.#parts > MAX_BODY_PARTS) {
      throw new UnreasonableAnswerError(`the body came in more than ${MAX_BODY_PARTS} pieces`);
    }
    const comes = this.#sizeBytes + part.length;
    if (comes > this.#held.length && this.#held.length < maxBytes) this.#grow(comes);
    this.#sizeBytes += part.copy(this.#held, this.#sizeBytes);
    if (comes <= maxBytes) return;
    this.#finish(true);
    controller.abort(new Error('the rest of the body is not needed'));
  }

  onResponseEnd(): void {
    this.#finish(false);
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#settle.reject(error);
  }

  /**
   * Enlarges the buffer of the body: to the size that Content-Length announces, or to twice its size when there is no
   * such header.
   */
  #grow(neededBytes: number): void {
    const announced = Number(this.#headers['content-length'] ?? FIRST_BYTES);
    const wanted = Math.max(neededBytes, this.#held.length === 0 ? announced : this.#held.length * 2);
    const sizeBytes = Math.min(wanted, this.#limits.maxBytes);
    if (!this.#limits.reserveBytes(sizeBytes - this.#held.length)) {
      throw new BudgetExhaustedError('there is no memory for the response');
    }
    const larger = Buffer.allocUnsafeSlow(sizeBytes);
    this.#held.copy(larger);
    this.#held = larger;
  }

  #finish(truncated: boolean): void {
    const body = truncated ? this.#held : this.#held.subarray(0, this.#sizeBytes);
    this.#settle.resolve({ status: this.#status, headers: this.#headers, body, truncated });
  }
}
