/**
 * The time that a client may take to send one message. Only the time in which the server waits for the client counts,
 * not that in which a session is busy. A client that sends one byte before each deadline comes to an end too.
 */
import type { Clock } from '../../../system/clock.ts';
import type { Wire } from '../../connection/wire.ts';
import type { FaultReason } from './fault.ts';
import type { SmtpLimits } from './options.ts';

type DeadlineLimits = Pick<SmtpLimits, 'dataBlockMs' | 'dataMs' | 'minBytesPerSecond' | 'maxDataMs'>;

export class MessageDeadline {
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #limits: () => DeadlineLimits;
  #waitedMs = 0;
  #receivedBytes = 0;

  /** Begins a message. `limits` returns the limits that hold at the time of the call. */
  constructor(clock: Pick<Clock, 'elapsed'>, limits: () => DeadlineLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Returns the next bytes of the message, at most `maxBytes`, which come in the time that is left. @throws ConnectionFault; ClientGone */
  async read(wire: Wire<FaultReason>, maxBytes?: number): Promise<Buffer> {
    const bytes = await this.wait((timeoutMs) =>
      wire.read({ timeoutMs, reason: 'slow_data', isInterruptible: false }, maxBytes),
    );
    this.#receivedBytes += bytes.length;
    return bytes;
  }

  /** Waits for the client within the time that is left. */
  async wait<Value>(receive: (timeoutMs: number) => Promise<Value>): Promise<Value> {
    const since = this.#clock.elapsed();
    const value = await receive(this.#leftMs());
    this.#waitedMs += this.#clock.elapsed() - since;
    return value;
  }

  #leftMs(): number {
    const { dataBlockMs, dataMs, minBytesPerSecond, maxDataMs } = this.#limits();
    const earnedMs = dataMs + (this.#receivedBytes / minBytesPerSecond) * 1_000;
    return Math.min(dataBlockMs, Math.min(earnedMs, maxDataMs) - this.#waitedMs);
  }
}
