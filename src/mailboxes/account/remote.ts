/**
 * Accounts of another thread, for the connections of this one: what the IMAP server calls crosses a port to serve-remote.ts, and
 * the answers come back. A session whose account, or whose thread, can no longer be used is answered BYE.
 */
import type { MessagePort } from 'node:worker_threads';
import { type Account, isRefusal, type Refusal, type SelectedMailbox } from '../../mail/imap/session.ts';
import type { Refusal as DropRefusal } from '../../mail/pop3/session.ts';
import { decodeError } from '../../system/encoded-error.ts';
import type { MaildropListing } from './account-maildrop.ts';
import { AppendSource } from './append-source.ts';
import {
  type CallEvent,
  type ChunkMethods,
  type FromAccount,
  type Pulled,
  type Request,
  type SelectionData,
  type ToAccount,
  UNAVAILABLE,
  type ValueMethods,
} from './remote-messages.ts';

/** The account of one session of IMAP. */
type RemoteAccount = {
  account: Account;
  /** The connection has ended. */
  close(): void;
};

/** The maildrop of one session of POP3. Once it has ended, each method returns the refusal of `ended`. */
export type RemoteMaildrop = {
  ended: Promise<Refusal>;
  openMaildrop(): Promise<MaildropListing | DropRefusal | Refusal>;
  retrieve(from: number, count: number): AsyncGenerator<Buffer, DropRefusal | Refusal | undefined, undefined>;
  quitMaildrop(indexes: readonly number[]): Promise<Refusal | undefined>;
  /** The connection has ended. */
  close(): void;
};

export type AccountLink = {
  /** Returns the account of a session that the other side serves under this number. */
  open(session: number, disabledCapabilities: readonly string[]): RemoteAccount;
  /** Returns the maildrop of a session that the other side serves under this number. */
  openMaildrop(session: number): RemoteMaildrop;
};

/** Returns the accounts that the other side of the port serves. */
export function createAccountLink(port: MessagePort): AccountLink {
  const sessions = new Map<number, RemoteSession>();
  let hasEnded = false;
  port.on('message', (message: FromAccount) => sessions.get(message.session)?.receive(message));
  port.on('close', () => {
    hasEnded = true;
    for (const session of sessions.values()) session.end(UNAVAILABLE);
    sessions.clear();
  });
  function begin(number: number): { session: RemoteSession; close(): void } {
    const session = new RemoteSession(number, port);
    if (hasEnded) session.end(UNAVAILABLE);
    else sessions.set(number, session);
    return {
      session,
      close() {
        if (!sessions.delete(number)) return;
        session.post({ kind: 'end' });
        // The call that runs gets no answer from the other thread any more.
        session.end(UNAVAILABLE);
      },
    };
  }
  return {
    open(number, disabledCapabilities) {
      const { session, close } = begin(number);
      return { account: createAccount(session, disabledCapabilities), close };
    },
    openMaildrop(number) {
      const { session, close } = begin(number);
      return {
        ended: session.ended,
        openMaildrop: () => callForValue(session, 'openMaildrop'),
        retrieve: (...args) => callForChunks(session, 'retrieve', ...args),
        quitMaildrop: async (...args) =>
          (await callForValue(session, 'quitMaildrop', ...args)) as Refusal | undefined,
        close,
      };
    },
  };
}

/** `ToAccount` without the number of the session. */
type SessionMessage = ToAccount extends infer Message
  ? Message extends unknown
    ? Omit<Message, 'session'>
    : never
  : never;

/** The messages of one session. The server calls one method at a time, so there is at most one call. */
class RemoteSession {
  /** Resolves with the refusal of all later calls. */
  readonly ended: Promise<Refusal>;
  readonly #resolveEnded: (refusal: Refusal) => void;
  readonly #listeners = new Set<() => void>();
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
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.post({ kind: 'watch' });
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.post({ kind: 'unwatch' });
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
        if (message.call === this.#lastCall) this.#call?.receive(message.event);
        break;
      case 'changed':
        this.#notify();
        break;
      case 'ended':
        this.end(message.refusal);
    }
  }

  /** Answers the call that runs, and all later ones, with this refusal. */
  end(refusal: Refusal): void {
    this.#ended = refusal;
    this.#resolveEnded(refusal);
    this.#call?.receive({ kind: 'done', value: refusal });
    this.#notify();
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) listener();
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

  post(message: { kind: 'taken' | 'stop' }): void {
    this.#session.post({ ...message, call: this.number });
  }
}

/** Returns the result of a call that has ended. @throws the error of the method */
function resultOf<Value>(event: CallEvent): Value {
  if (event.kind === 'failed') throw decodeError(event.error);
  if (event.kind !== 'done') throw new Error(`a call has ended with "${event.kind}"`);
  return event.value as Value;
}

