/** The messages of one session with the thread of its account, from the side of its connection: calls, and what comes back. */
import type { MessagePort } from 'node:worker_threads';
import type { Refusal } from '../mail/imap/session.ts';
import { decodeError } from '../system/encoded-error.ts';
import {
  type CallEvent,
  CHUNKS_PER_REPORT,
  type ChunkMethods,
  type FromAccount,
  type Request,
  type ToAccount,
  type ValueMethods,
} from './remote-messages.ts';

/** `ToAccount` without the number of the session. */
type SessionMessage = ToAccount extends infer Message
  ? Message extends unknown
    ? Omit<Message, 'session'>
    : never
  : never;

/** The messages of one session. The server calls one method at a time, so there is at most one call. */
export class RemoteSession {
  /** Resolves with the refusal of all later calls. */
  readonly ended: Promise<Refusal>;
  readonly #resolveEnded: (refusal: Refusal) => void;
  #listeners: readonly (() => void)[] = [];
  readonly #number: number;
  readonly #port: MessagePort;
  #call: RemoteCall | undefined;
  #lastCall = 0;
  #ended: Refusal | undefined;

  constructor(number: number, port: MessagePort) {
    this.#number = number;
    this.#port = port;
    const { promise, resolve } = Promise.withResolvers<Refusal>();
    this.ended = promise;
    this.#resolveEnded = resolve;
  }

  post(message: SessionMessage, transfer: ArrayBuffer[] = []): void {
    if (this.#ended) return;
    this.#port.postMessage({ ...message, session: this.#number } satisfies ToAccount, transfer);
  }

  /** Calls the listener when the account or the selected mailbox has changed, until the returned function is called. */
  watch(listener: () => void): () => void {
    // The next call says that the account has ended.
    if (this.#ended) listener();
    this.#listeners = [...this.#listeners, listener];
    if (this.#listeners.length === 1) this.post({ kind: 'watch' });
    return () => {
      if (!this.#listeners.includes(listener)) return;
      this.#listeners = this.#listeners.filter((one) => one !== listener);
      if (this.#listeners.length === 0) this.post({ kind: 'unwatch' });
    };
  }

  begin(request: Request): RemoteCall {
    const number = ++this.#lastCall;
    const call = new RemoteCall(number, this);
    this.#call = call;
    if (this.#ended) call.receive({ kind: 'done', value: this.#ended });
    else this.post({ kind: 'call', call: number, request });
    return call;
  }

  receive(message: FromAccount): void {
    switch (message.kind) {
      case 'event':
        // An event that comes late for a call that was stopped is of no use.
        if (message.call === this.#lastCall) this.#receiveEvent(message.event);
        break;
      case 'changed':
        this.#notify();
        break;
      case 'ended':
        this.end(message.refusal);
    }
  }

  #receiveEvent(event: CallEvent): void {
    const call = this.#call;
    // Sessions wait for hours after their last call.
    if (event.kind === 'done' || event.kind === 'failed') this.#call = undefined;
    call?.receive(event);
  }

  /** Answers the call that runs, and all later ones, with this refusal. */
  end(refusal: Refusal): void {
    this.#ended = refusal;
    this.#resolveEnded(refusal);
    this.#call?.receive({ kind: 'done', value: refusal });
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Events of one call, which wait until they are read. */
class RemoteCall {
  readonly number: number;
  readonly #session: RemoteSession;
  readonly #events: CallEvent[] = [];
  #wake: (() => void) | undefined;

  constructor(number: number, session: RemoteSession) {
    this.number = number;
    this.#session = session;
  }

  receive(event: CallEvent): void {
    this.#events.push(event);
    this.#wake?.();
  }

  async next(): Promise<CallEvent> {
    for (;;) {
      const event = this.#events.shift();
      if (event) return event;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  post(message: { kind: 'taken'; chunks: number } | { kind: 'stop' }): void {
    this.#session.post({ ...message, call: this.number });
  }
}

/** Returns the result of a call that has ended. @throws the error of the method */
export function resultOf<Value>(event: CallEvent): Value {
  if (event.kind === 'failed') throw decodeError(event.error);
  if (event.kind !== 'done') throw new Error(`a call has ended with "${event.kind}"`);
  return event.value as Value;
}

/** Value that a method resolves with. */
export type Result<Method> = Method extends (...args: never) => Promise<infer Value> ? Value : never;

/** Calls a method that answers with one value. */
export async function callForValue<Name extends keyof ValueMethods>(
  session: RemoteSession,
  name: Name,
  ...args: Parameters<ValueMethods[Name]>
): Promise<Result<ValueMethods[Name]>> {
  return resultOf(await session.begin({ kind: 'value', name, args }).next());
}

/** The value that completes the chunks of a method. */
type Completion<Name extends keyof ChunkMethods> =
  ReturnType<ChunkMethods[Name]> extends AsyncGenerator<Buffer, infer Value> ? Value : never;

/** Calls a method that answers with chunks. */
export async function* callForChunks<Name extends keyof ChunkMethods>(
  session: RemoteSession,
  name: Name,
  ...args: Parameters<ChunkMethods[Name]>
): AsyncGenerator<Buffer, Completion<Name>, undefined> {
  const call = session.begin({ kind: 'chunks', name, args });
  let isRunning = true;
  let taken = 0;
  try {
    for (;;) {
      const event = await call.next();
      if (event.kind !== 'chunk') {
        isRunning = false;
        return resultOf(event);
      }
      const { buffer, byteOffset, byteLength } = event.bytes;
      yield Buffer.from(buffer, byteOffset, byteLength);
      if (++taken % CHUNKS_PER_REPORT === 0) call.post({ kind: 'taken', chunks: CHUNKS_PER_REPORT });
    }
  } finally {
    if (isRunning) call.post({ kind: 'stop' });
  }
}
