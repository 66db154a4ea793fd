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
 * in use are not closed.
 */
export const MAX_OPEN_ACCOUNTS = 500;
/** Number of accounts that are asked to close at once when there are too many. Those in use become the newest ones. */
const CLOSED_AT_ONCE = 2;

/** `users` are calls that are under way; `whenFree` is called when the last of them has ended. */
type Assignment = {
  thread: number;
  users: number;
  closing: Promise<void> | undefined;
  whenFree: (() => void) | undefined;
};

type Options = {
  threads: number;
  maxAssigned: number;
  closed?: ClosedAccounts;
};

/** Accounts that were closed, of which some have to be opened in the same thread again. */
type ClosedAccounts = {
  /** Returns the thread in which an account has to be opened, if there is one. */
  threadOf(id: MailboxId): number | undefined;
  /** Is called when an account was closed. */
  noteClosed(id: MailboxId, thread: number): void;
};

const ANY_THREAD: ClosedAccounts = { threadOf: () => undefined, noteClosed: () => {} };

export class AccountAssignment {
  readonly #options: Required<Options>;
  readonly #closeIdle: AskToClose;
  /** Open accounts, the least recently used first. */
  readonly #assigned = new Map<MailboxId, Assignment>();

  /**
   * Assigns accounts to this number of threads. At most `maxAssigned` are open, in use or not.
   * @param closeIdle asks a thread to close an account that nobody uses
   */
  constructor(options: Options, closeIdle: AskToClose) {
    this.#options = { closed: ANY_THREAD, ...options };
    this.#closeIdle = closeIdle;
  }

  /**
   * Runs a call in the thread of an account, which is not closed meanwhile.
   * @throws AppError unavailable when too many accounts are in use; the errors of the call
   */
  async use<Result>(id: MailboxId, call: (thread: number) => Promise<Result>): Promise<Result> {
    const assignment = await this.#take(id);
    try {
      return await call(assignment.thread);
    } finally {
      if (--assignment.users === 0) assignment.whenFree?.();
      this.#closeOldest();
    }
  }

  /** Returns the thread of an account; undefined when it is not open. */
  threadOf(id: MailboxId): number | undefined {
    return this.#assigned.get(id)?.thread;
  }

  /** Closes an account, if it is open. */
  async close(id: MailboxId, ask: AskToClose): Promise<void> {
    for (let assignment = this.#assigned.get(id); assignment; assignment = this.#assigned.get(id)) {
      if (assignment.closing !== undefined) await assignment.closing;
      else await this.#close(id, assignment, ask);
    }
  }

  async #take(id: MailboxId): Promise<Assignment> {
    for (;;) {
      const assignment = this.#assigned.get(id);
      if (assignment?.closing !== undefined) {
        await assignment.closing;
        continue;
      }
      if (!assignment && this.#assigned.size >= this.#options.maxAssigned)
        throw new AppError('unavailable', 'Too many mailboxes are open', { retryAfterSeconds: 60 });
      const taken = assignment ?? {
        thread: this.#options.closed.threadOf(id) ?? this.#leastBusy(),
        users: 0,
        closing: undefined,
        whenFree: undefined,
      };
      taken.users++;
      this.#assigned.delete(id);
      this.#assigned.set(id, taken);
      return taken;
    }
  }

  #leastBusy(): number {
    const numbers = Array.from({ length: this.#options.threads }, () => 0);
    for (const { thread } of this.#assigned.values()) numbers[thread] = (numbers[thread] ?? 0) + 1;
    return numbers.indexOf(Math.min(...numbers));
  }

  #closeOldest(): void {
    if (this.#assigned.size <= Math.min(MAX_OPEN_ACCOUNTS, this.#options.maxAssigned / 2)) return;
    for (const [id, assignment] of [...this.#assigned].slice(0, CLOSED_AT_ONCE)) {
      if (assignment.users > 0 || assignment.closing !== undefined) continue;
      void this.#close(id, assignment, this.#closeIdle);
    }
  }

  /** Closes an account. One that stays open, because it has sessions, becomes the newest. */
  #close(id: MailboxId, assignment: Assignment, ask: AskToClose): Promise<void> {
    assignment.closing = this.#closeWhenFree(id, assignment, ask);
    return assignment.closing;
  }

  async #closeWhenFree(id: MailboxId, assignment: Assignment, ask: AskToClose): Promise<void> {
    let isClosed: boolean;
    let wasInUse: boolean;
    do {
      // A call that is on its way may open the account again, and none begins now.
      wasInUse = assignment.users > 0;
      isClosed = await ask(assignment.thread, id);
      if (assignment.users > 0)
        await new Promise<void>((resolve) => {
          assignment.whenFree = resolve;
        });
    } while (wasInUse);
    this.#assigned.delete(id);
    assignment.closing = undefined;
    if (isClosed) this.#options.closed.noteClosed(id, assignment.thread);
    else this.#assigned.set(id, assignment);
  }
}
