/**
 * Gathers what changes in the accounts of this thread while somebody follows them: the pages of their databases, and the files of large
 * contents. What an account that was closed has changed waits too. While nobody follows, it only knows which databases are open.
 */
import { MAX_NEW_FILES } from '../blobs/new-files.ts';
import type { ChangedPages } from '../db/changed-pages.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import type { PrivateDatabase } from '../db/private-database.ts';
import { createPageBudget, type PageBudget, WaitingPages } from '../db/waiting-pages.ts';
import { nextSlice } from '../system/slices.ts';

type MailboxId = MailboxRow['id'];

/** The changes of an account since the last collection. */
export type AccountPages = {
  id: MailboxId;
  /** Undefined when only files are new, or when the database was replaced and is not open. */
  pages: ChangedPages | undefined;
  /** True when another file has taken the place of the database, as in a repair: it is copied as a whole, and the pages are written after it. */
  isReplaced: boolean;
  /** Hashes of files, of which some may have been removed again. */
  files: string[];
};

/** `lost` when not all changes are known. The accounts are then followed anew, and copied. */
export type CollectedAccounts = AccountPages[] | 'lost';

type FollowedDatabase = Pick<PrivateDatabase<never>, 'followPages' | 'gatherPages'>;

type Waiting = { pages: WaitingPages; files: Set<string>; isReplaced: boolean };

/** Holds the changes that were gathered since the accounts are followed. */
class Gathered {
  readonly accounts = new Map<string, Waiting>();
  /** Accounts that have changed since their last collection, in the order in which they are collected. */
  readonly changed = new Set<string>();
  readonly #budget: PageBudget;
  files = 0;

  constructor(budget: PageBudget) {
    this.#budget = budget;
  }

  /** Returns what waits of an account, which has changed. */
  change(id: string): Waiting {
    this.changed.add(id);
    const known = this.accounts.get(id);
    if (known) return known;
    const waiting = { pages: new WaitingPages(this.#budget), files: new Set<string>(), isReplaced: false };
    this.accounts.set(id, waiting);
    return waiting;
  }

  /** Forgets the pages of an account, whose database was replaced. */
  replace(id: string): void {
    const waiting = this.change(id);
    waiting.pages.lose();
    waiting.pages = new WaitingPages(this.#budget);
    waiting.isReplaced = true;
  }

  addFile(id: string, sha256: string): void {
    const { files } = this.change(id);
    if (files.has(sha256)) return;
    files.add(sha256);
    this.files++;
  }
}

export class FollowedAccounts {
  readonly #createBudget: () => PageBudget;
  readonly #maxFiles: number;
  /** Databases of the accounts that are open. */
  readonly #open = new Map<string, FollowedDatabase>();
  #gathered: Gathered | undefined;

  constructor({ createBudget = createPageBudget, maxFiles = MAX_NEW_FILES } = {}) {
    this.#createBudget = createBudget;
    this.#maxFiles = maxFiles;
  }

  /** Begins to gather what changes, without what was gathered before, or ends that. */
  async follow(isFollowed: boolean): Promise<void> {
    this.#gathered = isFollowed ? new Gathered(this.#createBudget()) : undefined;
    await Promise.all([...this.#open].map(([id, db]) => this.#followPages(id, db)));
  }

  /** Notes that an account was opened, before anything was written since. */
  begin(id: string, db: FollowedDatabase): void {
    this.#open.set(id, db);
    if (this.#gathered) void this.#followPages(id, db);
  }

  /** Notes that the database of an account was closed. */
  end(id: string, db: FollowedDatabase): void {
    if (this.#open.get(id) === db) this.#open.delete(id);
  }

  /** Notes a file of an account that is durable, before a row names it. */
  addFile(id: string, sha256: string): void {
    const gathered = this.#gathered;
    if (!gathered) return;
    gathered.addFile(id, sha256);
    if (gathered.files > this.#maxFiles) void this.follow(false);
  }

  /** Notes that another file has taken the place of the database of an account that is closed. */
  replace(id: string): void {
    this.#gathered?.replace(id);
  }

  /** Returns the changes of all accounts by the commits that were answered before this call, and maybe later ones. */
  async collect(): Promise<CollectedAccounts> {
    const gathered = this.#gathered;
    const collected: AccountPages[] = [];
    for (const id of [...(gathered?.changed ?? [])]) {
      // A database that cannot be read has lost its pages, as the next line finds.
      await this.#open
        .get(id)
        ?.gatherPages()
        .catch(() => {});
      if (this.#gathered !== gathered) break;
      const account = this.#take(id);
      if (account === 'lost') await this.follow(false);
      else if (account) collected.push(account);
      await nextSlice();
    }
    return gathered && this.#gathered === gathered ? collected : 'lost';
  }

  async #followPages(id: string, db: FollowedDatabase): Promise<void> {
    const gathered = this.#gathered;
    if (!gathered) return db.followPages(undefined);
    const { pages } = gathered.change(id);
    await db.followPages({ pages, onCommit: () => void gathered.change(id) });
  }

  /** Takes what waits of an account. The files are those of all pages that were taken. */
  #take(id: string): AccountPages | 'lost' | undefined {
    const gathered = this.#gathered;
    const waiting = gathered?.accounts.get(id);
    if (!gathered || !waiting) return undefined;
    const pages = waiting.pages.take();
    if (pages === 'lost') return 'lost';
    const files = [...waiting.files];
    const { isReplaced } = waiting;
    gathered.files -= files.length;
    gathered.changed.delete(id);
    waiting.files.clear();
    waiting.isReplaced = false;
    // The database of an open account puts its next pages there.
    if (!this.#open.has(id)) gathered.accounts.delete(id);
    const hasChanged = pages !== undefined || isReplaced || files.length > 0;
    return hasChanged ? { id: id as MailboxId, pages, isReplaced, files } : undefined;
  }
}
