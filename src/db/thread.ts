/** A database thread, as its client sees it: it starts the thread, opens databases in it, and delivers its messages. */
import { Worker } from 'node:worker_threads';
import type { Clock } from '../system/clock.ts';
import { YOUNG_MEGABYTES } from '../system/thread/young-generation.ts';
import { moduleBeside } from '../system/thread.ts';
import { ThreadDatabase, type ThreadLink } from './thread-database.ts';
import type {
  ReadingOptions,
  ThreadMessage,
  ThreadOptions,
  ThreadReply,
  WritingOptions,
} from './thread-messages.ts';

type OptionsOf = { 'writer-thread': WritingOptions; 'reader-thread': ReadingOptions };

/** A database that was opened in a thread, and what the thread found out about it. */
type Opened = { database: ThreadDatabase; found: unknown };

export class DatabaseThread<Kind extends keyof OptionsOf> {
  /** Resolves, with the reason, only if the thread ends without having been closed. */
  readonly failed: Promise<Error>;
  #reportFailure: (error: Error) => void = () => {};
  readonly #worker: Worker;
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #exited: Promise<void>;
  /** Resolves when the thread has loaded its code. */
  readonly #ready = Promise.withResolvers<void>();
  readonly #databases = new Map<number, ThreadDatabase>();
  #lastNumber = 0;
  #answeredAt = 0;
  #isClosing = false;

  private constructor(worker: Worker, clock: Pick<Clock, 'elapsed'>) {
    this.#worker = worker;
    this.#clock = clock;
    this.failed = new Promise((resolve) => {
      this.#reportFailure = resolve;
    });
    this.#exited = new Promise((resolve) => worker.once('exit', () => resolve()));
    // The first message says that the thread has loaded its code. Every listener is added before it, because Node may
    // report a message, an error and the end of a thread in one turn.
    worker.once('message', () => {
      worker.on('message', (reply: ThreadReply) => this.#receive(reply));
      this.#ready.resolve();
    });
    worker.on('error', (error) => this.#end(error as Error));
    worker.on('exit', () => this.#end(new Error('the database thread has ended')));
  }

  /**
   * Starts a thread that serves no database yet.
   * @throws the error for which the thread could not load its code
   */
  static async start<Kind extends keyof OptionsOf>(
    clock: Pick<Clock, 'elapsed'>,
    kind: Kind,
    options: ThreadOptions,
  ): Promise<DatabaseThread<Kind>> {
    const worker = new Worker(moduleBeside(import.meta.url, kind), {
      name: kind,
      workerData: options,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MEGABYTES },
    });
    const thread = new DatabaseThread<Kind>(worker, clock);
    await thread.#ready.promise;
    return thread;
  }

  /** Number of pending requests to all databases of the thread. */
  get pending(): number {
    let pending = 0;
    for (const database of this.#databases.values()) pending += database.pending;
    return pending;
  }

  /** Age of the oldest pending request to a database of the thread, in milliseconds; 0 when there is none. */
  get lagMs(): number {
    return Math.max(0, ...[...this.#databases.values()].map(({ lagMs }) => lagMs));
  }

  /**
   * Opens a database in the thread.
   * @throws the error for which it could not be opened
   */
  async open(options: OptionsOf[Kind]): Promise<Opened> {
    const number = ++this.#lastNumber;
    const database = new ThreadDatabase(this.#createLink(number), number);
    this.#databases.set(number, database);
    return { database, found: await database.open(options) };
  }

  /** Closes the databases that are still open, each after its earlier requests, and ends the thread. */
  async close(): Promise<void> {
    await Promise.all([...this.#databases.values()].map((database) => database.close()));
    this.#isClosing = true;
    this.#worker.postMessage({ kind: 'end' } satisfies ThreadMessage<never>);
    await this.#exited;
  }

  #createLink(number: number): ThreadLink {
    const thread = this;
    return {
      clock: thread.#clock,
      get answeredAt() {
        return thread.#answeredAt;
      },
      post: (message, transfer = []) => thread.#worker.postMessage(message, [...transfer]),
      forget: () => thread.#databases.delete(number),
    };
  }

  #receive(reply: ThreadReply): void {
    this.#answeredAt = this.#clock.elapsed();
    this.#databases.get(reply.database)?.receive(reply);
  }

  #end(error: Error): void {
    if (!this.#isClosing) this.#reportFailure(error);
    this.#ready.reject(error);
    for (const database of this.#databases.values()) database.fail(error);
  }
}
