/**
 * Limits how many works run at the same time, such as DNS questions, downloads or scans. A work item starts at once,
 * waits or is refused. Owners are served round-robin, and none uses so much of the limit that another owner would have
 * to wait until one of its works ends (shares.ts). The works of an owner start in the order in which they came.
 */
import { RoundRobin } from './round-robin.ts';
import { Shares } from './shares.ts';

type Limits = {
  maxRunning: number;
  /** Number of running works that an owner may have for each free one. By default owners are not told apart. */
  perFree?: number;
  /** Number of waiting works at which `tryRun` refuses more. By default there is no limit. */
  maxWaiting?: number;
};

type RunOptions = {
  owner?: string;
  /** True when the work starts before all waiting works that came without it. */
  isFirst?: boolean;
};

type Waiting = { owner: string; start(): void };

export class ConcurrencyLimiter {
  readonly #shares: Shares<string>;
  readonly #maxWaiting: number;
  readonly #first = new RoundRobin<Waiting>();
  readonly #others = new RoundRobin<Waiting>();
  readonly #mayTake = (owner: string): boolean => this.#shares.mayTake(owner);

  constructor({
    maxRunning,
    perFree = Number.POSITIVE_INFINITY,
    maxWaiting = Number.POSITIVE_INFINITY,
  }: Limits) {
    this.#shares = new Shares(maxRunning, { perFree });
    this.#maxWaiting = maxWaiting;
  }

  /** Runs the work as soon as its owner may run another one. */
  run<Result>(
    work: () => Promise<Result>,
    { owner = '', isFirst = false }: RunOptions = {},
  ): Promise<Result> {
    if (this.#shares.take(owner)) return this.#runTaken(owner, work);
    const queue = isFirst ? this.#first : this.#others;
    const started = new Promise<void>((start) => queue.add(owner, { owner, start }));
    return started.then(() => this.#runTaken(owner, work));
  }

  /** Runs the work like `run`, unless it would have to wait and too many works wait already: then returns undefined. */
  tryRun<Result>(work: () => Promise<Result>, options: RunOptions = {}): Promise<Result> | undefined {
    const isFull = this.#first.size + this.#others.size >= this.#maxWaiting;
    if (isFull && !this.#shares.mayTake(options.owner ?? '')) return undefined;
    return this.run(work, options);
  }

  async #runTaken<Result>(owner: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } finally {
      this.#shares.release(owner);
      this.#startWaiting();
    }
  }

  /** Starts waiting works. Each has its slot before it starts, so that nothing that comes meanwhile takes the slot. */
  #startWaiting(): void {
    while (this.#shares.free > 0) {
      const next = this.#first.take(this.#mayTake) ?? this.#others.take(this.#mayTake);
      if (next === undefined) return;
      this.#shares.count(next.owner);
      next.start();
    }
  }
}
