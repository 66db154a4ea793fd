/** Keeps what all IMAP sessions of an open account share: the states of folders, and the keywords of messages. */

import { nextSlice } from '../../system/slices.ts';
import type { OpenAccount } from '../account.ts';
import type { FolderChange } from '../changes.ts';
import { findFolderById } from '../folder-store.ts';
import { listKeywordSets, NO_KEYWORDS } from '../keyword-store.ts';
import { listSummaries } from '../message-store.ts';
import { setRecentFrom, settleFlags } from '../settle-flags.ts';
import { FolderState } from './folder-state.ts';
import type { View } from './view.ts';

/** Number of messages that are loaded before other work runs: about 5 ms. */
const MESSAGES_PER_SLICE = 5_000;
/** Number of sets of keywords that are loaded before other work runs. A set has up to 32 KB. */
const SETS_PER_READ = 100;
/**
 * Maximum number of sets of keywords in memory, from which on those that are no longer used are forgotten. The sets of an account hardly
 * ever are as many at the same time (`MAX_CHARACTERS` of keyword-store.ts).
 */
const MAX_KNOWN_SETS = 200_000;
/**
 * Maximum number of folders that stay in memory while no session has selected them, because clients come back to them. Our own
 * limit, at about 26 bytes for each message.
 */
const MAX_UNSELECTED = 2;

type SharedFolder = {
  state: Promise<FolderState | undefined>;
  /** The state once it is loaded. */
  loaded: FolderState | undefined;
  /** Number of sessions that have selected the folder. */
  sessions: number;
  unsubscribe(): void;
};

const states = new WeakMap<OpenAccount, AccountState>();

/** Returns the state of an open account, which all of its sessions share. */
export function stateOf(account: OpenAccount): AccountState {
  const state = states.get(account) ?? new AccountState(account);
  states.set(account, state);
  return state;
}

export class AccountState {
  readonly account: OpenAccount;
  /** Texts of flags that were written (`flagsItem`). */
  readonly flagTexts = new Map<number, string>();
  /** The folders that were selected last stand at the end. */
  readonly #folders = new Map<number, SharedFolder>();
  #keywords: Map<number, readonly string[]> = new Map([[NO_KEYWORDS, []]]);

  constructor(account: OpenAccount) {
    this.account = account;
  }

  /** Returns the state of a folder for a session, which gives it back with `leave`; undefined when the folder was deleted. */
  async enter(folderId: number): Promise<FolderState | undefined> {
    const shared = this.#folders.get(folderId) ?? this.#load(folderId);
    this.#folders.delete(folderId);
    this.#folders.set(folderId, shared);
    shared.sessions++;
    try {
      const state = await shared.state;
      if (state && !state.isDeleted) return state;
      shared.sessions--;
      this.#drop(folderId, shared);
      return undefined;
    } catch (error) {
      this.#drop(folderId, shared);
      throw error;
    }
  }

  /** Ends the view of a session. */
  leave(view: View): void {
    const { state } = view;
    state.views.delete(view);
    this.forgetRemoved(state);
    const shared = this.#folders.get(state.folderId);
    if (shared?.loaded !== state) return;
    shared.sessions--;
    if (shared.sessions === 0 && state.isDeleted) this.#drop(state.folderId, shared);
    else if (shared.sessions === 0) this.#storeRecent(state);
    const unselected = [...this.#folders].filter(([, { sessions }]) => sessions === 0);
    for (const [folderId, one] of unselected.slice(0, -MAX_UNSELECTED)) this.#drop(folderId, one);
  }

  /** Forgets the removed messages that all clients know of, so that their contents can be deleted. */
  forgetRemoved(state: FolderState): void {
    for (const contentId of state.forgetRemoved()) this.account.heldContents.delete(contentId);
  }

  /** Returns the state of a folder that is in memory. */
  find(folderId: number): FolderState | undefined {
    return this.#folders.get(folderId)?.loaded;
  }

  /** Returns the keywords of a set, whose number was passed to `loadKeywords` before. */
  keywordsOf(setId: number): readonly string[] {
    return this.#keywords.get(setId) ?? [];
  }

  /** Makes the keywords of these sets known. */
  async loadKeywords(setIds: Iterable<number>): Promise<void> {
    const { read } = this.account.db;
    const missing: number[] = [];
    for (const id of setIds) if (!this.#keywords.has(id)) missing.push(id);
    if (this.#keywords.size + missing.length > MAX_KNOWN_SETS) await this.#loadAllKeywords();
    else
      for (let at = 0; at < missing.length; at += SETS_PER_READ) {
        if (at > 0) await nextSlice();
        const ids = missing.slice(at, at + SETS_PER_READ);
        for (const [id, keywords] of await listKeywordSets(read, ids)) this.#keywords.set(id, keywords);
      }
  }

  /** Forgets the sets that no message has any more. Those that another command has loaded stay. */
  async #loadAllKeywords(): Promise<void> {
    this.#keywords = (await listKeywordSets(this.account.db.read)).set(NO_KEYWORDS, []);
  }

  #load(folderId: number): SharedFolder {
    const early: FolderChange[] = [];
    const shared: SharedFolder = {
      state: this.#read(folderId).then((state) => {
        for (const change of early) state?.apply(change);
        state?.forgetRemoved();
        shared.loaded = state;
        return state;
      }),
      loaded: undefined,
      sessions: 0,
      unsubscribe: this.account.changes.subscribe(folderId, (change) => {
        if (shared.loaded) this.#apply(shared.loaded, change);
        else early.push(change);
      }),
    };
    return shared;
  }

  /** Contents of removed messages stay for the sessions that do not know of the removal. */
  #apply(state: FolderState, change: FolderChange): void {
    if (change.kind === 'expunged' && state.views.size > 0)
      for (const { uid, contentId } of change.messages)
        if (state.indexOf(uid) >= 0) this.account.heldContents.add(contentId);
    state.apply(change);
  }

  async #read(folderId: number): Promise<FolderState | undefined> {
    await settleFlags(this.account, folderId);
    const { read } = this.account.db;
    const folder = await findFolderById(read, folderId);
    if (!folder) return undefined;
    const state = new FolderState(folder);
    for (;;) {
      const range = { folderId, uidFrom: state.lastUid + 1, uidTo: Number.MAX_SAFE_INTEGER };
      const messages = await listSummaries(read, range, MESSAGES_PER_SLICE);
      state.load(messages);
      if (messages.length < MESSAGES_PER_SLICE) return state;
      await nextSlice();
    }
  }

  /** Sessions keep `recentFrom` in memory, so after a crash some messages are recent once more. */
  #storeRecent(state: FolderState): void {
    const { folderId, recentFrom } = state;
    if (recentFrom === state.storedRecentFrom) return;
    const { db, app } = this.account;
    const onStored = (): void => {
      state.storedRecentFrom = recentFrom;
    };
    db.commit(setRecentFrom, { folderId, recentFrom }, onStored).catch((err) =>
      app.log.warn({ err, folderId }, 'which messages are recent was not stored'),
    );
  }

  #drop(folderId: number, shared: SharedFolder): void {
    shared.unsubscribe();
    if (this.#folders.get(folderId) === shared) this.#folders.delete(folderId);
  }
}
