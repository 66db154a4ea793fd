/**
 * Follows what changes in the accounts of all threads (accounts/followed-accounts.ts). An account that was closed is opened again in the same
 * thread until its changes were collected. So the changes of an account never come from two threads, whose order would not be known.
 */
import type { AccountPages, CollectedAccounts } from '../accounts/followed-accounts.ts';
import type { AccountCalls } from '../accounts/part.ts';
import type { App } from '../app.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import { AppError } from '../system/errors.ts';

type MailboxId = MailboxRow['id'];

/** Returns the calls of a thread, by its place in the list of them. */
type CallsOf = (thread: number) => Pick<AccountCalls, 'followPages' | 'collectPages'>;

export class FollowedThreads {
  readonly #log: App['log'];
  readonly #callsOf: CallsOf;
  /** Threads that have had a call. The others have no account, and may not even run. */
  readonly #used = new Set<number>();
  #isFollowed = false;
  /** Threads of the accounts that were closed since the last collection began, and of those that it collects. */
  #closed = new Map<MailboxId, number>();
  #collecting: ReadonlyMap<MailboxId, number> = new Map();

  constructor({ log }: Pick<App, 'log'>, callsOf: CallsOf) {
    this.#log = log;
    this.#callsOf = callsOf;
  }

  /** Begins to gather what changes in all accounts, without what was gathered before, or ends that. */
  async follow(isFollowed: boolean): Promise<void> {
    this.#isFollowed = isFollowed;
    this.#closed.clear();
    await Promise.all([...this.#used].map((thread) => this.#follow(thread)));
  }

  /** Is called before each call that may open an account in a thread. */
  use(thread: number): void {
    if (this.#used.has(thread)) return;
    this.#used.add(thread);
    if (this.#isFollowed) void this.#follow(thread);
  }

  /** Notes that an account was closed. */
  noteClosed(id: MailboxId, thread: number): void {
    if (this.#isFollowed) this.#closed.set(id, thread);
  }

  /** Returns the thread that has changes of an account that is closed. */
  threadOf(id: MailboxId): number | undefined {
    return this.#closed.get(id) ?? this.#collecting.get(id);
  }

  /** Returns the changes of all accounts by the commits that were answered before this call, and maybe later ones. */
  async collect(): Promise<CollectedAccounts> {
    if (!this.#isFollowed) return 'lost';
    this.#collecting = this.#closed;
    this.#closed = new Map();
    const collected = await Promise.all([...this.#used].map((thread) => this.#collect(thread)));
    this.#collecting = new Map();
    const known = collected.filter((accounts): accounts is AccountPages[] => accounts !== 'lost');
    return known.length < collected.length ? 'lost' : known.flat();
  }

  /** A thread that does not hear of it says at the next collection that the changes are lost. */
  async #follow(thread: number): Promise<void> {
    const isFollowed = this.#isFollowed;
    await this.#orLost(() => this.#callsOf(thread).followPages({ isFollowed }));
  }

  #collect(thread: number): Promise<CollectedAccounts> {
    return this.#orLost(() => this.#callsOf(thread).collectPages());
  }

  /** A thread that has died, and one that has started again, does not know its changes. */
  async #orLost<Result>(call: () => Promise<Result>): Promise<Result | 'lost'> {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof AppError))
        this.#log.error({ err: error }, 'the changes of mailboxes are not known');
      return 'lost';
    }
  }
}
