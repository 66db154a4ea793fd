/** Calls of functions in another thread: those that wait for an answer, and those that run for others. */
import type { MessagePort, Transferable } from 'node:worker_threads';
import { realClock, sleep } from '../clock.ts';
import { decodeError, encodeError } from '../encoded-error.ts';
import { AppError } from '../errors.ts';
import type { CallAnswer, CallRequest } from './messages.ts';
import type { Calls } from './part.ts';

type PendingCall = { resolve: (value: unknown) => void; reject: (error: unknown) => void };

/** Calls that were sent and not answered yet. */
export class PendingCalls {
  readonly #post: (request: CallRequest, transfer: readonly Transferable[]) => void;
  readonly #waiting = new Map<number, PendingCall>();
  #last = 0;

  constructor(post: (request: CallRequest, transfer: readonly Transferable[]) => void) {
    this.#post = post;
  }

  /** Returns the result. An input that cannot be cloned rejects. */
  call(name: string, input: unknown, transfer: readonly Transferable[] = []): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = ++this.#last;
      this.#waiting.set(id, { resolve, reject });
      try {
        this.#post({ kind: 'call', id, name, input }, transfer);
      } catch (error) {
        this.#waiting.delete(id);
        reject(error);
      }
    });
  }

  settle(answer: CallAnswer): void {
    const call = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ('error' in answer) call?.reject(decodeError(answer.error));
    else call?.resolve(answer.value);
  }

  /** Rejects all calls that wait, because nobody answers them any more. */
  rejectAll(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

/** The way of answers to the callers. */
type AnswerPort = { postMessage(answer: CallAnswer): void };

/** Runs the calls of other threads. */
export class CallServer {
  readonly #calls: Calls;
  readonly #port: AnswerPort;
  readonly #running = new Set<Promise<void>>();
  #isStopping = false;

  constructor(calls: Calls, port: AnswerPort) {
    this.#calls = calls;
    this.#port = port;
  }

  run({ id, name, input }: CallRequest): void {
    const done = this.#attempt(name, input)
      .then((value) => this.#answer({ kind: 'answer', id, value }))
      .catch((error) => this.#answer({ kind: 'answer', id, error: encodeError(error) }))
      .finally(() => this.#running.delete(done));
    this.#running.add(done);
  }

  /** Refuses further calls, and waits at most `graceMs` for those under way. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    await Promise.race([Promise.all(this.#running), sleep(realClock, graceMs)]);
  }

  async #attempt(name: string, input: unknown): Promise<unknown> {
    if (this.#isStopping)
      throw new AppError('unavailable', 'The daemon is stopping', { retryAfterSeconds: 5 });
    const call = Object.hasOwn(this.#calls, name) ? this.#calls[name] : undefined;
    if (!call) throw new Error(`the thread has no call "${name}"`);
    return call(input as never);
  }

  /** A value that cannot be cloned throws, and the caller then receives that error. */
  #answer(answer: CallAnswer): void {
    this.#port.postMessage(answer);
  }
}

/**
 * Returns functions that run elsewhere: each passes on its name, its input, and the ports and the memory that move with it. The names are those
 * of the type alone, and the other end refuses all that it does not have.
 */
export function remoteCalls<Functions extends Calls>(
  send: (name: string, input: unknown, transfer?: readonly Transferable[]) => Promise<unknown>,
): Functions {
  const get = (_functions: Functions, name: string | symbol) =>
    // An object with a function `then` counts as a promise for `await`.
    typeof name === 'symbol' || name === 'then'
      ? undefined
      : (input: unknown, transfer?: readonly Transferable[]) => send(name, input, transfer);
  return new Proxy({} as Functions, { get });
}

/**
 * Returns the functions of the thread at the other end of a port. When the port closes, calls that wait are interrupted, and later
 * ones are refused as unavailable. The port alone does not keep this thread running.
 */
export function createPortCalls<Functions extends Calls>(port: MessagePort): Functions {
  const pending = new PendingCalls((request, transfer) => port.postMessage(request, transfer));
  let isOpen = true;
  port.on('message', (answer: CallAnswer) => pending.settle(answer));
  port.on('close', () => {
    isOpen = false;
    pending.rejectAll(interrupted('A thread of the daemon'));
  });
  port.unref();
  return remoteCalls<Functions>(async (...call) => {
    if (!isOpen) throw otherEndIsGone();
    return pending.call(...call);
  });
}

function otherEndIsGone(): AppError {
  return new AppError('unavailable', 'A thread of the daemon has ended', { retryAfterSeconds: 1 });
}

/** Returns the error of a call whose thread has ended before the answer came: the work may have been done. */
export function interrupted(what: string): AppError {
  return new AppError('interrupted', `${what} ended during the request, which may have been carried out`, {
    retryAfterSeconds: 1,
  });
}

/** Runs these functions for the thread at the other end of a port. The port alone does not keep this thread running. */
export function servePortCalls(port: MessagePort, calls: Calls): void {
  const server = new CallServer(calls, port);
  port.on('message', (request: CallRequest) => server.run(request));
  port.unref();
}
