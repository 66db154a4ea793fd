/**
 * The accounts that are open in this thread. Whoever uses one holds it: it is not closed meanwhile. A damaged account ends its
 * sessions and closes; the others never notice.
 */

import { isDeepStrictEqual } from 'node:util';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import { DamagedDatabaseError } from '../db/private-database.ts';
import type { Refusal } from '../mail/imap/session.ts';
import { runAt } from '../system/clock.ts';
import { runForOwner } from '../system/slices.ts';
import type { AccountApp, OpenAccount } from './account.ts';
import { DISCONNECTED_TEXT, listedSessions, type MailSession } from './mail-session.ts';
import { openAccount } from './open.ts';
import type { SessionCredential } from './session-credential.ts';
import { findAccountRow } from './store.ts';

/** The facts of a mailbox that its thread needs to open the account. */
export type AccountSettings = Pick<MailboxRow, 'id' | 'quotaBytes' | 'updatedAt'> & {
  folder: string;
  /** True when the account is created unless it exists; otherwise a missing one is damaged. */
  isNew: boolean;
  /** Number of the last change that was recorded. A database with a lower number is an older copy. */
  lastModseq: number;
  disabledCapabilities: readonly string[];
};

type AccountUsage = Pick<MailboxRow, 'id' | 'usedBytes' | 'messageCount' | 'lastModseq'>;

/** Reports about accounts to the main thread. */
export type AccountReports = {
  /** Resolves when it is recorded, or cannot be. */
  usage(usage: AccountUsage): Promise<void>;
  damaged(input: Pick<MailboxRow, 'id'>): void;
};

/** An account in use. */
export type HeldAccount = {
  account: OpenAccount;
  /** The latest settings; they change while the account is open. */
  settings: Readonly<AccountSettings>;
  release(): void;
};

type EndableSession = { session: MailSession; end(refusal: Refusal): void };

type Entry = {
  id: MailboxRow['id'];
  settings: AccountSettings;
  opening: Promise<OpenAccount>;
  account: OpenAccount | undefined;
  holders: number;
  /** Sessions of the account. */
  sessions: Set<EndableSession>;
  closing: Promise<void> | undefined;
  /** Resolves when nobody holds the account. */
  whenFree: (() => void) | undefined;
  reported: AccountUsage | undefined;
};

const CLOSED: Refusal = { refused: 'BYE', code: 'UNAVAILABLE', text: 'The mailbox is closed' };
const REVOKED: Refusal = {
  refused: 'BYE',
  code: 'AUTHORIZATIONFAILED',
  text: 'The password of this session is no longer valid',
};
const EXPIRED: Refusal = { ...REVOKED, code: 'EXPIRED', text: 'The password of this session has expired' };
const DISCONNECTED: Refusal = { refused: 'BYE', text: DISCONNECTED_TEXT };
const DAMAGED: Refusal = {
  refused: 'BYE',
  code: 'UNAVAILABLE',
  text: 'The mailbox is damaged; its operator has to repair it',
};

/** An account that is not opened. */
const NEVER = new Promise<never>(() => {});

function newEntry(settings: AccountSettings, opening: Promise<OpenAccount>): Entry {
  return {
    id: settings.id,
    settings: { ...settings },
    opening,
    account: undefined,
    holders: 0,
    sessions: new Set(),
    closing: undefined,
    whenFree: undefined,
    reported: undefined,
  };
}

/** Settings that were read earlier change nothing. */
function updateSettings({ settings: known }: Entry, settings: AccountSettings): void {
  if (settings.updatedAt >= known.updatedAt) Object.assign(known, settings);
}

export class OpenAccounts {
  readonly #app: AccountApp;
  readonly #reports: AccountReports;
  readonly #open: typeof openAccount;
  readonly #entries = new Map<string, Entry>();

  constructor(
    app: AccountApp,
    { reports, open = openAccount }: { reports: AccountReports; open?: typeof openAccount },
  ) {
    this.#app = app;
    this.#reports = reports;
    this.#open = open;
  }

  /** Number of accounts that are open. */
  get size(): number {
    return this.#entries.size;
  }

  /** Returns an account, which is opened first. @throws the errors of `openAccount` */
  async hold(settings: AccountSettings): Promise<HeldAccount> {
    for (;;) {
      const entry = this.#entries.get(settings.id) ?? this.#begin(settings);
      if (entry.closing !== undefined) {
        await entry.closing;
        continue;
      }
      updateSettings(entry, settings);
      entry.holders++;
      let isHeld = true;
      const release = (): void => {
        if (!isHeld) return;
        isHeld = false;
        if (--entry.holders === 0) entry.whenFree?.();
      };
      try {
        const account = await entry.opening;
        // Sessions were asked to end while the account was opened, which a session that begins now would not know of.
        if (entry.closing === undefined) return { account, settings: entry.settings, release };
      } catch (error) {
        release();
        throw error;
      }
      release();
    }
  }

  /** Runs work with an account. @throws the errors of `openAccount` and of the work */
  async use<Result>(
    settings: AccountSettings,
    work: (account: OpenAccount) => Promise<Result>,
  ): Promise<Result> {
    const { account, release } = await this.hold(settings);
    try {
      return await runForOwner(settings.id, () => work(account));
    } finally {
      release();
    }
  }

