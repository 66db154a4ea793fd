/** Reads the weights of tenants (tenants/store.ts) at start, and when the operator has changed plans, or those of tenants. */
import type { Timer } from '../system/clock.ts';
import { listWeights } from '../tenants/store.ts';
import type { QueryingApp } from '../thread-app.ts';
import type { Weights } from './schedule/events.ts';

const PAUSE_AFTER_ERROR_MS = 1_000;

type WeightsApp = Pick<QueryingApp, 'db' | 'clock' | 'log' | 'wakeups'>;

/** Calls the listener with the weights, now and after each change. Returns a function that ends this. */
export function followWeights(app: WeightsApp, listener: (weights: Weights) => void): () => void {
  const reader = new WeightsReader(app, listener);
  const unsubscribe = app.wakeups.listen('plans', () => reader.read());
  reader.read();
  return () => {
    unsubscribe();
    reader.stop();
  };
}

class WeightsReader {
  readonly #app: WeightsApp;
  readonly #listener: (weights: Weights) => void;
  #isReading = false;
  /** True when something has changed that the latest read may not have seen. */
  #isStale = false;
  #isStopped = false;
  #timer: Timer | undefined;

  constructor(app: WeightsApp, listener: (weights: Weights) => void) {
    this.#app = app;
    this.#listener = listener;
  }

  /** Reads the weights; changes during a read are read after it, together. */
  read(): void {
    this.#isStale = true;
    if (!this.#isReading) void this.#readAll();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  async #readAll(): Promise<void> {
    this.#isReading = true;
    this.#timer?.cancel();
    try {
      while (this.#isStale && !this.#isStopped) {
        this.#isStale = false;
        const weights = await this.#app.db.query(listWeights, undefined);
        if (!this.#isStopped) this.#listener(weights);
      }
    } catch (error) {
      this.#readAgainAfter(error);
    } finally {
      this.#isReading = false;
    }
  }

  #readAgainAfter(error: unknown): void {
    if (this.#isStopped) return;
    this.#app.log.error({ err: error }, 'weights of tenants could not be read');
    this.#timer = this.#app.clock.after(PAUSE_AFTER_ERROR_MS, () => this.read());
  }
}
