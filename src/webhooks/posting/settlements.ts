/**
 * Settles posts, many in one write: the first at once, and those that are answered meanwhile together. The busier the writer
 * thread is, the fewer and larger are its writes.
 */
import { commitOutcome } from '../../db/commit-outcome.ts';
import type { Write } from '../../db/operation.ts';
import { realClock, sleep } from '../../system/clock.ts';
import type { PartApp } from '../../thread-app.ts';
import type { PostSettlement, Settled } from './settle.ts';

/** Maximum number of posts of one write, so that other writes wait only a short time. */
const MAX_SETTLED = 200;
/** Minimum time from one write to the next, in milliseconds. A post that waits for it holds no slot. */
const INTERVAL_MS = 50;

type Waiting = PromiseWithResolvers<Settled> & { settlement: PostSettlement };

export class Settlements {
  readonly #app: Pick<PartApp, 'clock' | 'db' | 'log'>;
  readonly #settle: Write<readonly PostSettlement[], Settled[]>;
  #waiting: Waiting[] = [];
  #isWriting = false;
  /** Ends the pause before the next write. */
  #pause = new AbortController();

  constructor(
    app: Pick<PartApp, 'clock' | 'db' | 'log'>,
    settle: Write<readonly PostSettlement[], Settled[]>,
  ) {
    this.#app = app;
    this.#settle = settle;
  }

  /** Stores what a post has come to, a failure at once, since it may suspend the endpoint. It tries for two minutes (db/commit-outcome.ts). */
  add(settlement: PostSettlement): Promise<Settled> {
    const waiting = { settlement, ...Promise.withResolvers<Settled>() };
    this.#waiting.push(waiting);
    if (settlement.answer !== 'taken') this.#pause.abort();
    if (!this.#isWriting) void this.#write();
    return waiting.promise;
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const beganAt = realClock.elapsed();
      this.#pause = new AbortController();
      const batch = this.#waiting.slice(0, MAX_SETTLED);
      this.#waiting = this.#waiting.slice(MAX_SETTLED);
      await this.#store(batch);
      if (this.#waiting.length < MAX_SETTLED)
        await sleep(realClock, beganAt + INTERVAL_MS - realClock.elapsed(), this.#pause.signal);
    }
    this.#isWriting = false;
  }

  /** Stores a batch. When that fails, each is tried alone, so that one that cannot be stored holds up no other. */
  async #store(batch: readonly Waiting[]): Promise<void> {
    try {
      const settled = await this.#app.db.commit(
        this.#settle,
        batch.map(({ settlement }) => settlement),
      );
      for (const [index, { resolve }] of batch.entries()) resolve(settled[index] as Settled);
    } catch {
      for (const { settlement, resolve, reject } of batch)
        commitOutcome(this.#app, this.#settle, [settlement]).then(([one]) => resolve(one as Settled), reject);
    }
  }
}
