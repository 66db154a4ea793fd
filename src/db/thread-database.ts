/**
 * One database in a database thread, as its client sees it. It numbers requests, sends those of one turn of the event
 * loop together, and settles their promises. Its limits are its own: a database with many requests takes nothing from
 * the others in its thread.
 */
import { MessageChannel, type MessagePort, type Transferable } from 'node:worker_threads';
import type { Clock } from '../system/clock.ts';
import { decodeError } from '../system/encoded-error.ts';
import { AppError } from '../system/errors.ts';
import type { Wakeups } from '../system/wakeups.ts';
import type { CollectedPages } from './changed-pages.ts';
import { CopyPace, flushCopy } from './copy-database.ts';
import { inputBytes } from './input-bytes.ts';
import { SharedLoad } from './shared-load.ts';
import type { Answer, CopyEnd, Request, ThreadMessage, ThreadReply } from './thread-messages.ts';

/**
 * Maximum number of pending requests. Further ones are refused with a time to retry, instead of waiting.
 */
export const MAX_PENDING = 2_000;
/**
 * Maximum size of the inputs of pending requests, sixteen groups of the writer. While they wait they are in memory
 * twice.
 */
export const MAX_PENDING_BYTES = 64 * 1024 * 1024;

type Pending = {
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  sizeBytes: number;
  /** Time of the request on the monotonic clock, in milliseconds. */
  since: number;
};

/** The thread as its databases see it. */
export type ThreadLink = {
  readonly clock: Pick<Clock, 'elapsed'>;
  post(message: ThreadMessage<unknown>, transfer?: readonly Transferable[]): void;
  /** Time of the thread's last answer about any of its databases, on the monotonic clock. */
  readonly answeredAt: number;
  /** Shows the pending requests to the main thread, when another one sends them. */
  readonly load?: SharedLoad;
  /** Is called once the database is closed, or could not be opened. */
  forget(): void;
};

export class ThreadDatabase {
  /** Resolves, with the reason, only if the database cannot be used any more although it was not closed. */
  readonly failed: Promise<Error>;
  #reportFailure: (error: Error) => void = () => {};
  readonly #link: ThreadLink;
  readonly #number: number;
  /** Pending requests by id, oldest first. */
  readonly #pending = new Map<number, Pending>();
  #pendingBytes = 0;
  /** The pending writes of other threads, which `connect` has connected. */
  #loads: readonly SharedLoad[] = [];
  /** Is called for each write of any thread that was refused because the disk is full. */
  onDiskFull: () => void = () => {};
  /** Is called for each wake-up that a write has asked for. */
  onWakeup: Wakeups['notify'] = () => {};
  /** The reason why no operation can run any more. */
  #ended: Error | undefined;
  #opening: Promise<unknown> | undefined;
  #outbox: Request[] = [];
  /** Functions that are called when no request is pending any more. */
  readonly #idle: (() => void)[] = [];
  #lastId = 0;

  /** Use `DatabaseThread.open`. `number` names the database in messages. */
  constructor(link: ThreadLink, number: number) {
    this.#link = link;
    this.#number = number;
    this.failed = new Promise((resolve) => {
      this.#reportFailure = resolve;
    });
  }

  /** Number of pending requests of this thread. */
  get pending(): number {
    return this.#pending.size;
  }

  /** Number of pending requests of all threads. */
  get totalPending(): number {
    return this.#loads.reduce((sum, { writes }) => sum + writes, this.#pending.size);
  }

  /** Size of the inputs of the pending requests of all threads, in bytes. */
  get totalPendingBytes(): number {
    return this.#loads.reduce((sum, { bytes }) => sum + bytes, this.#pendingBytes);
  }

  /** Age of the oldest pending request, in milliseconds; 0 when there is none. */
  get lagMs(): number {
    const [oldest] = this.#pending.values();
    return oldest ? this.#link.clock.elapsed() - oldest.since : 0;
  }

  /** Time in milliseconds for which the thread has answered nothing although requests wait; 0 when none waits. */
  get silentMs(): number {
    const [oldest] = this.#pending.values();
    return oldest ? this.#link.clock.elapsed() - Math.max(oldest.since, this.#link.answeredAt) : 0;
  }

  /**
   * Opens the database in the thread. Resolves with what the thread found out about it.
   * @throws the error for which it could not be opened
   */
  async open(options: unknown): Promise<unknown> {
    const opening = this.#ask((id) => this.#link.post({ kind: 'open', database: this.#number, id, options }));
    this.#opening = opening;
    try {
      return await opening;
    } catch (error) {
      this.#ended ??= error as Error;
      this.#link.forget();
      throw error;
    }
  }

  run(operation: string, input: unknown, given: readonly ArrayBuffer[] = []): Promise<unknown> {
    if (this.#ended) return Promise.reject(this.#ended);
    const sizeBytes = inputBytes(input);
    if (!this.#fits(sizeBytes)) {
      return Promise.reject(
        new AppError('unavailable', 'Too many writes are waiting', { retryAfterSeconds: 1 }),
      );
    }
    return this.#ask((id) => {
      const memory = given.length === 0 ? {} : { given };
      this.#outbox.push({ id, operation, input, sizeBytes, ...memory });
      // All requests of one turn of the event loop share a message: sending one costs as much as its smaller inputs.
      if (this.#outbox.length === 1) setImmediate(() => this.#send());
    }, sizeBytes);
  }