type Result<Method> = Method extends (...args: never) => Promise<infer Value> ? Value : never;

async function callForValue<Name extends keyof ValueMethods>(
  session: RemoteSession,
  name: Name,
  ...args: Parameters<ValueMethods[Name]>
): Promise<Result<ValueMethods[Name]>> {
  return resultOf(await session.begin({ kind: 'value', name, args }).next());
}

/** The value that completes the chunks of a method. */
type Completion<Name extends keyof ChunkMethods> =
  ReturnType<ChunkMethods[Name]> extends AsyncGenerator<Buffer, infer Value> ? Value : never;

async function* callForChunks<Name extends keyof ChunkMethods>(
  session: RemoteSession,
  name: Name,
  ...args: Parameters<ChunkMethods[Name]>
): AsyncGenerator<Buffer, Completion<Name>, undefined> {
  const call = session.begin({ kind: 'chunks', name, args });
  let isRunning = true;
  try {
    for (;;) {
      const event = await call.next();
      if (event.kind !== 'chunk') {
        isRunning = false;
        return resultOf(event);
      }
      const { buffer, byteOffset, byteLength } = event.bytes;
      yield Buffer.from(buffer, byteOffset, byteLength);
      call.post({ kind: 'taken' });
    }
  } finally {
    if (isRunning) call.post({ kind: 'stop' });
  }
}

async function callAppend(
  session: RemoteSession,
  ...[mailbox, messages, replaced]: Parameters<Account['append']>
): Promise<Result<Account['append']>> {
  const source = new AppendSource(messages);
  try {
    // A client that sends slowly keeps the account busy only with what it has to be asked for.
    const parts = await source.pull('message');
    const call = session.begin({ kind: 'append', mailbox, replaced, parts });
    for (;;) {
      const event = await call.next();
      if (event.kind === 'pull') {
        const pulled = await source.pull(event.what);
        session.post({ kind: 'pulled', call: call.number, parts: pulled }, memoryOf(pulled));
        continue;
      }
      // The failure of the client's side says more than that of the call, which it has caused.
      if (event.kind === 'failed' && source.failure !== undefined) throw source.failure;
      return resultOf(event);
    }
  } finally {
    await source.close();
  }
}

function memoryOf(parts: readonly Pulled[]): ArrayBuffer[] {
  return parts.flatMap((part) => (part.kind === 'content' ? [part.bytes.buffer] : []));
}

async function callSelect(
  session: RemoteSession,
  ...args: Parameters<Account['select']>
): Promise<Result<Account['select']>> {
  const answer = resultOf<SelectionData | Refusal>(await session.begin({ kind: 'select', args }).next());
  return isRefusal(answer) ? answer : { ...answer, selected: createSelected(session) };
}

function createAccount(session: RemoteSession, disabledCapabilities: readonly string[]): Account {
  return {
    disabledCapabilities,
    ended: session.ended,
    enable: (features) => session.post({ kind: 'enable', features }),
    list: (...args) => callForChunks(session, 'list', ...args),
    status: (...args) => callForValue(session, 'status', ...args),
    quota: () => callForValue(session, 'quota'),
    getMetadata: (...args) => callForChunks(session, 'getMetadata', ...args),
    setMetadata: (...args) => callForValue(session, 'setMetadata', ...args),
    create: (...args) => callForValue(session, 'create', ...args),
    delete: (...args) => callForValue(session, 'delete', ...args),
    rename: (...args) => callForValue(session, 'rename', ...args),
    subscribe: (...args) => callForValue(session, 'subscribe', ...args),
    unsubscribe: (...args) => callForValue(session, 'unsubscribe', ...args),
    notify: (...args) => callForChunks(session, 'notify', ...args),
    accountChanges: () => callForChunks(session, 'accountChanges'),
    watch: (onChange) => session.watch(onChange),
    append: (...args) => callAppend(session, ...args),
    select: (...args) => callSelect(session, ...args),
  };
}

function createSelected(session: RemoteSession): SelectedMailbox {
  return {
    fetch: (...args) => callForChunks(session, 'fetch', ...args),
    store: (...args) => callForChunks(session, 'store', ...args),
    search: (...args) => callForChunks(session, 'search', ...args),
    cancelUpdates: (...args) => callForValue(session, 'cancelUpdates', ...args),
    copy: (...args) => callForValue(session, 'copy', ...args),
    move: (...args) => callForValue(session, 'move', ...args),
    expunge: (...args) => callForValue(session, 'expunge', ...args),
    changes: (...args) => callForChunks(session, 'changes', ...args),
    close: async (options) => resultOf(await session.begin({ kind: 'close', args: [options] }).next()),
  };
}
