/**
 * The pending writes of a thread, in memory that it shares with the main thread. New work is refused by the pending
 * writes of all threads (system/guards/overload.ts), and that question must not wait for a message.
 */
export class SharedLoad {
  /** Memory for the thread and the writer thread: the constructor takes it there. */
  readonly memory: SharedArrayBuffer;
  /** Number of writes, size of their inputs in bytes, and 1 once the thread writes nothing more. */
  readonly #figures: Int32Array;

  constructor(memory = new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#figures = new Int32Array(memory);
  }

  get writes(): number {
    return Atomics.load(this.#figures, 0);
  }

  get bytes(): number {
    return Atomics.load(this.#figures, 1);
  }

  get isClosed(): boolean {
    return Atomics.load(this.#figures, 2) === 1;
  }

  set(writes: number, bytes: number): void {
    Atomics.store(this.#figures, 0, writes);
    Atomics.store(this.#figures, 1, bytes);
  }

  /** Records that the thread has ended, or has closed the database. Its writes wait no longer. */
  close(): void {
    this.set(0, 0);
    Atomics.store(this.#figures, 2, 1);
  }
}
