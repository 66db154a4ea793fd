/**
 * Knows which accounts are open, and in which of the threads: each account is in one at a time, because its database has one owner. An
 * account that is opened goes to the thread with the fewest.
 */
import type { MailboxRow } from '../db/mailbox-tables.ts';
import { AppError } from '../system/errors.ts';

type MailboxId = MailboxRow['id'];

/** Asks a thread to close an account, and returns whether it is closed. */
type AskToClose = (thread: number, id: MailboxId) => Promise<boolean>;

/**
 * Maximum number of accounts that stay open when nobody uses them. Each takes 42 KiB of memory for each of its databases. Accounts
 * in use are not closed. Our own limit.
 */
export const MAX_OPEN_ACCOUNTS = 500;
/** Number of accounts that are asked to close at once when there are too many. Those in use become the newest ones. */
const CLOSED_AT_ONCE = 2;

/** `users` are calls that are under way; `whenFree` is called when the last of them has ended. */
type Place = {
  thread: number;
  users: number;
  closing: Promise<void> | undefined;
  whenFree: (() => void) | undefined;
};

export class AccountPlaces {
  readonly #threads: number;
  readonly #maxPlaces: number;
  readonly #closeIdle: AskToClose;
  /** Open accounts, the least recently used first. */
  readonly #places = new Map<MailboxId, Place>();

  /**
   * Places accounts in this number of threads. At most `maxPlaces` are open, in use or not.
   * @param closeIdle asks a thread to close an account that nobody uses
   */
  constructor({ threads, maxPlaces }: { threads: number; maxPlaces: number }, closeIdle: AskToClose) {
    this.#threads = threads;
    this.#maxPlaces = maxPlaces;
    this.#closeIdle = closeIdle;
  }

  /**
   * Runs a call in the thread of an account, which is not closed meanwhile.
   * @throws AppError unavailable when too many accounts are in use; the errors of the call
   */
  async use<Result>(id: MailboxId, call: (thread: number) => Promise<Result>): Promise<Result> {
    const place = await this.#take(id);
    try {
      return await call(place.thread);
    } finally {
      if (--place.users === 0) place.whenFree?.();
      this.#closeOldest();
    }
  }

  /** Returns the thread of an account; undefined when it is not open. */
  threadOf(id: MailboxId): number | undefined {
    return this.#places.get(id)?.thread;
  }

  /** Closes an account, if it is open. */
  async close(id: MailboxId, ask: AskToClose): Promise<void> {
    for (let place = this.#places.get(id); place; place = this.#places.get(id)) {
      if (place.closing !== undefined) await place.closing;
      else await this.#close(id, place, ask);
    }
  }

  async #take(id: MailboxId): Promise<Place> {
    for (;;) {
      const place = this.#places.get(id);
      if (place?.closing !== undefined) {
        await place.closing;
        continue;
      }
      if (!place && this.#places.size >= this.#maxPlaces)
        throw new AppError('unavailable', 'Too many mailboxes are open', { retryAfterSeconds: 60 });
      const taken = place ?? { thread: this.#leastBusy(), users: 0, closing: undefined, whenFree: undefined };
      taken.users++;
      this.#places.delete(id);
      this.#places.set(id, taken);
      return taken;
    }
  }

  #leastBusy(): number {
    const numbers = Array.from({ length: this.#threads }, () => 0);
    for (const { thread } of this.#places.values()) numbers[thread] = (numbers[thread] ?? 0) + 1;
    return numbers.indexOf(Math.min(...numbers));
  }

  #closeOldest(): void {
    if (this.#places.size <= Math.min(MAX_OPEN_ACCOUNTS, this.#maxPlaces / 2)) return;
    for (const [id, place] of [...this.#places].slice(0, CLOSED_AT_ONCE)) {
      if (place.users > 0 || place.closing !== undefined) continue;
      void this.#close(id, place, this.#closeIdle);
    }
  }

  /** Closes an account. One that stays open, because it has sessions, becomes the newest. */
  #close(id: MailboxId, place: Place, ask: AskToClose): Promise<void> {
    place.closing = this.#closeWhenFree(id, place, ask);
    return place.closing;
  }

  async #closeWhenFree(id: MailboxId, place: Place, ask: AskToClose): Promise<void> {
    let isClosed: boolean;
    let wasInUse: boolean;
    do {
      // A call that is on its way may open the account again, and none begins now.
      wasInUse = place.users > 0;
      isClosed = await ask(place.thread, id);
      if (place.users > 0)
        await new Promise<void>((resolve) => {
          place.whenFree = resolve;
        });
    } while (wasInUse);
    this.#places.delete(id);
    place.closing = undefined;
    if (!isClosed) this.#places.set(id, place);
  }
}