  /** Waits for earlier requests and closes the database in the thread. Later requests are refused. */
  async close(): Promise<void> {
    await this.#opening?.catch(() => {});
    if (this.#ended) return;
    this.#send();
    const closed = this.#ask((id) => this.#link.post({ kind: 'close', database: this.#number, id }));
    this.#ended = closing();
    await closed;
    this.#link.forget();
  }

  /** Refuses later requests, and waits for the earlier ones. The database stays open in its thread. */
  async leave(): Promise<void> {
    this.#send();
    this.#ended ??= closing();
    while (this.#pending.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /**
   * Returns a port on which another thread sends writes to the database, and the memory in which it counts them. The
   * port is transferred to that thread, and is closed when either thread ends or the database is closed.
   */
  connect(): { port: MessagePort; load: SharedArrayBuffer } {
    const { port1, port2 } = new MessageChannel();
    const load = new SharedLoad();
    this.#loads = [...this.#loads.filter(({ isClosed }) => !isClosed), load];
    const message = { database: this.#number, port: port1, load: load.memory };
    this.#link.post({ kind: 'connect', ...message }, [port1]);
    return { port: port2, load: load.memory };
  }

  /**
   * Copies the database to a file that does not exist.
   * @throws errors of SQLite and of the file system; Error when the database is closed meanwhile
   */
  async copyTo(file: string): Promise<void> {
    if (this.#ended) throw this.#ended;
    const pace = new CopyPace();
    const { port1, port2 } = new MessageChannel();
    const copying = new Promise<void>((resolve, reject) => {
      port1.once('message', ({ error }: CopyEnd) => (error ? reject(decodeError(error)) : resolve()));
      port1.once('close', () => reject(new Error('the thread that copied the database has ended')));
    });
    this.#link.post({ kind: 'copy', database: this.#number, file, pace: pace.memory, port: port2 }, [port2]);
    await flushCopy(file, pace, copying);
  }

  /** Begins to gather the pages that change, or ends that. @throws Error when the database is closed */
  async followPages(isFollowed: boolean): Promise<void> {
    if (this.#ended) throw this.#ended;
    await this.#ask((id) => this.#link.post({ kind: 'follow', database: this.#number, id, isFollowed }));
  }

  /** Returns the pages that have changed since the last call. @throws Error when the database is closed */
  async collectPages(): Promise<CollectedPages> {
    if (this.#ended) throw this.#ended;
    const collected = this.#ask((id) => this.#link.post({ kind: 'collect', database: this.#number, id }));
    return (await collected) as CollectedPages;
  }

  /** Reads a message of the thread. */
  receive(reply: ThreadReply): void {
    switch (reply.kind) {
      case 'answers':
        this.#settle(reply.answers);
        break;
      case 'full':
        this.onDiskFull();
        break;
      case 'wakeups':
        for (const [name, subjects] of reply.wakeups) this.onWakeup(name, subjects);
        break;
      case 'failed':
        this.fail(decodeError(reply.error));
    }
  }

  /** Rejects everything that is pending, and later requests too. */
  fail(error: Error): void {
    if (!this.#ended) this.#reportFailure(error);
    this.#ended ??= error;
    for (const id of this.#pending.keys()) this.#take(id)?.reject(error);
  }

  #ask(send: (id: number) => void, sizeBytes = 0): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      this.#pending.set(id, { resolve, reject, sizeBytes, since: this.#link.clock.elapsed() });
      this.#count(sizeBytes);
      send(id);
    });
  }

  /**
   * Returns true when another request may be queued. An input above the limit is accepted while no other is pending.
   */
  #fits(sizeBytes: number): boolean {
    if (this.#pending.size >= MAX_PENDING) return false;
    return this.#pendingBytes === 0 || this.#pendingBytes + sizeBytes <= MAX_PENDING_BYTES;
  }

  #send(): void {
    const outgoing = this.#outbox;
    this.#outbox = [];
    if (outgoing.length === 0) return;
    try {
      this.#post(outgoing);
    } catch {
      for (const one of outgoing) this.#sendAlone(one);
    }
  }

  /**
   * Sends one request. An input that cannot be cloned is a bug of one caller, and only that caller receives the
   * error.
   */
  #sendAlone(one: Request): void {
    try {
      this.#post([one]);
    } catch (error) {
      this.#take(one.id)?.reject(error);
    }
  }

  #post(requests: readonly Request[]): void {
    const given = requests.flatMap((request) => request.given ?? []);
    this.#link.post({ kind: 'run', database: this.#number, requests }, given);
  }

  /** Settles the requests that the thread has answered. */
  #settle(answers: readonly Answer[]): void {
    for (const answer of answers) {
      const pending = this.#take(answer.id);
      if ('error' in answer) pending?.reject(decodeError(answer.error));
      else pending?.resolve(answer.value);
    }
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    if (!pending) return undefined;
    this.#pending.delete(id);
    this.#count(-pending.sizeBytes);
    if (this.#pending.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
    return pending;
  }

  /** Counts a request that has begun or ended. */
  #count(bytes: number): void {
    this.#pendingBytes += bytes;
    this.#link.load?.set(this.#pending.size, this.#pendingBytes);
  }
}

function closing(): AppError {
  return new AppError('unavailable', 'The database is closing', { retryAfterSeconds: 1 });
}
