/**
 * Serves accounts of this thread to the connections of another one (remote.ts). The calls of a session run one after the other.
 * The chunks of an answer wait here while the client does not read.
 */
import type { MessagePort } from 'node:worker_threads';
import {
  type Account,
  type AppendMessage,
  type Chunks,
  isRefusal,
  type MessagePart,
  type Refusal,
  type SelectedMailbox,
} from '../mail/imap/session.ts';
import { encodeError } from '../system/encoded-error.ts';
import type { AccountMaildrop } from './account-maildrop.ts';
import {
  type CallEvent,
  type FromAccount,
  MAX_CHUNKS_AHEAD,
  movable,
  type Pulled,
  type Request,
  type ToAccount,
  UNAVAILABLE,
} from './remote-messages.ts';

export type AccountServer = {
  /** Serves an account or a maildrop to a new session, and returns its number. `onEnd` is called when the session has ended. */
  serve(account: Account | AccountMaildrop, onEnd: () => void): number;
  /** Ends the session with this refusal, which is a BYE. */
  end(session: number, refusal: Refusal): void;
  /** False when the other thread has ended. */
  readonly isOpen: boolean;
};

/** Returns a server for the sessions of this port. When the other thread closes it, all sessions end. */
export function serveAccounts(port: MessagePort): AccountServer {
  const sessions = new Map<number, ServedSession>();
  let last = 0;
  let isOpen = true;
  const server: AccountServer = {
    serve(account, onEnd) {
      const number = ++last;
      const post = (message: SessionAnswer, transfer: ArrayBuffer[] = []): void =>
        port.postMessage({ ...message, session: number } satisfies FromAccount, transfer);
      sessions.set(number, new ServedSession({ account, post, onEnd }));
      if (!isOpen) end(number);
      return number;
    },
    end(number, refusal) {
      if (!sessions.has(number)) return;
      port.postMessage({ kind: 'ended', session: number, refusal } satisfies FromAccount);
      end(number);
    },
    get isOpen() {
      return isOpen;
    },
  };
  function end(number: number): void {
    const session = sessions.get(number);
    sessions.delete(number);
    void session?.close();
  }
  function receive(message: ToAccount): void {
    const session = sessions.get(message.session);
    if (session) session.receive(message);
    // The session has ended before its connection knew of it.
    else if (message.kind === 'call')
      port.postMessage({
        kind: 'ended',
        session: message.session,
        refusal: UNAVAILABLE,
      } satisfies FromAccount);
  }
  port.on('message', (message: ToAccount) => {
    if (message.kind === 'end') end(message.session);
    else receive(message);
  });
  port.on('close', () => {
    isOpen = false;
    for (const number of [...sessions.keys()]) end(number);
  });
  return server;
}

type SessionAnswer = FromAccount extends infer Message
  ? Message extends unknown
    ? Omit<Message, 'session'>
    : never
  : never;

type SessionOptions = {
  account: Account | AccountMaildrop;
  post(message: SessionAnswer, transfer?: ArrayBuffer[]): void;
  onEnd(): void;
};

/** The call that runs: what the client has taken of its chunks, and what it is asked for. */
class ServedCall {
  isStopped = false;
  readonly #post: (event: CallEvent, transfer?: ArrayBuffer[]) => void;
  #ahead = 0;
  #wake: (() => void) | undefined;
  /** Parts of the messages of APPEND that have come and were not read. */
  #parts: Pulled[] = [];
  #wakeReader: (() => void) | undefined;

  constructor(post: (event: CallEvent, transfer?: ArrayBuffer[]) => void) {
    this.#post = post;
  }

  /** Sends the answer of the method. */
  async run(answer: () => Promise<unknown>): Promise<void> {
    try {
      this.#post({ kind: 'done', value: await answer() });
    } catch (error) {
      this.#post({ kind: 'failed', error: encodeError(error) });
    }
  }

