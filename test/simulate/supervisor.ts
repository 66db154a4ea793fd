/** Starts runs of the daemon one after another, as a service manager does, and ends them as the plan says. */
import { Daemon, type Machine } from './daemon.ts';
import type { FaultPlan } from './plan.ts';

/** Time after which a run is started again that could not start, because the disk was full. */
const RESTART_MS = 5_000;

export class Supervisor {
  readonly #machine: Machine;
  #daemon: Daemon;
  #run = 1;

  constructor(machine: Machine) {
    this.#machine = machine;
    this.#daemon = new Daemon(machine, 1);
  }

  start(): void {
    const daemon = this.#daemon;
    daemon.start().catch(() => {
      daemon.kill();
      this.#startLater(RESTART_MS);
    });
  }

  /** Tells the daemon that runs of new mail in these queues. */
  wake(queues: readonly string[]): void {
    this.#daemon.wake(queues);
  }

  kill(): void {
    this.#daemon.kill();
  }

  /** Ends the run that runs at that time, and starts another one later. */
  end({ downMs, how }: FaultPlan['ends'][number]): void {
    const daemon = this.#daemon;
    if (how === 'killed') daemon.kill();
    const ended = how === 'killed' ? Promise.resolve() : daemon.stop();
    void ended.then(() => this.#startLater(downMs));
  }

  #startLater(delayMs: number): void {
    const before = this.#daemon;
    this.#machine.time.after(delayMs, () => {
      if (this.#daemon !== before) return;
      this.#daemon = new Daemon(this.#machine, ++this.#run);
      this.start();
    });
  }
}
