/**
 * Bounds what sessions keep for their clients between commands: changes that wait to be told, and results of searches. An account can
 * have hundreds of sessions, and their thread serves other accounts too.
 */
import type { ByteBudget, Reservation } from '../../system/guards/byte-budget.ts';
import type { OpenAccount } from '../account.ts';

/**
 * Limits of what the sessions of a thread keep, in bytes: a quarter of its heap (`HEAP_MEGABYTES` of account/part.ts), and some more for
 * those who keep little. The sessions of one account have a quarter of it.
 */
export const SESSION_MEMORY = {
  largeBytes: 128 * 1024 * 1024,
  smallBytes: 16 * 1024 * 1024,
  share: 1 / 4,
} as const satisfies Parameters<typeof import('../../system/guards/byte-budget.ts').createByteBudget>[0];

/** Memory for one kind of what a session keeps. */
export class SessionMemory {
  readonly #budget: ByteBudget;
  readonly #accountId: string;
  #reservation: Reservation | undefined;
  #bytes = 0;

  constructor({ app, id }: Pick<OpenAccount, 'id' | 'app'>) {
    this.#budget = app.sessionMemory;
    this.#accountId = id;
  }

  /** Sets the number of bytes that are kept. Returns false, and changes nothing, when they would exceed the limit of the account. */
  resize(bytes: number): boolean {
    if (bytes === this.#bytes) return true;
    this.#reservation ??= this.#budget.open(this.#accountId);
    if (bytes < this.#bytes) this.#reservation.release(this.#bytes - bytes);
    else if (!this.#reservation.take(bytes - this.#bytes)) return false;
    this.#bytes = bytes;
    return true;
  }
}