  /** Sends chunks as the client takes them, and returns what completes the call. */
  async produce(chunks: Chunks): Promise<unknown> {
    try {
      for (;;) {
        while (this.#ahead >= MAX_CHUNKS_AHEAD && !this.isStopped) await this.#untilChange();
        if (this.isStopped) return undefined;
        const next = await chunks.next();
        if (next.done) return next.value;
        if (next.value.length === 0) continue;
        const bytes = movable(next.value);
        this.#ahead++;
        this.#post({ kind: 'chunk', bytes }, [bytes.buffer]);
      }
    } finally {
      await chunks.return(undefined);
    }
  }

  /** Returns the messages that the client sends. */
  async *messages(parts: Pulled[]): AsyncGenerator<AppendMessage, void, undefined> {
    this.#parts = parts;
    for (;;) {
      const pulled = await this.#pull('message');
      if (pulled.kind !== 'message') return;
      const { message } = pulled;
      yield message.isCatenated
        ? { ...message, content: this.#content() }
        : { ...message, content: this.#content() as AsyncGenerator<Buffer> };
    }
  }

  /** Yields the content of a message; that of a literal has no parts. */
  async *#content(): AsyncGenerator<Buffer | MessagePart, void, undefined> {
    for (;;) {
      const pulled = await this.#pull('content');
      if (pulled.kind === 'part') {
        yield pulled.part;
        continue;
      }
      if (pulled.kind !== 'content') return;
      if (pulled.bytes.length > 0) yield Buffer.from(pulled.bytes.buffer);
      if (pulled.isLast) return;
    }
  }

  /** Returns the next part, for which the client is asked unless it has come. @throws Error when it sends no more */
  async #pull(what: 'message' | 'content'): Promise<Pulled> {
    // Content that was not read is of no interest once the next message is asked for.
    if (what === 'message') while (this.#parts[0]?.kind === 'content') this.#parts.shift();
    if (this.#parts.length === 0 && !this.isStopped) {
      this.#post({ kind: 'pull', what });
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
    const part = this.#parts.shift();
    if (!part || part.kind === 'failed') throw new Error('the client does not send the message');
    return part;
  }

  pulled(parts: Pulled[]): void {
    this.#parts = parts;
    this.#wakeReader?.();
  }

  taken(chunks: number): void {
    this.#ahead -= chunks;
    this.#wake?.();
  }

  /** Ends what the client no longer wants, or no longer sends. */
  stop(): void {
    this.isStopped = true;
    this.#wake?.();
    this.pulled([]);
  }

  async #untilChange(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }
}

class ServedSession {
  readonly #options: SessionOptions;
  #selected: SelectedMailbox | undefined;
  #unwatch: (() => void) | undefined;
  /** True while the other thread was notified of changes, and has not asked for them. */
  #isTold = false;
  #isOpen = true;
  #call: { number: number; served: ServedCall } | undefined;
  /** The calls so far. */
  #running: Promise<void> = Promise.resolve();

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  receive(message: ToAccount): void {
    switch (message.kind) {
      case 'call':
        this.#begin(message.call, message.request);
        break;
      case 'taken':
        this.#callOf(message.call)?.taken(message.chunks);
        break;
      case 'stop':
        this.#callOf(message.call)?.stop();
        break;
      case 'pulled':
        this.#callOf(message.call)?.pulled(message.parts);
        break;
      case 'enable':
        this.#account().enable(message.features);
        break;
      case 'watch':
        this.#isTold = false;
        this.#unwatch = this.#account().watch(() => this.#tell());
        break;
      case 'unwatch':
        this.#endWatch();
    }
  }

  /** Ends the call that runs, and then the selection. */
  async close(): Promise<void> {
    this.#isOpen = false;
    this.#endWatch();
    this.#call?.served.stop();
    await this.#running;
    try {
      await this.#selected?.close({ expunge: false });
    } finally {
      this.#options.onEnd();
    }
  }

  #begin(number: number, request: Request): void {
    const post = (event: CallEvent, transfer?: ArrayBuffer[]): void => {
      if (this.#isOpen) this.#options.post({ kind: 'event', call: number, event }, transfer);
    };
    const served = new ServedCall(post);
    this.#call = { number, served };
    this.#running = this.#running.then(async () => {
      if (this.#isOpen) await served.run(() => this.#answer(request, served));
      // Sessions wait for hours after their last call.
      if (this.#call?.served === served) this.#call = undefined;
    });
  }

  #callOf(number: number): ServedCall | undefined {
    return this.#call?.number === number ? this.#call.served : undefined;
  }

  async #answer(request: Request, call: ServedCall): Promise<unknown> {
    switch (request.kind) {
      case 'value':
        return await this.#method(request)(...request.args);
      case 'chunks':
        if (request.name === 'changes' || request.name === 'accountChanges') this.#isTold = false;
        return await call.produce((await this.#method(request)(...request.args)) as Chunks);
      case 'append':
        return await this.#account().append(request.mailbox, call.messages(request.parts), request.replaced);
      case 'select':
        return await this.#select(request.args);
      case 'close':
        return await this.#closeSelected(request.args);
    }
  }

  /** Returns the method that a request names. @throws Error when no mailbox is selected for it */
  #method({ name }: Request & { kind: 'value' | 'chunks' }): (...args: readonly unknown[]) => unknown {
    const { account } = this.#options;
    const object = name in account ? account : this.#requireSelected();
    const methods = object as Partial<Record<typeof name, (...args: readonly unknown[]) => unknown>>;
    const method = methods[name];
    if (!method) throw new Error(`the session has no method ${name}`);
    return method.bind(object);
  }

  /** Returns the account of a session of IMAP. */
  #account(): Account {
    const { account } = this.#options;
    if (!('select' in account)) throw new Error('a maildrop has no mailboxes');
    return account;
  }

  #requireSelected(): SelectedMailbox {
    if (!this.#selected) throw new Error('no mailbox is selected');
    return this.#selected;
  }

  async #select(args: Parameters<Account['select']>): Promise<unknown> {
    this.#selected = undefined;
    const answer = await this.#account().select(...args);
    if (isRefusal(answer)) return answer;
    const { selected, ...data } = answer;
    this.#selected = selected;
    return data;
  }

  async #closeSelected(args: Parameters<SelectedMailbox['close']>): Promise<unknown> {
    const refusal = await this.#requireSelected().close(...args);
    if (!refusal) this.#selected = undefined;
    return refusal;
  }

  #tell(): void {
    if (this.#isTold) return;
    this.#isTold = true;
    this.#options.post({ kind: 'changed' });
  }

  #endWatch(): void {
    this.#unwatch?.();
    this.#unwatch = undefined;
  }
}
