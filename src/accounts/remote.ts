/**
 * Accounts of another thread, for the connections of this one: what the IMAP server calls crosses a port to serve-remote.ts, and
 * the answers come back. A session whose account, or whose thread, can no longer be used is answered BYE.
 */
import type { MessagePort } from 'node:worker_threads';
import {
  type Account,
  type Chunks,
  isRefusal,
  type Refusal,
  type SelectedMailbox,
} from '../mail/imap/session.ts';
import type { Refusal as DropRefusal } from '../mail/pop3/session.ts';
import type { MaildropListing } from './account-maildrop.ts';
import { AppendSource } from './append-source.ts';
import { type FromAccount, type Pulled, type SelectionData, UNAVAILABLE } from './remote-messages.ts';
import { callForChunks, callForValue, RemoteSession, type Result, resultOf } from './remote-session.ts';

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
  /** Returns the account of a session that the other side serves under this number. `close` says that the connection has ended. */
  open(session: number, disabledCapabilities: readonly string[]): { account: Account; close(): void };
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
      return { account: new RemoteAccount(session, disabledCapabilities), close };
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
  return isRefusal(answer) ? answer : { ...answer, selected: new RemoteSelected(session) };
}

/** The account of a session. Methods of classes cost idle sessions nothing, of which there are thousands. */
class RemoteAccount implements Account {
  readonly disabledCapabilities: readonly string[];
  readonly #session: RemoteSession;

  constructor(session: RemoteSession, disabledCapabilities: readonly string[]) {
    this.#session = session;
    this.disabledCapabilities = disabledCapabilities;
  }

  get ended(): Promise<Refusal> {
    return this.#session.ended;
  }

  enable(...[features]: Parameters<Account['enable']>): void {
    this.#session.post({ kind: 'enable', features });
  }

  list(...args: Parameters<Account['list']>): Chunks {
    return callForChunks(this.#session, 'list', ...args);
  }

  status(...args: Parameters<Account['status']>): ReturnType<Account['status']> {
    return callForValue(this.#session, 'status', ...args);
  }

  quota(): ReturnType<Account['quota']> {
    return callForValue(this.#session, 'quota');
  }

  getMetadata(...args: Parameters<Account['getMetadata']>): Chunks {
    return callForChunks(this.#session, 'getMetadata', ...args);
  }

  setMetadata(...args: Parameters<Account['setMetadata']>): ReturnType<Account['setMetadata']> {
    return callForValue(this.#session, 'setMetadata', ...args);
  }

  create(...args: Parameters<Account['create']>): ReturnType<Account['create']> {
    return callForValue(this.#session, 'create', ...args);
  }

  delete(...args: Parameters<Account['delete']>): ReturnType<Account['delete']> {
    return callForValue(this.#session, 'delete', ...args);
  }

  rename(...args: Parameters<Account['rename']>): ReturnType<Account['rename']> {
    return callForValue(this.#session, 'rename', ...args);
  }

  subscribe(...args: Parameters<Account['subscribe']>): ReturnType<Account['subscribe']> {
    return callForValue(this.#session, 'subscribe', ...args);
  }

  unsubscribe(...args: Parameters<Account['unsubscribe']>): ReturnType<Account['unsubscribe']> {
    return callForValue(this.#session, 'unsubscribe', ...args);
  }

  notify(...args: Parameters<Account['notify']>): Chunks {
    return callForChunks(this.#session, 'notify', ...args);
  }

  accountChanges(): Chunks {
    return callForChunks(this.#session, 'accountChanges');
  }

  watch(...[onChange]: Parameters<Account['watch']>): () => void {
    return this.#session.watch(onChange);
  }

  append(...args: Parameters<Account['append']>): ReturnType<Account['append']> {
    return callAppend(this.#session, ...args);
  }

  select(...args: Parameters<Account['select']>): ReturnType<Account['select']> {
    return callSelect(this.#session, ...args);
  }
}

class RemoteSelected implements SelectedMailbox {
  readonly #session: RemoteSession;

  constructor(session: RemoteSession) {
    this.#session = session;
  }

  readonly fetch = (...args: Parameters<SelectedMailbox['fetch']>): Chunks =>
    callForChunks(this.#session, 'fetch', ...args);

  store(...args: Parameters<SelectedMailbox['store']>): Chunks {
    return callForChunks(this.#session, 'store', ...args);
  }

  search(...args: Parameters<SelectedMailbox['search']>): Chunks {
    return callForChunks(this.#session, 'search', ...args);
  }

  cancelUpdates(
    ...args: Parameters<SelectedMailbox['cancelUpdates']>
  ): ReturnType<SelectedMailbox['cancelUpdates']> {
    return callForValue(this.#session, 'cancelUpdates', ...args);
  }

  copy(...args: Parameters<SelectedMailbox['copy']>): ReturnType<SelectedMailbox['copy']> {
    return callForValue(this.#session, 'copy', ...args);
  }

  move(...args: Parameters<SelectedMailbox['move']>): ReturnType<SelectedMailbox['move']> {
    return callForValue(this.#session, 'move', ...args);
  }

  expunge(...args: Parameters<SelectedMailbox['expunge']>): ReturnType<SelectedMailbox['expunge']> {
    return callForValue(this.#session, 'expunge', ...args);
  }

  changes(...args: Parameters<SelectedMailbox['changes']>): Chunks {
    return callForChunks(this.#session, 'changes', ...args);
  }

  async close(...args: Parameters<SelectedMailbox['close']>): ReturnType<SelectedMailbox['close']> {
    return resultOf(await this.#session.begin({ kind: 'close', args }).next());
  }
}
