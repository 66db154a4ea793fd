/**
 * Collects the lines of the log. A first line leaves after the responses of its turn of the event loop, for which clients wait, and those that
 * soon follow leave together: a write to a file costs more than a line and wakes another thread, and so does a message to a thread.
 */
import type { Clock } from './clock.ts';

/** Minimum time between two batches of lines, in milliseconds. `kill -9` may lose the lines of this time. */
const INTERVAL_MS = 10;
/** Size of the lines from which they leave at once, in characters. */
const MAX_HELD_CHARACTERS = 64 * 1024;

export class LineBatches {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #send: (lines: readonly string[]) => void;
  #lines: string[] = [];
  #characters = 0;
  #isSending = false;

  /** `send` receives complete lines, at least one. */
  constructor(clock: Pick<Clock, 'after'>, send: (lines: readonly string[]) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  /** Adds a line, which leaves soon, or at the end of the process. */
  write(line: string): void {
    if (this.#lines.length === 0) process.once('exit', this.flush);
    this.#lines.push(line);
    this.#characters += line.length;
    if (this.#characters >= MAX_HELD_CHARACTERS) this.flush();
    if (this.#isSending) return;
    this.#isSending = true;
    // Responses leave at the end of this turn, and these lines at the end of the next one.
    setImmediate(() => setImmediate(this.#sendRegularly));
  }

  /** Sends the lines that are held. */
  readonly flush = (): void => {
    const lines = this.#lines;
    if (lines.length === 0) return;
    process.off('exit', this.flush);
    this.#lines = [];
    this.#characters = 0;
    this.#send(lines);
  };

  readonly #sendRegularly = (): void => {
    this.#isSending = this.#lines.length > 0;
    this.flush();
    if (this.#isSending) this.#clock.after(INTERVAL_MS, this.#sendRegularly);
  };
}