  /**
   * Calls `end` when a session of an open account has to end: with all others, with those of its credential, or when its credential
   * expires; until the returned function is called. Until then the session is listed, with what it says of itself at that time.
   */
  onEnding(
    id: string,
    { session, expiresAt }: { session: MailSession } & Pick<SessionCredential, 'expiresAt'>,
    end: (refusal: Refusal) => void,
  ): () => void {
    const sessions = this.#entries.get(id)?.sessions;
    const endable = { session, end };
    sessions?.add(endable);
    const expiry = runAt(this.#app.clock, expiresAt, () => end(EXPIRED));
    return () => {
      sessions?.delete(endable);
      expiry.cancel();
    };
  }

  /** Returns the sessions of an open account, the newest first. */
  listSessions(id: string): MailSession[] {
    return listedSessions([...(this.#entries.get(id)?.sessions ?? [])].map(({ session }) => session));
  }

  /** Ends one session of an account, or all when none is named. Returns their number. The account stays open. */
  disconnect(id: string, sessionId?: string): number {
    const sessions = this.#entries.get(id)?.sessions ?? new Set();
    const ended = [...sessions].filter(({ session }) => sessionId === undefined || session.id === sessionId);
    for (const endable of ended) {
      // A client may take long to read its last response, and is not listed meanwhile.
      sessions.delete(endable);
      endable.end(DISCONNECTED);
    }
    return ended.length;
  }

  /** Ends the sessions of an account that were opened with this credential. Other sessions go on. */
  endSessions(id: string, credential: SessionCredential['id']): void {
    for (const { session, end } of [...(this.#entries.get(id)?.sessions ?? [])])
      if (session.credential === credential) end(REVOKED);
  }

  /** Gives an account that is open new settings, for the sessions that it has. */
  configure(settings: AccountSettings): void {
    const entry = this.#entries.get(settings.id);
    if (entry) updateSettings(entry, settings);
  }

  /** Closes an account unless somebody holds it. Returns whether it is closed. */
  async closeIdle(id: string): Promise<boolean> {
    const entry = this.#entries.get(id);
    if (!entry) return true;
    if (entry.holders > 0) return false;
    await this.#close(entry);
    return true;
  }

  /** Ends the sessions of an account, and closes it when its last holder has released it. */
  async close(id: string, refusal: Refusal = CLOSED): Promise<void> {
    const entry = this.#entries.get(id);
    if (!entry) return;
    for (const session of [...entry.sessions]) session.end(refusal);
    await this.#close(entry);
  }

  /** Ends the sessions of an account and runs work while it is closed. Whoever wants to open it waits. */
  async whileClosed<Result>(settings: AccountSettings, work: () => Promise<Result>): Promise<Result> {
    const { id } = settings;
    while (this.#entries.has(id)) await this.close(id);
    const working = runForOwner(id, work);
    const settled = working.then(
      () => {},
      () => {},
    );
    this.#entries.set(id, { ...newEntry(settings, NEVER), closing: settled });
    try {
      return await working;
    } finally {
      this.#entries.delete(id);
    }
  }

  /** Closes all accounts. */
  async closeAll(): Promise<void> {
    await Promise.all([...this.#entries.keys()].map((id) => this.close(id)));
  }

  /** Reports the usage of the accounts whose size has changed. */
  async reportUsage(): Promise<void> {
    for (const entry of this.#entries.values())
      if (entry.closing === undefined) await this.#report(entry, { onlySizes: true });
  }

  #begin(settings: AccountSettings): Entry {
    const { promise, resolve } = Promise.withResolvers<OpenAccount>();
    const entry = newEntry(settings, promise);
    resolve(this.#openFirst(entry));
    this.#entries.set(settings.id, entry);
    entry.opening.then(
      (account) => {
        void account.db.damaged.then(() => this.#endDamaged(entry));
      },
      (error) => {
        this.#entries.delete(entry.id);
        if (error instanceof DamagedDatabaseError) this.#reportDamage(entry, error);
      },
    );
    return entry;
  }

  /** Before a new account has its first message, it is recorded that it exists, so that it is missed should it be lost. */
  async #openFirst(entry: Entry): Promise<OpenAccount> {
    const { settings } = entry;
    const account = await this.#open(this.#app, settings);
    entry.account = account;
    if (settings.isNew) await this.#report(entry);
    return account;
  }

  async #endDamaged(entry: Entry): Promise<void> {
    const error = await entry.account?.db.damaged;
    this.#reportDamage(entry, error);
    await this.close(entry.id, DAMAGED);
  }

  #reportDamage({ id }: Entry, error: unknown): void {
    this.#app.log.error({ mailboxId: id, err: error }, 'a mailbox is damaged and was closed');
    this.#reports.damaged({ id });
  }

  #close(entry: Entry): Promise<void> {
    entry.closing ??= this.#closeNow(entry);
    return entry.closing;
  }

  async #closeNow(entry: Entry): Promise<void> {
    try {
      if (entry.holders > 0)
        await new Promise<void>((resolve) => {
          entry.whenFree = resolve;
        });
      await this.#report(entry);
      await (await entry.opening).close();
    } catch (error) {
      this.#app.log.error({ mailboxId: entry.id, err: error }, 'a mailbox could not be closed');
    } finally {
      this.#entries.delete(entry.id);
    }
  }

  /** Reports the usage of an account unless it is the reported one. Many changes, such as those of flags, leave the size as it is. */
  async #report(entry: Entry, { onlySizes = false } = {}): Promise<void> {
    // The damage of an account is reported already, and a closed one has reported its usage.
    const row = entry.account && (await findAccountRow(entry.account.db.read).catch(() => undefined));
    if (!row) return;
    const { id, reported } = entry;
    const { usedBytes, messageCount, lastModseq } = row;
    const usage = { id, usedBytes, messageCount, lastModseq };
    const known = onlySizes && reported ? { ...reported, lastModseq } : reported;
    if (isDeepStrictEqual(usage, known)) return;
    entry.reported = usage;
    await this.#reports.usage(usage);
  }
}
