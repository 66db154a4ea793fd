/**
 * Reads database files as they are on disk, while they are in use. Another process opens them: closing a descriptor of a file drops all locks that
 * this process has on it, and SQLite keeps other programs away by such locks.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { moduleBeside } from '../../system/thread.ts';

/** Size of the slices in which a file is handed on, in bytes: a multiple of all sizes of pages. */
const SLICE_BYTES = 1024 * 1024;
const SIZE_BYTES = 8;

export class RawFiles implements Disposable {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #output: AsyncIterator<Buffer>;
  readonly #slice = Buffer.allocUnsafeSlow(SLICE_BYTES);
  #held: Buffer = Buffer.alloc(0);
  #failure: Error | undefined;

  /** @param signal ends the process, and the reading with an error */
  constructor(signal: AbortSignal) {
    const module = fileURLToPath(moduleBeside(import.meta.url, 'read-files-child'));
    this.#process = spawn(process.execPath, [module], {
      // It needs nothing of the environment.
      env: {},
      stdio: ['pipe', 'pipe', 'ignore'],
      signal,
      killSignal: 'SIGKILL',
    });
    const fail = (error: Error) => {
      this.#failure ??= error;
    };
    this.#process.on('error', fail);
    this.#process.stdin.on('error', fail);
    this.#output = this.#process.stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  /**
   * Yields the bytes of a file in slices, all of which but the last have the same size. Each is only valid until the next one. A file that does not
   * exist has none.
   * @throws Error when the file cannot be read
   */
  async *read(path: string): AsyncGenerator<Buffer> {
    this.#process.stdin.write(`${JSON.stringify(path)}\n`);
    const size = Buffer.alloc(SIZE_BYTES);
    await this.#fill(size, path);
    for (let left = Number(size.readBigUInt64BE()); left > 0; left -= SLICE_BYTES) {
      const slice = this.#slice.subarray(0, Math.min(left, SLICE_BYTES));
      await this.#fill(slice, path);
      yield slice;
    }
  }

  [Symbol.dispose](): void {
    this.#process.kill('SIGKILL');
  }

  async #fill(target: Buffer, path: string): Promise<void> {
    for (let at = 0; at < target.length; ) {
      if (this.#held.length === 0) this.#held = await this.#next(path);
      const copied = this.#held.copy(target, at);
      this.#held = this.#held.subarray(copied);
      at += copied;
    }
  }

  async #next(path: string): Promise<Buffer> {
    const cause = () => ({ cause: this.#failure });
    try {
      const { done, value } = await this.#output.next();
      if (!done) return value;
    } catch (error) {
      this.#failure ??= error as Error;
    }
    throw new Error(`the process that reads ${path} has ended`, cause());
  }
}
