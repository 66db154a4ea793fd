/**
 * Finds the delivery queues in which mail is due. The code that accepts mail names the queues of that mail; a scan finds all
 * other due mail, and sleeps until the next is due.
 */
import type { Timer } from '../system/clock.ts';
import type { QueryingApp } from '../thread-app.ts';
import { type DueQueue, findNextDue, listDueQueues } from './due-store.ts';

/**
 * Overlap of two scans. Mail may be committed this much later than its date, because fetching an attachment takes up to
 * 10 s.
 */
const SCAN_OVERLAP_MS = 15_000;
/**
 * Time between two scans of all due mail, however old. A full scan finds mail that the overlap misses, for example
 * after the clock was set back.
 */
const FULL_SCAN_EVERY_MS = 30_000;
const PAUSE_AFTER_ERROR_MS = 1_000;

type FinderApp = Pick<QueryingApp, 'db' | 'clock' | 'egress' | 'log' | 'wakeups'>;

export class DueFinder {
  readonly #app: FinderApp;
  /** Is called with queues in which mail may be due. */
  readonly #onDue: (queues: readonly DueQueue[]) => void;
  #unsubscribe: (() => void) | undefined;
  #timer: Timer | undefined;
  #scanning: Promise<void> | undefined;
  #scanAgain = false;
  #scannedUntil = 0;
  #fullScanAt = 0;
  #isStopped = false;

  constructor(app: FinderApp, onDue: (queues: readonly DueQueue[]) => void) {
    this.#app = app;
    this.#onDue = onDue;
  }

  start(): void {
    this.#unsubscribe = this.#app.wakeups.listen('queue', (queues) => {
      // Most of the mail that is named is new. The next full scan finds the retries that are not.
      if (queues) this.#found(queues.map((key) => ({ key, hasRetries: false })));
      else this.#wake();
    });
    this.#wake();
  }

  /** Resolves when no scan runs any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#unsubscribe?.();
    this.#timer?.cancel();
    await this.#scanning;
  }

  #found(queues: readonly DueQueue[]): void {
    if (queues.length > 0 && !this.#app.egress.isHeld && !this.#isStopped) this.#onDue(queues);
  }

  #wake(): void {
    if (this.#app.egress.isHeld) return;
    this.#scanAgain = true;
    this.#scanning ??= this.#scan().finally(() => {
      this.#scanning = undefined;
      // A wake-up may have come between the last check of the scan and this line.
      if (this.#scanAgain && !this.#isStopped) this.#wake();
    });
  }

  async #scan(): Promise<void> {
    while (this.#scanAgain && !this.#isStopped) {
      this.#scanAgain = false;
      this.#timer?.cancel();
      try {
        await this.#findQueues();
        await this.#sleepUntilNextDue();
      } catch (error) {
        this.#app.log.error({ err: error }, 'due mail could not be found');
        this.#wakeAfter(PAUSE_AFTER_ERROR_MS);
      }
    }
  }

  async #findQueues(): Promise<void> {
    const until = this.#app.clock.now();
    const elapsed = this.#app.clock.elapsed();
    const isFull = elapsed >= this.#fullScanAt;
    const after = isFull ? -1 : Math.min(this.#scannedUntil, until) - SCAN_OVERLAP_MS;
    const due = await this.#app.db.query(listDueQueues, { after, until });
    this.#scannedUntil = until;
    if (isFull) this.#fullScanAt = elapsed + FULL_SCAN_EVERY_MS;
    this.#found(due);
  }

  async #sleepUntilNextDue(): Promise<void> {
    const next = await findNextDue(this.#app.db.read, this.#scannedUntil);
    const untilNextMs = next === undefined ? FULL_SCAN_EVERY_MS : next - this.#app.clock.now();
    if (untilNextMs <= 0) this.#scanAgain = true;
    else this.#wakeAfter(Math.min(untilNextMs, FULL_SCAN_EVERY_MS));
  }

  #wakeAfter(delayMs: number): void {
    this.#timer?.cancel();
    if (!this.#isStopped) this.#timer = this.#app.clock.after(delayMs, () => this.#wake());
  }
}
