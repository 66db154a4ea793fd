/**
 * The one gate for everything that leaves this machine. A restored installation holds it until its operator releases it, because the
 * installation that it is a copy of may have sent the same mail already. Work that sends waits at the gate (tasks/kind.ts,
 * queue/dispatcher.ts). `dial` and `fetch` ask it too, so that what does not wait is refused.
 */

/** Reports that nothing may leave this machine. The text reaches those who ask for a test of an endpoint. */
export class HeldEgressError extends Error {
  override readonly name = 'HeldEgressError';

  constructor() {
    super('nothing leaves this restored installation until "postrider restore release"');
  }
}

/** The gate. All threads share its memory. */
export class EgressGate {
  readonly memory: SharedArrayBuffer;
  readonly #held: Int32Array;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#held = new Int32Array(memory);
  }

  /** True while nothing may leave. */
  get isHeld(): boolean {
    return Atomics.load(this.#held, 0) === 1;
  }

  hold(): void {
    Atomics.store(this.#held, 0, 1);
  }

  release(): void {
    Atomics.store(this.#held, 0, 0);
  }

  /**
   * Requires that something may leave.
   * @throws HeldEgressError
   */
  require(): void {
    if (this.isHeld) throw new HeldEgressError();
  }
}
